/// The first lines of an answer.
package struct AnswerHead: Hashable, Sendable {
    package let status: Int
    /// Names in lower case, in the order of the answer.
    let fields: [Field]

    struct Field: Hashable, Sendable {
        let name: String
        let value: String
    }

    /// The first value with a name in lower case.
    package subscript(name name: String) -> String? { fields.first { $0.name == name }?.value }

    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }
}

/// Takes the bytes of one HTTP/1.1 answer apart. It believes nothing: what RFC 9112 does not allow is a fault.
///
/// It is a value, and the pieces that it returns do not depend on how the bytes were cut. Only bodies come as they
/// arrive.
package struct AnswerParser {
    package enum Piece: Hashable {
        case head(AnswerHead)
        case body([UInt8])
    }

    private enum State {
        case head
        /// So many bytes are left.
        case sized(Int)
        case untilClose
        case chunkSize
        case chunk(Int)
        /// The line end behind a chunk.
        case chunkEnd
        case trailer
        case ended
    }

    static let largestHead = 64 << 10
    private static let mostFields = 256
    /// A chunk's line has a size of at most eight digits. What may follow it is ignored, but not without a limit.
    private static let longestChunkLine = 1024
    /// Some answers may precede the real one (100 Continue, 103 Early Hints).
    private static let mostInterim = 8

    private let largestBody: Int
    private var state = State.head
    private var bytes: [UInt8] = []
    private var start = 0
    /// Bytes of the head or trailer so far.
    private var headSize = 0
    private var lines: [String] = []
    private var interim = 0
    private var bodySize = 0

    /// - Parameter largestBody: `Int.max` for a stream.
    package init(largestBody: Int) { self.largestBody = largestBody }

    package mutating func append(_ more: some Sequence<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// The next piece. Nil until more bytes have come, and at the end.
    package mutating func next() throws(ExchangeFault) -> Piece? {
        while true {
            switch state {
            case .head:
                guard let line = try line(limit: Self.largestHead - headSize, "its head is longer than 64 KiB")
                else { return nil }
                guard line.isEmpty else {
                    // At once: what speaks another protocol may never send an empty line.
                    if lines.isEmpty { _ = try Self.status(line) }
                    lines.append(line)
                    guard lines.count <= Self.mostFields else {
                        throw ExchangeFault.wrong("its head has too many lines")
                    }
                    continue
                }
                if let head = try endHead() { return .head(head) }
            case .sized(0): state = .ended
            case .sized(let left):
                guard let piece = take(upTo: left) else { return nil }
                state = .sized(left - piece.count)
                return .body(piece)
            case .untilClose:
                guard let piece = take(upTo: .max) else { return nil }
                try count(piece.count)
                return .body(piece)
            case .chunkSize:
                headSize = 0
                guard let line = try line(limit: Self.longestChunkLine, "the line of a chunk is too long")
                else { return nil }
                let size = try Self.chunkSize(line)
                try count(size)
                headSize = 0
                state = size == 0 ? .trailer : .chunk(size)
            case .chunk(0): state = .chunkEnd
            case .chunk(let left):
                guard let piece = take(upTo: left) else { return nil }
                state = .chunk(left - piece.count)
                return .body(piece)
            case .chunkEnd:
                guard bytes.count - start >= 2 else { return nil }
                guard bytes[start] == 13, bytes[start + 1] == 10 else {
                    throw ExchangeFault.wrong("a chunk is longer than its size says")
                }
                start += 2
                state = .chunkSize
            case .trailer:
                guard let line = try line(limit: Self.largestHead - headSize, "its trailer is longer than 64 KiB")
                else { return nil }
                if line.isEmpty { state = .ended }
            case .ended: return nil
            }
        }
    }

    package var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// Whether the answer is complete if the connection ends here.
    package var isCompleteAtClose: Bool {
        switch state {
        case .untilClose, .ended: true
        case .head, .sized, .chunkSize, .chunk, .chunkEnd, .trailer: false
        }
    }

    private mutating func take(upTo most: Int) -> [UInt8]? {
        guard start < bytes.count else { return nil }
        let end = start + min(most, bytes.count - start)
        defer { start = end }
        return Array(bytes[start..<end])
    }

    private mutating func count(_ more: Int) throws(ExchangeFault) {
        guard more <= largestBody - bodySize else {
            throw ExchangeFault.wrong("its body has more than \(largestBody) bytes")
        }
        bodySize += more
    }

    /// A line without its CR LF. Nil until it is complete.
    private mutating func line(limit: Int, _ tooLong: String) throws(ExchangeFault) -> String? {
        guard let end = bytes[start...].firstIndex(of: 10) else {
            guard bytes.count - start <= limit else { throw ExchangeFault.wrong(tooLong) }
            return nil
        }
        guard end + 1 - start <= limit else { throw ExchangeFault.wrong(tooLong) }
        guard end > start, bytes[end - 1] == 13 else {
            throw ExchangeFault.wrong("a line of its head does not end with CR LF")
        }
        let line = bytes[start..<end - 1]
        headSize += end + 1 - start
        start = end + 1
        guard line.allSatisfy({ $0 >= 0x20 && $0 != 0x7f || $0 == 9 }) else {
            throw ExchangeFault.wrong("its head has a control character")
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw ExchangeFault.wrong("its head is not UTF-8")
        }
        return text
    }
}

extension AnswerParser {
    /// Interprets the lines of a head. Nil for an interim answer.
    private mutating func endHead() throws(ExchangeFault) -> AnswerHead? {
        guard let first = lines.first else { throw ExchangeFault.wrong("it has no status line") }
        let status = try Self.status(first)
        var fields: [AnswerHead.Field] = []
        for line in lines.dropFirst() { fields.append(try Self.field(line)) }
        lines = []
        headSize = 0
        if (100..<200).contains(status) {
            interim += 1
            guard status != 101, interim <= Self.mostInterim else {
                throw ExchangeFault.wrong("it has the status \(status), which nobody asked for")
            }
            return nil
        }
        let head = AnswerHead(status: status, fields: fields)
        state = try framing(of: head)
        return head
    }

    /// `HTTP/1.1 200 OK`
    private static func status(_ line: String) throws(ExchangeFault) -> Int {
        let text = Array(line.utf8)
        guard text.count >= 12, line.hasPrefix("HTTP/1.1 ") || line.hasPrefix("HTTP/1.0 "),
            text[9..<12].allSatisfy({ (48...57).contains($0) }), text.count == 12 || text[12] == 32,
            let status = Int(String(decoding: text[9..<12], as: UTF8.self)), (100..<600).contains(status)
        else { throw ExchangeFault.wrong("it does not begin with a status line of HTTP/1.1") }
        return status
    }

    private static let nameParts = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    private static func field(_ line: String) throws(ExchangeFault) -> AnswerHead.Field {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line.utf8[..<colon].allSatisfy(nameParts.contains)
        else { throw ExchangeFault.wrong("a line of its head is no header") }
        let value = line.utf8[line.utf8.index(after: colon)...]
        let isBlank: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
        let trimmed = value.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        return AnswerHead.Field(
            name: String(line[..<colon]).lowercased(), value: String(decoding: Array(trimmed), as: UTF8.self))
    }

    /// How long the body is. An answer that says it in two ways is a fault: someone on the way may read another end.
    private mutating func framing(of head: AnswerHead) throws(ExchangeFault) -> State {
        let lengths = head.values("content-length")
        let codings = head.values("transfer-encoding")
        if head.status == 204 || head.status == 304 { return .ended }
        if !codings.isEmpty {
            guard lengths.isEmpty else { throw ExchangeFault.wrong("it has a length and chunks") }
            guard codings.count == 1, codings[0].lowercased() == "chunked" else {
                throw ExchangeFault.wrong("its transfer coding is not known")
            }
            return .chunkSize
        }
        guard let first = lengths.first else { return .untilClose }
        guard lengths.count == 1, (1...18).contains(first.utf8.count),
            first.utf8.allSatisfy({ (48...57).contains($0) }),
            let length = Int(first)
        else { throw ExchangeFault.wrong("its length is no number, or is given twice") }
        try count(length)
        return .sized(length)
    }

    /// `1a3f`, perhaps with extensions behind `;`.
    private static func chunkSize(_ line: String) throws(ExchangeFault) -> Int {
        let digits = line.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 32 && $0 != 9 }
        guard (1...8).contains(digits.count),
            digits.allSatisfy({ Character(UnicodeScalar($0)).isHexDigit }),
            let size = Int(String(Substring(digits)), radix: 16)
        else { throw ExchangeFault.wrong("the size of a chunk is no number, or too large") }
        return size
    }
}
