import Foundation
import Testing

/// One idea has one word in messages, help, the page and the documentation: `Scripts/mixed-words` knows those that were given up.
@Suite struct MixedWordsTests {
    private static let script = ExampleTests.project.appending(path: "Scripts/mixed-words").path

    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func check(_ files: String...) async throws -> [Substring] {
        let result = try await Program.run("/usr/bin/python3", [Self.script] + files, in: workspace)
        #expect(result.code == (result.output.isEmpty ? 0 : 1), "\(result.errors)")
        // Files of a test are named from the project.
        return result.output.split(separator: "\n").compactMap { $0.split(separator: "/").last }
    }

    @Test func `all texts for people have the words of the glossary`() async throws {
        let found = try await check()
        #expect(found == [], "\(found.joined(separator: "\n"))")
    }

    @Test func `a given-up word is found in pages, messages and the page of the service, and code does not count`()
        async throws
    {
        try workspace.write(
            """
            # The directory of an image

            `directory` is a key, and [so is this](directory.md).

            ```console
            $ ls directory
            ```

            """, to: "page.md")
        try workspace.write(
            #"""
            // The directory of a picture.
            let directory = "directory"
            let words = "the key 'directory' names \(directory("of a directory")) of the daemon"
            let text = """
                Penumbra stops.
                It aborts nothing.
                """
            """#, to: "text.swift")
        try workspace.write(
            "// A directory.\nsay('Hand it in', `of ${directory} admins`, 'directory');\n", to: "text.js")
        #expect(
            try await check("page.md") == [
                "page.md:1: 'directory': write folder", "page.md:1: 'image': write picture", Self.end,
            ])
        #expect(
            try await check("text.swift") == [
                "text.swift:3: 'directory': write folder", "text.swift:3: 'daemon': write service",
                "text.swift:6: 'aborts': write stop, or end", Self.end,
            ])
        #expect(
            try await check("text.js") == [
                "text.js:2: 'Hand it in': write submit", "text.js:2: 'admins': write administrator", Self.end,
            ])
    }

    @Test func `commands in messages are in single quotes, and examples on lines of their own are not`() async throws {
        try workspace.write(
            #"""
            let one = "nobody listens\n   = start it: penumbra serve"
            let two = "`penumbra filters` lists them, and 'penumbra formats' lists formats"
            let help = """
                An example:

                  penumbra run night.yaml
                  cat a.png | penumbra apply invert - -o b.png
                """
            """#, to: "text.swift")
        #expect(
            try await check("text.swift") == [
                "text.swift:1: 'penumbra serve': write 'penumbra serve …' in single quotes",
                "text.swift:2: 'penumbra filters': write 'penumbra filters …' in single quotes", Self.end,
            ])
    }

    /// The last part of the line that counts the words.
    private static let end: Substring = "mixed-words with a reason."
}
