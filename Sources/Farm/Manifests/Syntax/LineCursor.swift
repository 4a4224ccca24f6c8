/// A cursor that moves right in one line. All readers of a line share it: look-ahead, spans, comments.
struct LineCursor {
    let text: SourceText
    /// Counted from 1.
    let line: Int
    /// The end of the line, without trailing spaces.
    let end: Int
    private(set) var index: Int

    init(_ text: SourceText, line: ContentLine) {
        self.init(text, line: line.number, range: line.range)
    }

    init(_ text: SourceText, line: Int, range: Range<Int>) {
        self.text = text
        self.line = line
        self.end = range.upperBound
        self.index = range.lowerBound
    }

    var isAtEnd: Bool { index >= end }

    /// The scalar at the cursor, or `offset` scalars further on. Nil behind the line's end.
    func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        index + offset < end ? text.scalars[index + offset] : nil
    }

    /// True for a space, a tab or the line's end at the cursor, or `offset` scalars further on.
    func isBlankOrEnd(_ offset: Int = 0) -> Bool {
        switch peek(offset) {
        case nil, " ", "\t": true
        default: false
        }
    }

    mutating func advance(by count: Int = 1) {
        index = min(index + count, end)
    }

    mutating func move(to index: Int) {
        self.index = min(index, end)
    }

    mutating func skipSpaces() {
        while peek() == " " { advance() }
    }

    /// Moves past `scalar` if it is at the cursor.
    mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek() == scalar else { return false }
        advance()
        return true
    }

    func span(_ range: Range<Int>) -> SourceSpan { text.span(range, line: line) }

    /// The span of `length` scalars from the cursor.
    func span(length: Int) -> SourceSpan { span(index..<index + length) }

    func error(_ problem: Problem, at range: Range<Int>) -> Diagnostic {
        Diagnostic(problem, at: span(range))
    }

    /// An error of the next `length` scalars.
    func error(_ problem: Problem, length: Int = 1) -> Diagnostic {
        Diagnostic(problem, at: span(length: min(length, max(0, end - index))))
    }

    /// The text from `start` to the line's end or its comment, without trailing spaces.
    func value(from start: Int) -> String {
        var valueEnd = start
        for position in start..<max(start, end) {
            let scalar = text.scalars[position]
            if scalar == "#", position > start, text.scalars[position - 1] == " " { break }
            if scalar != " " { valueEnd = position + 1 }
        }
        return text.string(start..<valueEnd)
    }

    /// True at the line's end and at a comment. A `#` without a blank behind it is refused: YAML would silently cut off
    /// text that may belong to the value.
    ///
    /// - Parameter valueStart: The start of the value before the `#`, if it has no quotes.
    /// - Precondition: A blank stands before the cursor.
    func isAtEndOrComment(valueStart: Int?) throws(Diagnostic) -> Bool {
        guard peek() == "#" else { return isAtEnd }
        if isBlankOrEnd(1) { return true }
        let value = valueStart.map { text.string($0..<end) }
        let problem = TextProblem.commentWithoutBlank(text: text.string(index..<end), value: value)
        throw error(.text(problem), length: end - index)
    }
}
