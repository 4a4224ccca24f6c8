extension InlineScanner {
    /// The key of an entry in braces.
    struct FlowKey {
        let text: String
        let span: SourceSpan

        /// The error for a key that no value follows.
        var withoutValue: Diagnostic {
            Diagnostic(.flow(.missingValue(key: text)), at: span)
        }
    }

    /// Reads a key with its colon, behind which a blank must follow.
    ///
    /// - Parameter last: the entry before it.
    mutating func readFlowKey(behind last: SyntaxNode.Entry?) throws(Diagnostic) -> FlowKey {
        try refuseFlowKeyStart()
        let start = cursor.index
        let node = try readPlain(inFlow: true)
        let key = FlowKey(text: node.text ?? "", span: node.span)
        if cursor.peek() != ":", let last { try refuseDecimalComma(last.value, key) }
        if key.text == "<<" { throw Diagnostic(.block(.mergeKey), at: key.span) }
        guard cursor.peek() == ":" else { throw withoutColon(key, at: start) }
        try check(key)
        guard cursor.index == start + key.span.length else {
            throw cursor.error(.block(.blankBeforeColon(key: key.text)))
        }
        cursor.advance()
        if cursor.peek() == "," || cursor.peek() == "}" { throw key.withoutValue }
        guard cursor.isBlankOrEnd() else { throw missingBlank(behind: key.text, at: cursor.index - 1) }
        return key
    }

    private func refuseFlowKeyStart() throws(Diagnostic) {
        switch cursor.peek() {
        case "'", "\"":
            var ahead = self
            let node = try ahead.readQuoted()
            throw Diagnostic(.block(.quotedKey(node.text ?? "")), at: node.span)
        case "[", "{": throw cursor.error(.block(.bracketsAsLine))
        case ",": throw cursor.error(.flow(.emptyItem))
        default: break
        }
    }

    /// `{radius: 2,5}`.
    private func refuseDecimalComma(_ value: SyntaxNode, _ key: FlowKey) throws(Diagnostic) {
        // A unit may follow: 2,5% or 2,5px.
        guard let whole = value.text, case .success = DecimalNumber.number(whole), key.text.first?.isNumber == true
        else { return }
        let number = DecimalNumber.withPoint("\(whole),\(key.text)")
        let (start, end) = (value.span.start, key.span.start.column + key.span.length)
        let span = SourceSpan(source: value.span.source, start: start, length: end - start.column)
        throw Diagnostic(.flow(.decimalComma(number: number)), at: span)
    }

    private func check(_ key: FlowKey) throws(Diagnostic) {
        guard key.text.isWord else { throw Diagnostic(.block(.badKey(key.text)), at: key.span) }
        if key.span.length > SyntaxLimits.keyLength { throw Diagnostic(.block(.keyTooLong), at: key.span) }
    }

    /// The error for an entry that has no `: `. YAML takes `{a:1}` for a key 'a:1'.
    private func withoutColon(_ key: FlowKey, at start: Int) -> Diagnostic {
        let word = String(key.text.prefix { $0 != ":" })
        guard word.isWord, word.utf8.count < key.text.utf8.count else { return key.withoutValue }
        return missingBlank(behind: word, at: start + word.utf8.count)
    }

    private func missingBlank(behind key: String, at index: Int) -> Diagnostic {
        cursor.error(.block(.missingBlankAfterColon(key: key)), at: index..<index + 1)
    }
}
