import Foundation
import Testing

/// The operator's page: its commands work as they stand, one after the other, and answer what is shown below them.
@Suite(.serialized) struct OperatingTests {
    static let page = ExampleTests.project.appending(path: "docs/operating.md")

    let workspace: Workspace

    /// The folder that the page begins with.
    init() throws {
        workspace = try Workspace()
        for name in ["cat.jpg", "coffee.jpg", "rocket.jpg"] {
            let photo = ExampleTests.project.appending(path: "jobs/photos/\(name)")
            try workspace.write(Data(contentsOf: photo), to: "photos/\(name)")
            try workspace.age("photos/\(name)")
        }
    }

    /// Its whole answer is `output`, in the order in which a terminal would show it.
    private func run(_ command: ShownCommand) async throws -> Program.Result {
        // A user's own environment: the page tells where the state is in it.
        let environment = ["-i", "HOME=\(workspace.path)", "PATH=\(Program.folder):/usr/bin:/bin"]
        return try await Program.run(
            "/usr/bin/env", environment + ["/bin/bash", "-e", "-c", "exec 2>&1\n\(command.text)"], in: workspace)
    }

    @Test(.timeLimit(.minutes(15)))
    func `the operator's page shows what its commands do`() async throws {
        let commands = ShownCommand.all(in: try String(contentsOf: Self.page, encoding: .utf8))
        #expect(commands.count >= 50)
        for command in commands {
            let result = try await run(command)
            let context: Comment = "docs/operating.md:\(command.line): \(command.text)\n\(result.output)"
            // What follows a command that failed would fail, too.
            try #require(result.code == command.code, context)
            let missing = command.firstMissing(in: result.output)
            try #require(missing == nil, context)
        }
    }

    @Test func `a page's commands are found with what is shown below them`() {
        let page = """
            Text
            ```console noexec
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
            """
        let commands = ShownCommand.all(in: page)
        #expect(commands.map(\.text) == ["cat > a <<'END'\n$ b\nEND", "penumbra run a"])
        #expect(commands.map(\.line) == [6, 9])
        #expect(commands.map(\.code) == [0, 75])
        #expect(commands.last?.firstMissing(in: "hint\na: 3 published in 5 ms\n") == nil)
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

/// A command of a page, and what the page shows of its answer.
private struct ShownCommand {
    /// In the page, from 1.
    let line: Int
    private(set) var text: String
    private(set) var code: Int32 = 0
    private var answer: [Substring] = []
    /// Lines are left out of what is shown.
    private var isAbridged = false

    /// The commands of blocks that begin with "```console" and nothing else, in their order.
    ///
    /// In such a block `$ ` begins a command and `> ` goes on with it. A line `…` stands for any lines, `[exit 75]` for the
    /// exit code; all others are of the answer.
    static func all(in page: String) -> [ShownCommand] {
        var commands: [ShownCommand] = []
        var isInBlock = false
        for (number, line) in zip(1..., page.split(separator: "\n", omittingEmptySubsequences: false)) {
            if line.hasPrefix("```") {
                isInBlock = !isInBlock && line == "```console"
            } else if isInBlock, line.hasPrefix("$ ") {
                commands.append(ShownCommand(line: number, text: String(line.dropFirst(2))))
            } else if isInBlock, !commands.isEmpty {
                commands[commands.count - 1].add(line)
            }
        }
        return commands
    }

    private init(line: Int, text: String) {
        self.line = line
        self.text = text
    }

    private mutating func add(_ line: Substring) {
        if line.hasPrefix("> "), answer.isEmpty {
            text += "\n" + line.dropFirst(2)
        } else if line.hasPrefix("[exit "), let code = Int32(line.dropFirst(6).dropLast()) {
            self.code = code
        } else if line == "…" {
            isAbridged = true
        } else if !line.isEmpty {
            answer.append(line)
        }
    }

    /// The first line that is shown and was not printed after those before it; or one that was printed where nothing is shown.
    func firstMissing(in output: String) -> String? {
        var rest = output.split(separator: "\n")[...]
        if answer.isEmpty, !isAbridged { return rest.first.map(String.init) }
        for shown in answer {
            guard let place = rest.firstIndex(where: { Self.fits($0, shown) }) else { return String(shown) }
            rest = rest[(place + 1)...]
        }
        return nil
    }

    /// A `…` stands for anything. Blanks at a line's end are not seen.
    private static func fits(_ printed: Substring, _ shown: Substring) -> Bool {
        var rest = printed
        while rest.last == " " { rest.removeLast() }
        let parts = shown.split(separator: "…", omittingEmptySubsequences: false)
        guard parts.count > 1, let first = parts.first, let last = parts.last else { return rest == shown }
        guard rest.hasPrefix(first) else { return false }
        rest = rest.dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let place = rest.firstRange(of: part) else { return false }
            rest = rest[place.upperBound...]
        }
        return rest.hasSuffix(last)
    }
}
