import Foundation
import TestSupport
import Testing

/// A page whose commands work as they stand, one after the other, and answer what is shown below them.
struct ShownPage: Sendable, CustomTestStringConvertible {
    /// Its path in the project.
    let name: String
    let text: String

    var testDescription: String { name }
    var blocks: [ShownBlock] { ShownBlock.all(in: text) }
    var commands: [ShownCommand] { ShownCommand.all(in: text) }

    /// README.md and all pages below docs.
    static let all: [ShownPage] = {
        let docs = FileManager.default.subpaths(atPath: ExampleTests.project.appending(path: "docs").path) ?? []
        let names = ["README.md"] + docs.filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
        return names.compactMap { name in
            let page = ExampleTests.project.appending(path: name)
            return (try? String(contentsOf: page, encoding: .utf8)).map { ShownPage(name: name, text: $0) }
        }
    }()

    /// - Parameter programs: folders with further programs that the page's commands use.
    func run(in workspace: Workspace, programs: [String] = []) async throws {
        let path = ([Program.folder] + programs + ["/usr/bin", "/bin"]).joined(separator: ":")
        for command in commands {
            let result = try await Self.run(command, path, in: workspace)
            let context: Comment = "\(name):\(command.line): \(command.text)\n\(result.output)"
            // What follows a command that failed would fail, too.
            try #require(result.code == command.code, context)
            let missing = command.firstMissing(in: result.output)
            try #require(missing == nil, context)
        }
    }

    /// Its whole answer is `output`, in the order in which a terminal would show it.
    private static func run(
        _ command: ShownCommand, _ path: String, in workspace: Workspace
    ) async throws -> Program.Result {
        // A user's own environment: pages tell where the state is in it.
        let environment = ["-i", "HOME=\(workspace.path)", "PATH=\(path)"]
        return try await Program.run(
            "/usr/bin/env", environment + ["/bin/bash", "-e", "-c", "exec 2>&1\n\(command.text)"], in: workspace)
    }
}

@Suite struct ShownPageTests {
    @Test func `a page's commands are found with what is shown below them`() {
        let page = """
            Text
            ```console noexec: needs root
            $ sudo rm -r /
            ```
            ```console
            $ cat > a <<'END'
            > $ b
            > END
            $ penumbra run a
            a: 3 published in …
            [exit 75]
            ```
            ```yaml
            $ c
            ```
            ```yaml job.yaml
            job: a
            ```
            """
        let commands = ShownCommand.all(in: page)
        #expect(
            commands.map(\.text) == [
                "cat > a <<'END'\n$ b\nEND", "penumbra run a", "cat > job.yaml <<'END-OF-FILE'\njob: a\nEND-OF-FILE",
            ])
        #expect(commands.map(\.line) == [6, 9, 16])
        #expect(commands.map(\.code) == [0, 75, 0])
        #expect(commands[1].firstMissing(in: "hint\na: 3 published in 5 ms\n") == nil)
    }

    @Test(arguments: [
        ("", "", true), ("", "anything\n", false), ("…", "anything\n", true), ("a", "a  \n", true),
        ("a", "aa\n", false),
        ("a …, b … c", "a 1, b 2 c\n", true), ("a …, b … c", "a 1, b c\n", false), ("a…", "a\n", true),
        ("a\nb", "a\nx\nb\n", true), ("a\nb", "b\na\n", false), ("a\na", "a\n", false),
    ])
    func `what is shown is compared line by line`(shown: String, output: String, fits: Bool) {
        let commands = ShownCommand.all(in: "```console\n$ x\n\(shown)\n```")
        #expect(commands.count == 1)
        #expect((commands.first?.firstMissing(in: output) == nil) == fits)
    }
}
