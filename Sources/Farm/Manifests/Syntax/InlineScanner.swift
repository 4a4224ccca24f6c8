/// Reads a value on one line: a scalar, or a list or mapping in brackets. It stops at the first problem.
///
/// If YAML 1.1 and 1.2, or their parsers, read a plain scalar in different ways, it is refused.
struct InlineScanner {
    /// What stands before the value.
    enum Context {
        case key
        case dash
    }

    var cursor: LineCursor
    /// The number of open collections around the value.
    let depth: Int
    /// The number of nodes so far.
    var nodeCount = 0

    init(_ cursor: LineCursor, depth: Int) {
        self.cursor = cursor
        self.depth = depth
    }

    /// Reads the value at the cursor and the rest of its line, which may only be a comment.
    mutating func readLine(behind context: Context) throws(Diagnostic) -> SyntaxNode {
        switch cursor.peek() {
        case "'", "\"":
            return try readQuotedLine(behind: context)
        case "[", "{":
            return try readBrackets()
        case "-" where cursor.isBlankOrEnd(1):
            throw cursor.error(.block(context == .key ? .itemOnKeyLine : .nestedItem))
        default:
            return try readPlainLine()
        }
    }

    private mutating func readQuotedLine(behind context: Context) throws(Diagnostic) -> SyntaxNode {
        let quote = cursor.peek() == "'" ? "'" : "\""
        let node = try readQuoted()
        if context == .dash, cursor.peek() == ":", let text = node.text {
            throw Diagnostic(.block(.quotedKey(text)), at: node.span)
        }
        try expectEnd(else: .scalar(.textAfterQuote(quote: quote)))
        return node
    }

