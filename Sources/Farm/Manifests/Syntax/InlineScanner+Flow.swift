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
            let entry = try readEntry(flowDepth: flowDepth)
            guard keys.insert(entry.key).inserted else {
                throw Diagnostic(.block(.duplicateKey(entry.key, firstLine: cursor.line)), at: entry.keySpan)
            }
            entries.append(entry)
            more = try readSeparator(closer: "}", from: start)
        }
        return entries
    }

    private mutating func readEntry(flowDepth: Int) throws(Diagnostic) -> SyntaxNode.Entry {
        let key = try readFlowKey()
        cursor.skipSpaces()
        if cursor.peek() == "," || cursor.peek() == "}" { throw missingValue(of: key) }
        let value = try readFlowNode(flowDepth: flowDepth)
        if cursor.peek() == ":" {
            let text = cursor.text.string(value.span.start.index(in: cursor)..<cursor.index + 1)
            throw cursor.error(.scalar(.colonInside(value: text)))
        }
        return SyntaxNode.Entry(key: key.text, keySpan: key.span, value: value)
    }

    private mutating func readFlowKey() throws(Diagnostic) -> (text: String, span: SourceSpan) {
        let start = cursor.index
        if cursor.peek() == "'" || cursor.peek() == "\"" {
            let node = try readQuoted()
            throw Diagnostic(.block(.quotedKey(node.text ?? "")), at: node.span)
        }
        if cursor.peek() == "," { throw cursor.error(.flow(.emptyItem)) }
        if cursor.peek() == "[" || cursor.peek() == "{" { throw cursor.error(.block(.bracketsAsLine)) }
        let node = try readPlain(inFlow: true)
        let key = (text: node.text ?? "", span: node.span)
        if key.text == "<<" { throw Diagnostic(.block(.mergeKey), at: key.span) }
        guard cursor.peek() == ":" else { throw withoutColon(key) }
        guard key.text.isWord else { throw Diagnostic(.block(.badKey(key.text)), at: key.span) }
        if key.span.length > SyntaxLimits.keyLength { throw Diagnostic(.block(.keyTooLong), at: key.span) }
        if cursor.index - start > key.span.length {
            throw cursor.error(.block(.blankBeforeColon(key: key.text)))
        }
        cursor.advance()
        if cursor.peek() == "," || cursor.peek() == "}" { throw missingValue(of: key) }
        guard cursor.isBlankOrEnd() else { throw missingBlank(behind: key.text, at: cursor.index - 1) }
        return key
    }

    private func missingValue(of key: (text: String, span: SourceSpan)) -> Diagnostic {
        Diagnostic(.flow(.missingValue(key: key.text)), at: key.span)
    }

    /// The error for an entry that has no `: `. YAML takes `{a:1}` for a key 'a:1'.
    private func withoutColon(_ key: (text: String, span: SourceSpan)) -> Diagnostic {
        let word = String(key.text.prefix { $0 != ":" })
        guard word.isWord, word.utf8.count < key.text.utf8.count else { return missingValue(of: key) }
        return missingBlank(behind: word, at: key.span.start.index(in: cursor) + word.utf8.count)
    }

    private func missingBlank(behind key: String, at index: Int) -> Diagnostic {
        cursor.error(.block(.missingBlankAfterColon(key: key)), at: index..<index + 1)
    }

    private mutating func readFlowNode(flowDepth: Int) throws(Diagnostic) -> SyntaxNode {
        cursor.skipSpaces()
        let start = cursor.index
        let node: SyntaxNode
        switch cursor.peek() {
        case "[", "{": node = try readFlow(flowDepth: flowDepth + 1)
        case "'", "\"": node = try readQuoted()
        case ",": throw cursor.error(.flow(.emptyItem))
        case nil: return try self.node(.unreadable, from: start)  // The reader of the separator reports it.
        default: node = try readPlain(inFlow: true)
        }
        let isPlain = if case .scalar(let scalar) = node.content { scalar.quoting == .plain } else { false }
        if isPlain, cursor.peek() == "[" || cursor.peek() == "{" {
            let value = cursor.value(from: start)
            throw cursor.error(.flow(.bracketInText(value: value)))
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
        let isAtEnd = if cursor.index > before { try cursor.isAtEndOrComment() } else { cursor.isAtEnd }
        if isAtEnd {
            throw cursor.error(.flow(.unterminated(closer: String(closer))), at: start..<start + 1)
        }
        return cursor.take(closer)
    }
}

extension SourcePosition {
    /// The index of this position's scalar, on the cursor's line.
    fileprivate func index(in cursor: LineCursor) -> Int {
        cursor.text.lines[cursor.line - 1].lowerBound + column - 1
    }
}
