import Foundation

/// A fenced block of a page.
package struct ShownBlock {
    /// Of its first fence, from 1.
    package let line: Int
    /// The words behind the fence, such as `console noexec: needs root`.
    package let info: String
    package let lines: [Substring]

    package var text: String { lines.map { $0 + "\n" }.joined() }

    /// The file that a "```yaml job.yaml" block shows. JSON and drawings are shown, too.
    package var file: String? {
        info.wholeMatch(of: /[a-z]+ ([a-z0-9.-]+\.(?:yaml|json|svg))/).map { String($0.1) }
    }

    package static func all(in page: String) -> [ShownBlock] {
        var blocks: [ShownBlock] = []
        var open: (line: Int, info: String)?
        var lines: [Substring] = []
        for (number, line) in zip(1..., page.split(separator: "\n", omittingEmptySubsequences: false)) {
            if line.hasPrefix("```") {
                if let begun = open {
                    blocks.append(ShownBlock(line: begun.line, info: begun.info, lines: lines))
                    open = nil
                } else {
                    open = (number, String(line.dropFirst(3)))
                }
                lines = []
            } else {
                lines.append(line)
            }
        }
        return blocks
    }
}
