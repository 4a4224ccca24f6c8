import JobModel

/// What became of one try to deliver a message.
package enum Delivery: Hashable, Sendable {
    case delivered
    /// Another try would end in the same way.
    case refused(String)
    /// Another try may succeed.
    case later(String)

    /// Why it was not delivered, in one line that may be followed by lines that begin with `   = `.
    package var problem: String? {
        switch self {
        case .delivered: nil
        case .refused(let words), .later(let words): words
        }
    }

    /// The first lines of what a program printed, on one line.
    static func shown(_ output: String) -> String {
        let lines = output.split(whereSeparator: \.isNewline).prefix(3)
        let text = lines.map { $0.trimmingPrefix { $0.isWhitespace } }.joined(separator: "; ")
        return VisibleText.line(text.cut(to: 300))
    }
}
