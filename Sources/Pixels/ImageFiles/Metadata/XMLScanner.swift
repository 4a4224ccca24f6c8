/// Divides XML into tags and the text between them. It supports the XML of XMP packets; other constructs are malformed.
struct XMLScanner {
    struct Attribute: Hashable {
        let name: String
        let value: Range<Int>
        /// The whole attribute, with the blanks before it.
        let range: Range<Int>
    }

    enum Token: Hashable {
        case open(name: String, attributes: [Attribute], isEmpty: Bool)
        case close(name: String)
        /// Text, a comment or a processing instruction.
        case other
    }

    struct MalformedError: Error {}

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next token and its range; nil at the end.
    mutating func next() throws(MalformedError) -> (token: Token, range: Range<Int>)? {
        guard position < bytes.count else { return nil }
        let start = position
        let token = try scan()
        return (token, start..<position)
    }

    private mutating func scan() throws(MalformedError) -> Token {
        guard takes("<") else {
            position = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
            return .other
        }
        if takes("?") { return try skip(through: "?>") }
        if takes("!--") { return try skip(through: "-->") }
        if takes("/") {
            let name = try takeName()
            skipBlanks()
            guard takes(">") else { throw MalformedError() }
            return .close(name: name)
        }
        return try scanOpen()
    }

    private mutating func scanOpen() throws(MalformedError) -> Token {
        let name = try takeName()
        var attributes: [Attribute] = []
        while true {
            let start = position
            skipBlanks()
            if takes("/>") { return .open(name: name, attributes: attributes, isEmpty: true) }
            if takes(">") { return .open(name: name, attributes: attributes, isEmpty: false) }
            attributes.append(try scanAttribute(from: start))
        }
    }

    private mutating func scanAttribute(from start: Int) throws(MalformedError) -> Attribute {
        let name = try takeName()
        skipBlanks()
        guard takes("=") else { throw MalformedError() }
        skipBlanks()
        let quote: UInt8 = takes("'") ? UInt8(ascii: "'") : UInt8(ascii: "\"")
        guard quote == UInt8(ascii: "'") || takes("\""), let end = bytes[position...].firstIndex(of: quote) else {
            throw MalformedError()
        }
        let value = position..<end
        // XML forbids it. In the text of an element, it would begin another one.
        guard !bytes[value].contains(UInt8(ascii: "<")) else { throw MalformedError() }
        position = end + 1
        return Attribute(name: name, value: value, range: start..<position)
    }

    private mutating func takeName() throws(MalformedError) -> String {
        let end = bytes[position...].firstIndex { Self.isBlank($0) || "=/><'\"".utf8.contains($0) } ?? bytes.count
        guard end > position else { throw MalformedError() }
        defer { position = end }
        return String(decoding: bytes[position..<end], as: UTF8.self)
    }

    private mutating func skip(through mark: String) throws(MalformedError) -> Token {
        while position < bytes.count {
            if takes(mark) { return .other }
            position += 1
        }
        throw MalformedError()
    }

    private mutating func takes(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    private mutating func skipBlanks() {
        while position < bytes.count, Self.isBlank(bytes[position]) { position += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }
}
