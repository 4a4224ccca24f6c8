import FoundationEssentials

/// Messages on a pipe: a little-endian 32-bit length, then that many bytes of JSON.
///
/// JSON costs some ten microseconds a message, which is nothing beside the milliseconds of a task, and can be read
/// when something goes wrong.
package enum FrameCodec {
    /// Longer messages are refused on both sides. The longest real one, the order to stitch 65,536 tiles, has some 14 MB
    /// where paths are of usual length.
    package static let largestMessage = 128 << 20

    package enum Problem: Error, Hashable, Sendable {
        case tooLong(bytes: Int)
        case notAMessage(String)
    }

    package static func encode(_ message: some Encodable) throws -> [UInt8] {
        let body = try json(message)
        guard body.count <= largestMessage else { throw Problem.tooLong(bytes: body.count) }
        return withUnsafeBytes(of: UInt32(body.count).littleEndian) { Array($0) } + body
    }

    /// The bare JSON of a value.
    package static func json(_ value: some Encodable) throws -> [UInt8] {
        Array(try JSONEncoder().encode(value))
    }

    package static func decode<Message: Decodable>(_ type: Message.Type, from body: some Collection<UInt8>) throws
        -> Message
    {
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw Problem.notAMessage("\(error)")
        }
    }
}

/// Collects bytes as they come from a pipe and gives out whole message bodies.
package struct FrameBuffer: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0

    package init() {}

    package mutating func append(_ more: some Sequence<UInt8>) {
        if start > 0, start * 2 > bytes.count {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// The next whole body, or nil until more bytes came.
    package mutating func next() throws -> ArraySlice<UInt8>? {
        guard bytes.count - start >= 4 else { return nil }
        let length = (0..<4).reduce(0) { $0 | Int(bytes[start + $1]) << (8 * $1) }
        guard length <= FrameCodec.largestMessage else { throw FrameCodec.Problem.tooLong(bytes: length) }
        guard bytes.count - start - 4 >= length else { return nil }
        defer { start += 4 + length }
        return bytes[(start + 4)..<(start + 4 + length)]
    }
}
