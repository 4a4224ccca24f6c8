import FoundationEssentials

/// Messages on a pipe: a little-endian 32-bit length of the body, a 64-bit checksum of the body, and the body in JSON.
/// The checksum is FNV-1a. It detects every change of a single byte.
///
/// JSON costs some ten microseconds a message, little beside the milliseconds of a task, and people can read it.
package enum FrameCodec {
    /// - Throws: ``FrameCodecError/tooLong(bytes:)`` for a message that no reader takes.
    package static func encode(_ message: some Encodable) throws -> [UInt8] {
        let body = try json(message)
        guard body.count <= MessageLimits.orders.bytes else { throw FrameCodecError.tooLong(bytes: body.count) }
        let head = littleEndian(UInt64(body.count), bytes: 4) + littleEndian(checksum(of: body[...]), bytes: 8)
        return head + body
    }

    private static func littleEndian(_ number: UInt64, bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    static func checksum(of body: ArraySlice<UInt8>) -> UInt64 {
        body.withUnsafeBytes { bytes in
            bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
        }
    }

    /// The bare JSON of a value.
    package static func json(_ value: some Encodable) throws -> [UInt8] {
        Array(try JSONEncoder().encode(value))
    }

    /// - Throws: ``FrameCodecError`` for a message that exceeds a limit, or is none.
    package static func decode<Message: Decodable>(
        _ type: Message.Type, from body: some Collection<UInt8>, within limits: MessageLimits = .orders
    ) throws -> Message {
        if let excess = limits.excess(of: body) { throw excess }
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            // The error repeats names and values of the message.
            throw FrameCodecError.notAMessage(String("\(error)".unicodeScalars.prefix(300)))
        }
    }
}

/// Collects bytes from a pipe and returns whole message bodies.
package struct FrameBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0
    private let longest: Int

    /// - Parameter limits: Longer messages are refused before they are waited for.
    package init(within limits: MessageLimits = .orders) { longest = limits.bytes }

    package mutating func append(_ more: some Sequence<UInt8>) {
        if start > 0, start * 2 > bytes.count {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// The next whole body. Nil until more bytes have come.
    package mutating func next() throws -> ArraySlice<UInt8>? {
        guard bytes.count - start >= 4 else { return nil }
        let length = Int(number(at: start, bytes: 4))
        guard length <= longest else { throw FrameCodecError.tooLong(bytes: length) }
        guard bytes.count - start - Self.head >= length else { return nil }
        defer { start += Self.head + length }
        let body = bytes[(start + Self.head)..<(start + Self.head + length)]
        guard FrameCodec.checksum(of: body) == number(at: start + 4, bytes: 8) else { throw FrameCodecError.damaged }
        return body
    }

    /// The bytes of length and checksum.
    private static let head = 12

    private func number(at offset: Int, bytes count: Int) -> UInt64 {
        (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * $1) }
    }
}

/// Why bytes of a pipe are not a message, or a message cannot be sent.
package enum FrameCodecError: Error, Hashable, Sendable {
    case tooLong(bytes: Int)
    case tooDeep(limit: Int)
    case tooManyValues(limit: Int)
    case tooLongText(bytes: Int)
    case notAMessage(String)
    /// The checksum does not match.
    case damaged
}

extension FrameCodecError {
    /// Whether the message exceeds one of its ``MessageLimits``.
    package var isExcess: Bool {
        switch self {
        case .tooLong, .tooDeep, .tooManyValues, .tooLongText: true
        case .notAMessage, .damaged: false
        }
    }
}

/// The end of a sentence that begins with who sent it.
extension FrameCodecError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong(let bytes): "a message of \(bytes) bytes"
        case .tooDeep(let limit): "a message of more than \(limit) levels"
        case .tooManyValues(let limit): "a message of more than \(limit) values"
        case .tooLongText(let bytes): "a message with a text of \(bytes) bytes"
        case .notAMessage(let reason): "no message of this version: \(reason)"
        case .damaged: "a message that was damaged on its way"
        }
    }
}
