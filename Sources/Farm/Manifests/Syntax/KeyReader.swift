/// Reads the key at a line's start.
struct KeyReader {
    struct Key {
        let name: String
        let span: SourceSpan
        /// The start of the value behind the colon.
        let end: Int
    }

    private var cursor: LineCursor
    private let start: Int

    init(_ cursor: LineCursor) {
        self.cursor = cursor
        self.start = cursor.index
    }

    /// True if the line continues as `key: …`, valid or not, and not as a value.
    var looksLikeKey: Bool {
        switch cursor.peek() {
        case nil, "'", "\"", "{", "[", "&", "*", "!", "|", ">", "@", "`", "%", "#", "?": false
        case "-" where cursor.isBlankOrEnd(1): false
        default: colon != nil
        }
    }

    /// The key at the cursor.
    mutating func read() throws(Diagnostic) -> Key {
        try refuseStart()
        guard let colon else { throw withoutColon }
        var nameEnd = colon
        while nameEnd > start, cursor.text.scalars[nameEnd - 1] == " " { nameEnd -= 1 }
        let name = cursor.text.string(start..<nameEnd)
        if let problem = problem(of: name) { throw cursor.error(problem, at: start..<max(nameEnd, start + 1)) }
        guard nameEnd == colon else {
            throw cursor.error(.block(.blankBeforeColon(key: name)), at: nameEnd..<colon + 1)
        }
        return Key(name: name, span: cursor.span(start..<nameEnd), end: colon + 1)
    }

    /// The first colon before a blank or the line's end.
    private var colon: Int? {
        var ahead = cursor
        while let scalar = ahead.peek() {
            if scalar == ":", ahead.isBlankOrEnd(1) { return ahead.index }
            if scalar == "#", ahead.index > start, cursor.text.scalars[ahead.index - 1] == " " { return nil }
            ahead.advance()
        }
        return nil
    }

    private func refuseStart() throws(Diagnostic) {
        let value = cursor.value(from: start)
        let length = value.unicodeScalars.count
        switch cursor.peek() {
        case "'", "\"": throw quoted
        case "{", "[": throw cursor.error(.block(.bracketsAsLine))
        case "?" where cursor.isBlankOrEnd(1): throw cursor.error(.block(.complexKey))
        case "&": throw cursor.error(.scalar(.anchor(value: value)), length: length)
        case "*": throw cursor.error(.scalar(.alias(value: value)), length: length)
        case "!": throw cursor.error(.scalar(.tag(value: value)), length: length)
        default: break
        }
    }

    /// The error of a line that begins with a quote.
    private var quoted: Diagnostic {
        var scanner = InlineScanner(cursor, depth: 0)
        do {
            let node = try scanner.readQuoted()
            var rest = scanner.cursor
            rest.skipSpaces()
            guard rest.peek() == ":", let text = node.text else { return notAnEntry }
            return Diagnostic(.block(.quotedKey(text)), at: node.span)
        } catch {
            return error
        }
    }

    private func problem(of name: String) -> Problem? {
        if name == "<<" { return .block(.mergeKey) }
        if name.unicodeScalars.contains("\t") { return .text(.tab) }
        if let blank = name.unicodeScalars.first(where: \.isDeceptiveBlank) {
            return .text(.deceptiveBlank(blank.value))
        }
        guard name.isWord else { return .block(.badKey(name)) }
        return name.utf8.count > SyntaxLimits.keyLength ? .block(.keyTooLong) : nil
    }

    /// The error of a line without `: `.
    private var withoutColon: Diagnostic {
        var ahead = cursor
        while ahead.peek()?.isWordPart == true { ahead.advance() }
        let word = cursor.text.string(start..<ahead.index)
        guard word.isWord, ahead.peek() == ":" else { return notAnEntry }
        if let next = ahead.peek(1), next.isDeceptiveBlank {
            return cursor.error(.text(.deceptiveBlank(next.value)), at: ahead.index + 1..<ahead.index + 2)
        }
        return cursor.error(.block(.missingBlankAfterColon(key: word)), at: ahead.index..<ahead.index + 1)
    }

    private var notAnEntry: Diagnostic {
        let value = cursor.value(from: start)
        return cursor.error(.block(.notAnEntry(text: value)), length: value.unicodeScalars.count)
    }
}
