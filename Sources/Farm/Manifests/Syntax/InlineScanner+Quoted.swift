extension InlineScanner {
    /// Reads a scalar in the quotes that stand at the cursor.
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

    /// The text up to the closing quote; nil when there is none on the line. `''` is a quote.
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
        // JSON writes a character outside the BMP as a pair; YAML does not join the halves.
        guard let scalar = Unicode.Scalar(value) else {
            let character = codeUnit(at: 6).flatMap { UTF16.scalar(high: value, low: $0) }
            let problem = ScalarProblem.surrogateEscape(character: character.map(String.init))
            throw cursor.error(.scalar(problem), length: character == nil ? 6 : 12)
        }
        cursor.advance(by: 6)
        return scalar
    }

    /// The value of the `\uXXXX` that stands `offset` scalars further on.
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
