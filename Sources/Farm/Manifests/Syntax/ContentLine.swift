/// A line that has more than blanks and a comment.
struct ContentLine {
    /// From 1.
    let number: Int
    /// Spaces before the content; in a compact `- key: value`, the columns before the key.
    let indent: Int
    /// The content, without trailing spaces, in the text's scalars.
    let range: Range<Int>
    /// A tab stands in the indentation, so `indent` means nothing.
    let hasTabIndent: Bool

    /// True for `- item` and for a dash that is all there is on the line.
    let beginsWithDash: Bool

    private init(_ text: SourceText, number: Int, indent: Int, range: Range<Int>) {
        let cursor = LineCursor(text, line: number, range: range)
        self.number = number
        self.indent = indent
        self.range = range
        self.hasTabIndent = cursor.peek() == "\t"
        self.beginsWithDash = cursor.peek() == "-" && cursor.isBlankOrEnd(1)
    }

    /// The same line without what stands before `index`, as if it were indented up to there.
    func cut(at index: Int, of text: SourceText) -> ContentLine {
        ContentLine(
            text, number: number, indent: indent + index - range.lowerBound, range: index..<range.upperBound)
    }

    /// All content lines of a text. Document markers and directives are reported and left out, and a second document
    /// with them.
    static func all(of text: SourceText, log: DiagnosticLog) -> [ContentLine] {
        var lines: [ContentLine] = []
        for (index, range) in text.lines.enumerated() {
            guard let line = ContentLine(text, number: index + 1, range: range) else { continue }
            guard let problem = line.documentProblem(in: text, isFirst: lines.isEmpty) else {
                lines.append(line)
                continue
            }
            log.error(.text(problem), at: text.span(line.range, line: line.number))
            if case .secondDocument = problem { break }
        }
        return lines
    }

    /// Nil for blank lines and comments.
    private init?(_ text: SourceText, number: Int, range: Range<Int>) {
        let isSpace = { (index: Int) in text.scalars[index] == " " }
        guard let start = range.first(where: { !isSpace($0) }), let last = range.last(where: { !isSpace($0) }),
            text.scalars[start] != "#"
        else { return nil }
        self.init(text, number: number, indent: start - range.lowerBound, range: start..<last + 1)
    }

    /// What YAML reads at the start of a line, in its first column, as more than content.
    private func documentProblem(in text: SourceText, isFirst: Bool) -> TextProblem? {
        guard indent == 0 else { return nil }
        let cursor = LineCursor(text, line: self)
        if cursor.peek() == "%" { return .directive }
        let start = text.string(range.prefix(3))
        guard start == "---" || start == "...", cursor.isBlankOrEnd(3) else { return nil }
        return isFirst ? .documentMarker(start) : .secondDocument(start)
    }
}
