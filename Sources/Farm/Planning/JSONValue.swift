/// A JSON value that becomes a manifest's value.
indirect enum JSONValue: Hashable, Sendable {
    struct Member: Hashable, Sendable {
        let key: String
        let value: JSONValue
    }

    case null
    case truth(Bool)
    /// As it was written.
    case number(String)
    case text(String)
    case list([JSONValue])
    /// In the order of the text. A key may occur twice.
    case object([Member])

    /// In the flow syntax of manifests: `[1, "a", {radius: 3}]`.
    var manifestText: String {
        switch self {
        case .null: "null"
        case .truth(let truth): truth ? "true" : "false"
        case .number(let number): number
        case .text(let text): "\"\(text.unicodeScalars.map(Self.escaped).joined())\""
        case .list(let items): "[\(items.map(\.manifestText).joined(separator: ", "))]"
        case .object(let members):
            "{\(members.map { "\($0.key): \($0.value.manifestText)" }.joined(separator: ", "))}"
        }
    }

    /// Manifests do not take control characters and similar ones unescaped.
    private static func escaped(_ scalar: Unicode.Scalar) -> String {
        if scalar == "\"" || scalar == "\\" { return "\\\(scalar)" }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return unicodeEscape(scalar)
        default: return String(scalar)
        }
    }

    /// `\u200b`. A character that four digits cannot express stays as it is.
    private static func unicodeEscape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return digits.utf8.count > 4
            ? String(scalar) : "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
    }

    /// Whether it contains a null.
    var hasNull: Bool {
        switch self {
        case .null: true
        case .truth, .number, .text: false
        case .list(let items): items.contains(where: \.hasNull)
        case .object(let members): members.contains(where: \.value.hasNull)
        }
    }

    /// The first key in it that a manifest cannot contain.
    var firstInvalidKey: String? {
        switch self {
        case .null, .truth, .number, .text: nil
        case .list(let items): items.lazy.compactMap(\.firstInvalidKey).first
        case .object(let members):
            members.lazy.compactMap { Self.isWord($0.key) ? $0.value.firstInvalidKey : $0.key }.first
        }
    }

    private static func isWord(_ key: String) -> Bool {
        guard let first = key.utf8.first, isWordPart(first) else { return false }
        return !"0123456789-".utf8.contains(first) && key.utf8.allSatisfy(isWordPart)
    }

    /// Whether keys of manifests may contain this byte.
    static func isWordPart(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "0123456789_-".utf8.contains(byte)
    }
}

/// Reads one JSON value of RFC 8259.
///
/// Foundation's decoders do not fit. They round numbers, and the manifest reader needs them as their author wrote them.
/// They also lose the order of keys, keys that occur twice, and the column of an error.
struct JSONScanner {
    /// The text is not JSON.
    struct SyntaxError: Error {
        /// Counted in bytes, from 1.
        let column: Int
    }

    /// Limits the recursion. No manifest nests deeper.
    private static let depth = 16

    private let bytes: [UInt8]
    private var position = 0

    static func value(of text: [UInt8]) throws(SyntaxError) -> JSONValue {
        var scanner = JSONScanner(bytes: text)
        let value = try scanner.value(depth: 0)
        scanner.skipBlanks()
        guard scanner.position == text.count else { throw scanner.fault }
        return value
    }

    private var fault: SyntaxError { SyntaxError(column: position + 1) }
    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, " \t\r\n".utf8.contains(byte) { position += 1 }
    }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: scalar) else { return false }
        position += 1
        return true
    }

    private mutating func take(word: String, for value: JSONValue) throws(SyntaxError) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw fault }
        position += word.utf8.count
        return value
    }

    private mutating func value(depth: Int) throws(SyntaxError) -> JSONValue {
        skipBlanks()
        guard let first = next, depth < Self.depth else { throw fault }
        switch first {
        case UInt8(ascii: "{"): return try object(depth: depth)
        case UInt8(ascii: "["): return try list(depth: depth)
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try take(word: "true", for: .truth(true))
        case UInt8(ascii: "f"): return try take(word: "false", for: .truth(false))
        case UInt8(ascii: "n"): return try take(word: "null", for: .null)
        default: return .number(try number())
        }
    }

    private mutating func list(depth: Int) throws(SyntaxError) -> JSONValue {
        var items: [JSONValue] = []
        try members(closedBy: "]") { (scanner) throws(SyntaxError) in
            items.append(try scanner.value(depth: depth + 1))
        }
        return .list(items)
    }

    private mutating func object(depth: Int) throws(SyntaxError) -> JSONValue {
        var result: [JSONValue.Member] = []
        try members(closedBy: "}") { (scanner) throws(SyntaxError) in
            let key = try scanner.text()
            scanner.skipBlanks()
            guard scanner.take(":") else { throw scanner.fault }
            result.append(JSONValue.Member(key: key, value: try scanner.value(depth: depth + 1)))
        }
        return .object(result)
    }

    /// Reads members with commas between them, up to the closing bracket.
    private mutating func members(
        closedBy closer: Unicode.Scalar, _ member: (inout JSONScanner) throws(SyntaxError) -> Void
    ) throws(SyntaxError) {
        position += 1
        skipBlanks()
        if take(closer) { return }
        repeat {
            skipBlanks()
            try member(&self)
            skipBlanks()
        } while take(",")
        guard take(closer) else { throw fault }
    }
}

extension JSONScanner {
    /// `-0.5e3`: a minus, digits without a leading zero, a fraction, an exponent.
    private mutating func number() throws(SyntaxError) -> String {
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

    private mutating func digits() throws(SyntaxError) {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw fault }
    }

    private mutating func text() throws(SyntaxError) -> String {
        guard take("\"") else { throw fault }
        var result: [UInt8] = []
        while let byte = next, byte >= 0x20 {
            if take("\"") {
                guard let text = String(validating: result, as: UTF8.self) else { throw fault }
                return text
            }
            if byte == UInt8(ascii: "\\") {
                result += Array(String(try escape()).utf8)
            } else {
                result.append(byte)
                position += 1
            }
        }
        throw fault
    }

    private mutating func escape() throws(SyntaxError) -> Unicode.Scalar {
        position += 1
        guard let letter = next else { throw fault }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape()
        default: throw fault
        }
    }

    /// Four digits. A character outside the first plane is a pair of surrogates.
    private mutating func unicodeEscape() throws(SyntaxError) -> Unicode.Scalar {
        let unit = try codeUnit()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard UTF16.isLeadSurrogate(unit), take("\\"), take("u") else { throw fault }
        let trail = try codeUnit()
        guard UTF16.isTrailSurrogate(trail) else { throw fault }
        guard let scalar = Unicode.Scalar(0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(trail & 0x3FF))) else {
            throw fault
        }
        return scalar
    }

    private mutating func codeUnit() throws(SyntaxError) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw fault }
        position += 4
        return unit
    }
}
