/// Reads one JSON value of RFC 8259.
///
/// Foundation's decoder accepts a key that occurs twice, and does not say where a number does not fit. Requests come from
/// other programs, whose authors need to know both.
struct JSONReader {
    /// Limits the recursion. No body of the API nests deeper than four levels.
    static let deepest = 32

    private let bytes: [UInt8]
    private var position = 0
    private var objects = 0

    /// - Parameter limit: The greatest number of bytes.
    static func value(of bytes: [UInt8], limit: Int) throws(BodyError) -> JSONValue {
        guard bytes.count <= limit else { throw BodyError(.tooLarge(limit: limit)) }
        var reader = JSONReader(bytes: bytes)
        let value = try reader.value(depth: 1)
        reader.skipBlanks()
        guard reader.next == nil else { throw reader.fault("the JSON has ended before") }
        return value
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func fault(_ words: String) -> BodyError {
        BodyError(.malformed(words, at: TextPosition(of: position, in: bytes)))
    }

    private mutating func skipBlanks() {
        while let byte = next, " \t\r\n".utf8.contains(byte) { position += 1 }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func value(depth: Int) throws(BodyError) -> JSONValue {
        skipBlanks()
        guard depth <= Self.deepest else { throw fault("it is nested more than \(Self.deepest) levels deep") }
        switch next {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["): return .list(try list(depth: depth))
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try take(word: "true", for: .truth(true))
        case UInt8(ascii: "f"): return try take(word: "false", for: .truth(false))
        case UInt8(ascii: "n"): return try take(word: "null", for: .null)
        case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .number(try number())
        case .some: throw fault("a value is expected")
        case nil: throw fault("it ends too early")
        }
    }

    private mutating func take(word: String, for value: JSONValue) throws(BodyError) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw fault("a value is expected") }
        position += word.utf8.count
        return value
    }

    private mutating func list(depth: Int) throws(BodyError) -> [JSONValue] {
        var items: [JSONValue] = []
        position += 1
        skipBlanks()
        if take("]") { return items }
        repeat { items.append(try value(depth: depth + 1)) } while try isFollowed(until: "]")
        return items
    }

    private mutating func object(depth: Int) throws(BodyError) -> JSONObject {
        var members: [String: JSONValue] = [:]
        objects += 1
        let number = objects
        position += 1
        skipBlanks()
        if take("}") { return JSONObject(number: number, members: members) }
        repeat {
            skipBlanks()
            let start = position
            guard next == UInt8(ascii: "\"") else { throw fault("a key in quotation marks is expected") }
            let key = try text()
            guard members[key] == nil else {
                position = start
                throw fault("the key '\(BodyError.shown(key))' occurs twice")
            }
            skipBlanks()
            guard take(":") else { throw fault("':' is expected") }
            members[key] = try value(depth: depth + 1)
        } while try isFollowed(until: "}")
        return JSONObject(number: number, members: members)
    }

    /// Takes a comma, or the closing bracket.
    private mutating func isFollowed(until closer: Unicode.Scalar) throws(BodyError) -> Bool {
        skipBlanks()
        if take(",") { return true }
        guard take(closer) else { throw fault(next == nil ? "it ends too early" : "',' or '\(closer)' is expected") }
        return false
    }
}

extension JSONReader {
    /// `-0.5e3`: a minus, digits without a leading zero, a fraction, an exponent.
    private mutating func number() throws(BodyError) -> String {
        let start = position
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            if !take("-") { _ = take("+") }
            try digits()
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits() throws(BodyError) {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw fault("a digit is expected") }
    }

    private mutating func text() throws(BodyError) -> String {
        let start = position
        position += 1
        var result: [UInt8] = []
        while let byte = next {
            guard byte >= 0x20 else { throw fault("a control character in text is written as an escape, such as \\n") }
            if take("\"") {
                guard let text = String(validating: result, as: UTF8.self) else {
                    position = start
                    throw fault("this text is not UTF-8")
                }
                return text
            }
            if byte == UInt8(ascii: "\\") {
                result += Array(String(try escape()).utf8)
            } else {
                result.append(byte)
                position += 1
            }
        }
        throw fault("it ends too early")
    }

    private mutating func escape() throws(BodyError) -> Unicode.Scalar {
        let start = position
        position += 1
        let letter = next
        position += 1
        switch letter {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            if let scalar = unicodeEscape() { return scalar }
        default: break
        }
        position = start
        throw fault("this is no escape of JSON")
    }

    /// Four digits. A character outside of the first plane is a pair of surrogates.
    private mutating func unicodeEscape() -> Unicode.Scalar? {
        guard let unit = codeUnit() else { return nil }
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit), take("\\"), take("u"), let trail = codeUnit(),
            UTF16.isTrailSurrogate(trail)
        else { return nil }
        return Unicode.Scalar(0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(trail & 0x3FF)))
    }

    private mutating func codeUnit() -> UInt16? {
        guard position + 4 <= bytes.count else { return nil }
        let digits = bytes[position..<position + 4]
        // `UInt16.init(_:radix:)` would take a sign, too.
        guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        position += 4
        return unit
    }
}