    private mutating func readPlainLine() throws(Diagnostic) -> SyntaxNode {
        let start = cursor.index
        let node = try readPlain(inFlow: false)
        guard cursor.peek() == ":" else {
            // Only spaces and a comment can follow, because a plain scalar takes everything else.
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

    /// Refuses texts such as `{dir}/{stem}.png` and `[ab]*.jpg`, whose author forgot the quotes.
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

    /// Skips spaces and a comment up to the line's end. Anything else is reported as `problem`.
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

extension InlineScanner {
    /// Reads a scalar without quotes. It ends at a comment, at a colon before a blank, and inside brackets at a comma
    /// or bracket.
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
        // Trailing spaces are not part of the text, but the caller checks a colon or bracket behind them.
        if cursor.peek() == nil || cursor.peek() == " " { cursor.move(to: end) }
        let text = cursor.text.string(start..<end)
        let node = try node(.scalar(.init(text: text, quoting: .plain)), from: start)
        return SyntaxNode(node.content, span: cursor.span(start..<end))
    }

    private func endsPlain(_ scalar: Unicode.Scalar, inFlow: Bool) -> Bool {
        if scalar == ":" {
            // Parsers differ on a colon before ',', '?' or a bracket. So it ends the scalar, and the caller refuses it.
            let next = cursor.peek(1)
            return cursor.isBlankOrEnd(1) || inFlow && (next == "?" || next?.isFlowIndicator == true)
        }
        return inFlow && scalar.isFlowIndicator
    }

    /// Refuses characters that have a meaning for YAML at the start of a value, or are reserved.
    private func refusePlainStart(inFlow: Bool) throws(Diagnostic) {
        // A quick check first, because a long list has many values and at most one is refused.
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

    /// YAML's indicators, except for those that begin brackets and quotes.
    private static let specialStarts: Set<Unicode.Scalar> = [
        "*", "&", "!", "|", ">", "?", "-", "@", "`", "%", ":", "#", ",", "]", "}",
    ]

    /// Whether it is the header of a text block: `|`, `>-`, `|2+` and similar.
    private func isBlockScalarHeader(_ value: String) -> Bool {
        value.unicodeScalars.dropFirst().allSatisfy { $0 == "+" || $0 == "-" || $0.isDigit }
    }

    /// The text from `start` to the next comma or closing bracket. Pairs of brackets inside belong to it.
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

    /// Reads a quoted scalar at the cursor.
    mutating func readQuoted() throws(Diagnostic) -> SyntaxNode {
        let start = cursor.index
        let isSingle = cursor.peek() == "'"
        cursor.advance()
        let text = isSingle ? readSingleQuoted() : try readDoubleQuoted()
        guard let text else {
            let problem = ScalarProblem.unterminated(quote: isSingle ? "'" : "\"")
            throw cursor.error(.scalar(problem), at: start..<start + 1)
        }
        return try node(.scalar(.init(text: text, quoting: isSingle ? .single : .double)), from: start)
    }

    /// The text up to the closing quote. Nil if there is none on the line. `''` stands for a quote.
    private mutating func readSingleQuoted() -> String? {
        var text = String.UnicodeScalarView()
        while let scalar = cursor.peek() {
            cursor.advance()
            if scalar == "'", !cursor.take("'") { return String(text) }
            text.append(scalar)
        }
        return nil
    }

    private mutating func readDoubleQuoted() throws(Diagnostic) -> String? {
        var text = String.UnicodeScalarView()
        while let scalar = cursor.peek() {
            switch scalar {
            case "\"":
                cursor.advance()
                return String(text)
            case "\\":
                guard cursor.peek(1) != nil else { return nil }
                text.append(try readEscape())
            default:
                cursor.advance()
                text.append(scalar)
            }
        }
        return nil
    }

    /// Reads one of JSON's escapes.
    private mutating func readEscape() throws(Diagnostic) -> Unicode.Scalar {
        guard let letter = cursor.peek(1) else { throw cursor.error(.scalar(.unknownEscape("\\"))) }
        if letter == "u" { return try readUnicodeEscape() }
        guard let scalar = Self.escapes[letter] else { throw unknownEscape(letter) }
        cursor.advance(by: 2)
        return scalar
    }

    private static let escapes: [Unicode.Scalar: Unicode.Scalar] = [
        "\"": "\"", "\\": "\\", "/": "/", "b": "\u{8}", "f": "\u{C}", "n": "\n", "r": "\r", "t": "\t",
    ]

    private func unknownEscape(_ letter: Unicode.Scalar) -> Diagnostic {
        let digits = String(String.UnicodeScalarView([cursor.peek(2), cursor.peek(3)].compactMap(\.self)))
        let isHex = letter == "x" && digits.utf8.count == 2 && UInt8(digits, radix: 16) != nil
        let problem = isHex ? ScalarProblem.hexEscape(digits: digits) : .unknownEscape("\\\(letter)")
        return cursor.error(.scalar(problem), length: isHex ? 4 : 2)
    }

    private mutating func readUnicodeEscape() throws(Diagnostic) -> Unicode.Scalar {
        guard let value = codeUnit(at: 0) else { throw cursor.error(.scalar(.incompleteUnicodeEscape), length: 2) }
        if value == 0 || value == 0xFEFF {
            let escape = cursor.text.string(cursor.index..<cursor.index + 6)
            throw cursor.error(.scalar(.unusableEscape(escape)), length: 6)
        }
        // JSON writes a character outside the BMP as a pair, but YAML does not join its halves.
        guard let scalar = Unicode.Scalar(value) else {
            let character = codeUnit(at: 6).flatMap { UTF16.scalar(high: value, low: $0) }
            let problem = ScalarProblem.surrogateEscape(character: character.map(String.init))
            throw cursor.error(.scalar(problem), length: character == nil ? 6 : 12)
        }
        cursor.advance(by: 6)
        return scalar
    }

    /// The value of the `\uXXXX` at an offset from the cursor.
    private func codeUnit(at offset: Int) -> UInt16? {
        guard cursor.peek(offset) == "\\", cursor.peek(offset + 1) == "u" else { return nil }
        var value: UInt16 = 0
        for digit in 2..<6 {
            guard let scalar = cursor.peek(offset + digit), let bits = scalar.hexDigit else { return nil }
            value = value << 4 | bits
        }
        return value
    }
}

extension Unicode.Scalar {
    fileprivate var hexDigit: UInt16? {
        isASCII ? UInt16(String(self), radix: 16) : nil
    }
}

extension UTF16 {
    /// The character that a surrogate pair stands for.
    fileprivate static func scalar(high: UInt16, low: UInt16) -> Unicode.Scalar? {
        guard isLeadSurrogate(high), isTrailSurrogate(low) else { return nil }
        return Unicode.Scalar(0x10000 + (UInt32(high & 0x3FF) << 10 | UInt32(low & 0x3FF)))
    }
}

extension InlineScanner {
    /// Reads the list or mapping whose bracket is at the cursor.
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
        if cursor.peek() == ":" { throw cursor.error(.scalar(.colonInBraces(value: flowText(from: start)))) }
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

    /// Reads the end of an entry: true after a comma, false after the closing bracket.
    private mutating func readSeparator(closer: Unicode.Scalar, from start: Int) throws(Diagnostic) -> Bool {
        if try readCloser(closer, from: start) { return false }
        let comma = cursor.index
        guard cursor.take(",") else {
            throw cursor.error(.flow(.missingComma(closer: String(closer))))
        }
        if try readCloser(closer, from: start) { throw cursor.error(.flow(.emptyItem), at: comma..<comma + 1) }
        return true
    }

    /// Skips spaces, and `closer` if it follows. Reports the end of the line, or a comment, inside the collection.
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

    /// The key of an entry in braces.
    struct FlowKey {
        let text: String
        let span: SourceSpan

        /// The error of a key without a value.
        var withoutValue: Diagnostic {
            Diagnostic(.flow(.missingValue(key: text)), at: span)
        }
    }

    /// Reads a key with its colon and a blank behind it.
    ///
    /// - Parameter last: The entry before it.
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

    /// Refuses `{radius: 2,5}`.
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

    /// The error of an entry without `: `. YAML takes `{a:1}` for a key 'a:1'.
    private func withoutColon(_ key: FlowKey, at start: Int) -> Diagnostic {
        let word = String(key.text.prefix { $0 != ":" })
        guard word.isWord, word.utf8.count < key.text.utf8.count else { return key.withoutValue }
        return missingBlank(behind: word, at: start + word.utf8.count)
    }

    private func missingBlank(behind key: String, at index: Int) -> Diagnostic {
        cursor.error(.block(.missingBlankAfterColon(key: key)), at: index..<index + 1)
    }
}
