import Foundation

/// A command of a page, and what the page shows of its answer.
package struct ShownCommand {
    /// In the page, from 1.
    package let line: Int
    package private(set) var text: String
    package private(set) var code: Int32 = 0
    private var answer: [Substring] = []
    /// Lines are left out of what is shown.
    private var isAbridged = false

    /// The commands of a page, in their order: those of "```console" blocks, and one for each "```yaml job.yaml" block, which
    /// writes the file of that name. Blocks "```console noexec: reason" are not for running.
    ///
    /// In a console block `$ ` begins a command and `> ` goes on with it. A line `…` stands for any lines, `[exit 75]` for the
    /// exit code; all others are of the answer.
    package static func all(in page: String) -> [ShownCommand] {
        ShownBlock.all(in: page).flatMap { block in
            if let file = block.file { return [ShownCommand(line: block.line, file: file, block.lines)] }
            return block.info == "console" ? commands(of: block) : []
        }
    }

    private static func commands(of block: ShownBlock) -> [ShownCommand] {
        var commands: [ShownCommand] = []
        for (number, line) in zip((block.line + 1)..., block.lines) {
            if line.hasPrefix("$ ") {
                commands.append(ShownCommand(line: number, text: String(line.dropFirst(2))))
            } else if !commands.isEmpty {
                commands[commands.count - 1].add(line)
            }
        }
        return commands
    }

    private init(line: Int, text: String) {
        self.line = line
        self.text = text
    }

    /// A command that writes a file.
    private init(line: Int, file: String, _ lines: [Substring]) {
        let end = "END-OF-FILE"
        self.init(
            line: line, text: (["cat > \(file) <<'\(end)'"] + lines.map(String.init) + [end]).joined(separator: "\n"))
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
    package func firstMissing(in output: String) -> String? {
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
