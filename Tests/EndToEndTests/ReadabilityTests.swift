import Foundation
import Testing

/// Pages are as easy to read as the documentation of similar projects: `Scripts/readability` measures them.
@Suite struct ReadabilityTests {
    private static let script = ExampleTests.project.appending(path: "Scripts/readability").path

    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func check(_ pages: String...) async throws -> Program.Result {
        try await Program.run("/usr/bin/python3", [Self.script, "--check"] + pages, in: workspace)
    }

    @Test func `all pages have short sentences and paragraphs, few semicolons and no riddles`() async throws {
        let result = try await check()
        #expect(result.code == 0 && result.output + result.errors == "", "\(result.output)\(result.errors)")
    }

    @Test func `a page that is hard to read is refused, with each place`() async throws {
        let long = Array(repeating: "word", count: 31).joined(separator: " ")
        try workspace.write(
            """
            # Words

            The \(long).

            - It waits; it looks; it works.

            It keeps what is left, and what was there, whatever happens.

            One. Two. Three. Four. Five. Six. Seven.

            ```console
            $ \(long); \(long); \(long)
            ```

            """, to: "page.md")
        let result = try await check("page.md")
        #expect(result.code == 1)
        #expect(
            result.output == """
                page.md:3: a sentence has 32 words: The word word word word word word word word word word word word word w…
                page.md:5: a semicolon; make two sentences of it
                page.md:7: 'what is' stands for a noun; name it
                page.md:7: 'what was' stands for a noun; name it
                page.md:7: 'whatever' stands for a noun; name it
                page.md:9: a paragraph has 7 sentences; 6 is the limit

                """)
    }

    @Test func `without --check, the figures of each page are printed`() async throws {
        try workspace.write("# A\n\nIt reads a file. It writes two files.\n", to: "a.md")
        let result = try await Program.run("/usr/bin/python3", [Self.script, "a.md"], in: workspace)
        #expect(result.code == 0)
        #expect(
            result.output == """
                 words  mean  max   >25     ;  what  page
                     8   4.0    4   0.0   0.0   0.0  a.md

                """)
    }
}
