import JobModel

/// The part of a source line that a terminal shows, and the caret line that goes under it.
///
/// Characters that would move the cursor or hide text are shown as `�`, tabs as `→`, so the carets always stand
/// under what they mean and a manifest cannot write control sequences to the terminal.
struct Excerpt {
    let line: String
    let carets: String

    /// Lines up to this length are shown whole.
    private static let wholeLine = 160
    /// Scalars of longer lines that are shown before and after the marked one.
    private static let reach = 70

    /// `column` counts from 1; a length of 0 gets one caret.
    init(of line: ArraySlice<Unicode.Scalar>, column: Int, length: Int) {
        let marked = line.startIndex + max(0, min(column - 1, line.count))
        let reach = line.count <= Self.wholeLine ? Self.wholeLine : Self.reach
        let first = max(line.startIndex, marked - reach)
        let last = min(line.endIndex, marked + reach)
        let before = line[first..<marked].map(\.shown)
        let after = line[marked..<last].map(\.shown)
        let lead = first > line.startIndex ? "…" : ""
        let tail = last < line.endIndex ? "…" : ""

        self.line = lead + Self.string(before) + Self.string(after) + tail
        let indent = lead.count + Self.columns(before)
        let width = Self.columns(Array(after.prefix(length)))
        self.carets = String(repeating: " ", count: indent) + String(repeating: "^", count: max(1, width))
    }

    private static func string(_ scalars: [Unicode.Scalar]) -> String {
        var string = String.UnicodeScalarView()
        string.append(contentsOf: scalars)
        return String(string)
    }

    private static func columns(_ scalars: [Unicode.Scalar]) -> Int {
        scalars.reduce(0) { $0 + $1.terminalColumns }
    }
}

extension Unicode.Scalar {
    /// What a terminal is given in this scalar's place.
    fileprivate var shown: Unicode.Scalar {
        if self == "\t" { return "→" }
        return isObeyedOrHidden ? "\u{FFFD}" : self
    }
}
