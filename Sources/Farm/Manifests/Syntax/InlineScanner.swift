/// Reads a value that stands on one line: a scalar, or a list or mapping in brackets. The first problem ends it.
///
/// Wherever YAML 1.1 and 1.2, or their parsers, read a plain scalar in different ways, it is refused.
struct InlineScanner {
    /// What the value stands behind.
    enum Place {
        case key
        case dash
    }

    var cursor: LineCursor
    /// How many collections are open around the value.
    let depth: Int
    /// Nodes read so far.
    var nodeCount = 0

    init(_ cursor: LineCursor, depth: Int) {
        self.cursor = cursor
        self.depth = depth
    }

    /// Reads the value that begins at the cursor, and the rest of its line, which may only be a comment.
    mutating func readLine(behind place: Place) throws(Diagnostic) -> SyntaxNode {
        switch cursor.peek() {
        case "'", "\"":
            return try readQuotedLine(behind: place)
        case "[", "{":
            return try readBrackets()
        case "-" where cursor.isBlankOrEnd(1):
            throw cursor.error(.block(place == .key ? .itemOnKeyLine : .nestedItem))
        default:
            return try readPlainLine()
        }
    }

    private mutating func readQuotedLine(behind place: Place) throws(Diagnostic) -> SyntaxNode {
        let quote = cursor.peek() == "'" ? "'" : "\""
        let node = try readQuoted()
        if place == .dash, cursor.peek() == ":", let text = node.text {
            throw Diagnostic(.block(.quotedKey(text)), at: node.span)
        }
        try expectEnd(else: .scalar(.textAfterQuote(quote: quote)))
        return node
    }

    private mutating func readPlainLine() throws(Diagnostic) -> SyntaxNode {
        let start = cursor.index
        let node = try readPlain(inFlow: false)
        guard cursor.peek() == ":" else {
            // Nothing but spaces and a comment can follow: a plain scalar takes all else.
            try expectEnd(ofPlainFrom: start, else: .text(.tab))
            return node
        }
        let value = cursor.value(from: start)
        let isLast = value.unicodeScalars.count == cursor.index + 1 - start
        throw cursor.error(.scalar(isLast ? .colonAtEnd(value: value) : .colonInside(value: value)))
    }

    private mutating func readBrackets() throws(Diagnostic) -> SyntaxNode {
        try refuseBracketedText()
        let closer = cursor.peek() == "[" ? "]" : "}"
        let node = try readFlow(flowDepth: 1)
        try expectEnd(else: .flow(.textAfter(closer: closer)))
        return node
    }

    /// `{dir}/{stem}.png` and `[ab]*.jpg` are texts whose author forgot the quotes.
    private func refuseBracketedText() throws(Diagnostic) {
        guard let opener = cursor.peek() else { return }
        let value = cursor.value(from: cursor.index)
        var open = 0
        for (offset, scalar) in value.unicodeScalars.enumerated() {
            if scalar == "'" || scalar == "\"" { return }
            if scalar == "[" || scalar == "{" { open += 1 }
            if scalar == "]" || scalar == "}" { open -= 1 }
            guard open == 0 else { continue }
            if cursor.isBlankOrEnd(offset + 1) { return }
            throw cursor.error(
                .flow(.bracketedText(opener: String(opener), value: value)), length: value.unicodeScalars.count)
        }
    }

    /// Passes spaces and a comment up to the line's end; anything else is `problem`.
    private mutating func expectEnd(ofPlainFrom valueStart: Int? = nil, else problem: Problem) throws(Diagnostic) {
        let start = cursor.index
        cursor.skipSpaces()
        if cursor.isAtEnd { return }
        if cursor.peek() == "\t" { throw cursor.error(.text(.tab)) }
        if cursor.index > start, try cursor.isAtEndOrComment(valueStart: valueStart) { return }
        if cursor.peek() == "#" { throw cursor.error(.text(.commentTouchesValue)) }
        throw cursor.error(problem, length: cursor.value(from: cursor.index).unicodeScalars.count)
    }

    /// Counts a node against the limit.
    mutating func node(_ content: SyntaxNode.Content, from start: Int) throws(Diagnostic) -> SyntaxNode {
        nodeCount += 1
        guard nodeCount <= SyntaxLimits.nodes else {
            throw cursor.error(.text(.tooManyNodes), at: start..<start + 1)
        }
        return SyntaxNode(content, span: cursor.span(start..<cursor.index))
    }
}
