extension InlineScanner {
    /// Reads the list or mapping whose bracket stands at the cursor.
    mutating func readFlow(flowDepth: Int) throws(Diagnostic) -> SyntaxNode {
        if flowDepth > SyntaxLimits.flowDepth { throw cursor.error(.flow(.tooDeep)) }
        if depth + flowDepth > SyntaxLimits.depth { throw cursor.error(.text(.tooDeep)) }
        let start = cursor.index
        if cursor.take("[") {
            let items = try readItems(from: start, flowDepth: flowDepth)
            return try node(.sequence(items), from: start)
        }
        cursor.advance()
        let entries = try readEntries(from: start, flowDepth: flowDepth)
        return try node(.mapping(.init(entries: entries)), from: start)
    }

    private mutating func readItems(from start: Int, flowDepth: Int) throws(Diagnostic) -> [SyntaxNode] {
        var items: [SyntaxNode] = []
        var more = try !readCloser("]", from: start)
        while more {
            items.append(try readFlowNode(flowDepth: flowDepth))
            if cursor.peek() == ":" { throw cursor.error(.flow(.pairInList)) }
            more = try readSeparator(closer: "]", from: start)
        }
        return items
    }

    private mutating func readEntries(from start: Int, flowDepth: Int) throws(Diagnostic) -> [SyntaxNode.Entry] {
        var entries: [SyntaxNode.Entry] = []
        var keys: Set<String> = []
        var more = try !readCloser("}", from: start)
        while more {
            let entry = try readEntry(behind: entries.last, flowDepth: flowDepth)
            guard keys.insert(entry.key).inserted else {
                throw Diagnostic(.block(.duplicateKey(entry.key, firstLine: cursor.line)), at: entry.keySpan)
            }
            entries.append(entry)
            more = try readSeparator(closer: "}", from: start)
        }
        return entries
    }

    private mutating func readEntry(
        behind last: SyntaxNode.Entry?, flowDepth: Int
    ) throws(Diagnostic) -> SyntaxNode.Entry {
        let key = try readFlowKey(behind: last)
        cursor.skipSpaces()
        let start = cursor.index
        if cursor.peek() == "," || cursor.peek() == "}" { throw key.withoutValue }
        let value = try readFlowNode(flowDepth: flowDepth)
        if cursor.peek() == ":" { throw cursor.error(.scalar(.colonInside(value: flowText(from: start)))) }
        return SyntaxNode.Entry(key: key.text, keySpan: key.span, value: value)
    }

    private mutating func readFlowNode(flowDepth: Int) throws(Diagnostic) -> SyntaxNode {
        cursor.skipSpaces()
        let start = cursor.index
        let node: SyntaxNode
        switch cursor.peek() {
        case "[", "{": node = try readFlow(flowDepth: flowDepth + 1)
        case "'", "\"": node = try readQuoted()
        case ",": throw cursor.error(.flow(.emptyItem))
        case nil: return try self.node(.unreadable, from: start)  // The reader of the separator refuses it.
        default: node = try readPlain(inFlow: true)
        }
        let isPlain = if case .scalar(let scalar) = node.content { scalar.quoting == .plain } else { false }
        if isPlain, cursor.peek() == "[" || cursor.peek() == "{" {
            throw cursor.error(.flow(.bracketInText(value: flowText(from: start))))
        }
        return node
    }

    /// Reads what follows an entry: true after a comma, false after the closing bracket.
    private mutating func readSeparator(closer: Unicode.Scalar, from start: Int) throws(Diagnostic) -> Bool {
        if try readCloser(closer, from: start) { return false }
        let comma = cursor.index
        guard cursor.take(",") else {
            throw cursor.error(.flow(.missingComma(closer: String(closer))))
        }
        if try readCloser(closer, from: start) { throw cursor.error(.flow(.emptyItem), at: comma..<comma + 1) }
        return true
    }

    /// Passes spaces, and `closer` when it stands there. The line's end, or a comment, ends the collection too early.
    private mutating func readCloser(_ closer: Unicode.Scalar, from start: Int) throws(Diagnostic) -> Bool {
        let before = cursor.index
        cursor.skipSpaces()
        if cursor.peek() == "\t" { throw cursor.error(.text(.tab)) }
        let isAtEnd = if cursor.index > before { try cursor.isAtEndOrComment(valueStart: nil) } else { cursor.isAtEnd }
        if isAtEnd {
            throw cursor.error(.flow(.unterminated(closer: String(closer))), at: start..<start + 1)
        }
        return cursor.take(closer)
    }
}
