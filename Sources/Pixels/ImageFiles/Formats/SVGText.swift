/// The text of an SVG file, simplified for ``XMLScanner``: without document type and marked sections.
struct SVGText {
    private(set) var bytes: [UInt8]
    private var entities: [String: String] = [:]

    /// - Throws: an error for constructs that would hide a part of the drawing from an analysis of the text.
    init(_ bytes: [UInt8]) throws(UnsupportedFeatureError) {
        self.bytes = bytes
        var offset = 0
        while let start = self.bytes[offset...].firstIndex(of: UInt8(ascii: "<")) {
            if starts(at: start, "<!--") {
                offset = end(of: "-->", from: start)
            } else if starts(at: start, "<![CDATA[") {
                offset = end(of: "]]>", from: start)
                // The section's content stays, except for characters of markup.
                for index in start..<offset where "<>&".utf8.contains(self.bytes[index]) || index < start + 9 {
                    self.bytes[index] = UInt8(ascii: " ")
                }
            } else if starts(at: start, "<?") {
                offset = end(of: "?>", from: start)
                try checkInstruction(start..<offset)
            } else if starts(at: start, "<!DOCTYPE") {
                offset = endOfType(from: start)
                try readType(start..<offset)
                for index in start..<offset { self.bytes[index] = UInt8(ascii: " ") }
            } else {
                offset = endOfTag(from: start)
            }
        }
    }

    /// An attribute's value, with its entities expanded.
    func value(_ range: Range<Int>) -> String {
        let text = String(decoding: bytes[range], as: UTF8.self)
        guard text.contains("&") else { return text }
        var (result, rest) = ("", text[...])
        while let start = rest.firstIndex(of: "&"), let end = rest[start...].firstIndex(of: ";") {
            result += rest[..<start]
            let name = rest[rest.index(after: start)..<end]
            result += Self.character(name) ?? entities[String(name)] ?? ""
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func character(_ name: Substring) -> String? {
        let known = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        guard name.hasPrefix("#") else { return known[String(name)] }
        let digits = name.dropFirst()
        let number = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
        return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) }
    }

    // MARK: Declarations

    /// Refuses encodings that are not based on ASCII, and style sheets in instructions, because they cannot be analysed.
    private func checkInstruction(_ range: Range<Int>) throws(UnsupportedFeatureError) {
        let text = String(decoding: bytes[range], as: UTF8.self).lowercased()
        if text.hasPrefix("<?xml-stylesheet"), text.contains("data:") {
            throw UnsupportedFeatureError("a style sheet in an instruction", remedy: "write it into a 'style' element")
        }
        guard text.hasPrefix("<?xml "), let start = text.firstRange(of: "encoding") else { return }
        let name = text[start.upperBound...].drop { " =\t\r\n'\"".contains($0) }.prefix { !"'\" ?".contains($0) }
        guard
            ["utf-8", "utf8", "us-ascii", "ascii"].contains(name)
                || ["iso-8859-", "iso8859-", "windows-125"].contains(where: name.hasPrefix)
        else { throw UnsupportedFeatureError("text in the encoding \(name)", remedy: "store it in UTF-8") }
    }

    /// - Parameter range: the range of the whole document type.
    private mutating func readType(_ range: Range<Int>) throws(UnsupportedFeatureError) {
        var rest = String(decoding: bytes[range], as: UTF8.self)[...]
        let hidden = UnsupportedFeatureError("markup in its document type", remedy: "write it out")
        if rest.contains("<!ATTLIST"), rest.contains("\"#") || rest.contains("'#") || rest.contains("url(") {
            throw hidden
        }
        while let start = rest.firstRange(of: "<!ENTITY") {
            rest = rest[start.upperBound...].drop(while: \.isWhitespace)
            let name = rest.prefix { !$0.isWhitespace }
            rest = rest[name.endIndex...].drop(while: \.isWhitespace)
            guard name != "%" else { throw hidden }
            guard let quote = rest.first, quote == "\"" || quote == "'" else { continue }
            let value = rest.dropFirst().prefix { $0 != quote }
            guard !value.contains("<"), !value.contains("&"), !value.contains("%") else { throw hidden }
            entities[String(name)] = String(value)
            rest = rest[value.endIndex...].dropFirst()
        }
    }

    // MARK: Ends of constructs

    private func starts(at offset: Int, _ text: String) -> Bool { bytes[offset...].starts(with: text.utf8) }

    private func end(of mark: String, from start: Int) -> Int {
        let first = mark.utf8.first
        var offset = start
        while offset < bytes.count {
            if bytes[offset] == first, starts(at: offset, mark) { return offset + mark.utf8.count }
            offset += 1
        }
        return bytes.count
    }

    private func endOfTag(from start: Int) -> Int {
        var (offset, quote) = (start + 1, UInt8(0))
        while offset < bytes.count {
            let byte = bytes[offset]
            offset += 1
            if quote != 0 {
                if byte == quote { quote = 0 }
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            } else if byte == UInt8(ascii: ">") {
                return offset
            }
        }
        return bytes.count
    }

    /// The end after the declarations in brackets, in which quotes may contain brackets and comments.
    private func endOfType(from start: Int) -> Int {
        var (offset, quote, depth) = (start + 1, UInt8(0), 0)
        while offset < bytes.count {
            let byte = bytes[offset]
            if quote == 0, depth > 0, byte == UInt8(ascii: "<"), starts(at: offset, "<!--") {
                offset = end(of: "-->", from: offset)
                continue
            }
            offset += 1
            if quote != 0 {
                if byte == quote { quote = 0 }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
            case UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ">") where depth <= 0: return offset
            default: break
            }
        }
        return bytes.count
    }
}
