extension InlineScanner {
    /// Reads a scalar without quotes, up to where YAML ends it: a comment, a colon that a blank follows, and inside
    /// brackets a comma or bracket.
    mutating func readPlain(inFlow: Bool) throws(Diagnostic) -> SyntaxNode {
        let start = cursor.index
        try refusePlainStart(inFlow: inFlow)
        var end = start
        while let scalar = cursor.peek(), !endsPlain(scalar, inFlow: inFlow) {
            if scalar == "\t" { throw cursor.error(.text(.tab)) }
            if scalar.isDeceptiveBlank { throw cursor.error(.text(.deceptiveBlank(scalar.value))) }
            if scalar == " ", cursor.peek(1) == "#" { break }
            cursor.advance()
            if scalar != " " { end = cursor.index }
        }
        // Trailing spaces are no part of the text, but a colon or bracket behind them is looked at by the caller.
        if cursor.peek() == nil || cursor.peek() == " " { cursor.move(to: end) }
        let text = cursor.text.string(start..<end)
        let node = try node(.scalar(.init(text: text, quoting: .plain)), from: start)
        return SyntaxNode(node.content, span: cursor.span(start..<end))
    }

    private func endsPlain(_ scalar: Unicode.Scalar, inFlow: Bool) -> Bool {
        if scalar == ":" {
            // Parsers differ on a colon before ',', '?' or a bracket, so it ends the scalar, and its reader refuses.
            let next = cursor.peek(1)
            return cursor.isBlankOrEnd(1) || inFlow && (next == "?" || next?.isFlowIndicator == true)
        }
        return inFlow && scalar.isFlowIndicator
    }

    /// Refuses what YAML gives a meaning at the start of a value, or reserves.
    private func refusePlainStart(inFlow: Bool) throws(Diagnostic) {
        // Looked at first: a long list has many values, of which at most one is refused.
        guard let first = cursor.peek(), Self.specialStarts.contains(first) else { return }
        let value = inFlow ? flowText(from: cursor.index) : cursor.value(from: cursor.index)
        guard let problem = problem(ofStart: first, value: value, inFlow: inFlow) else { return }
        throw cursor.error(problem, length: value.unicodeScalars.count)
    }

    private func problem(ofStart first: Unicode.Scalar, value: String, inFlow: Bool) -> Problem? {
        let reserved = Problem.scalar(.reservedStart(indicator: String(first), value: value))
        switch first {
        case "*": return .scalar(.alias(value: value))
        case "&": return .scalar(.anchor(value: value))
        case "!": return .scalar(.tag(value: value))
        case "|", ">": return isBlockScalarHeader(value) ? .scalar(.blockScalar(indicator: String(first))) : reserved
        case "?": return cursor.isBlankOrEnd(1) ? .block(.complexKey) : reserved
        case "-":
            let isAlone = cursor.isBlankOrEnd(1) || inFlow && cursor.peek(1)?.isFlowIndicator == true
            return isAlone ? reserved : nil
        default: return reserved
        }
    }

    /// YAML's indicators, apart from those that begin brackets and quotes.
    private static let specialStarts: Set<Unicode.Scalar> = [
        "*", "&", "!", "|", ">", "?", "-", "@", "`", "%", ":", "#", ",", "]", "}",
    ]

    /// `|`, `>-`, `|2+` and the like, as they stand before a text block.
    private func isBlockScalarHeader(_ value: String) -> Bool {
        value.unicodeScalars.dropFirst().allSatisfy { $0 == "+" || $0 == "-" || $0.isDigit }
    }

    /// What stands from `start` to the next comma or closing bracket, but for pairs of brackets inside.
    func flowText(from start: Int) -> String {
        var open = 0
        var end = start
        for index in start..<cursor.end {
            let scalar = cursor.text.scalars[index]
            if open == 0, end > start, scalar == "," || scalar == "]" || scalar == "}" { break }
            if scalar == "[" || scalar == "{" { open += 1 }
            if scalar == "]" || scalar == "}" { open -= 1 }
            if scalar != " " { end = index + 1 }
        }
        return cursor.text.string(start..<end)
    }
}
