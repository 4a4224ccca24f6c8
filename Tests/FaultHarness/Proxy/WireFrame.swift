import Glibc

/// A message on a pipe as coordinators and workers of Penumbra write it: a little-endian length of 32 bits, then a body.
struct WireFrame {
    /// All that comes before the body.
    var prefix: [UInt8]
    var body: [UInt8]

    /// How long the prefix is; its first four bytes tell the length of the body. Where Penumbra writes more in front of a
    /// body, a checksum say, this has to follow; damage to a body then leaves the checksum as it was.
    private static let prefixBytes = 12
    /// What the program refuses is 128 MB and more.
    private static let largestBody = 1 << 29

    /// A whole message.
    init(saying body: [UInt8]) {
        let length = UInt32(body.count).littleEndian
        let checksum = body.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
        prefix = withUnsafeBytes(of: length) { Array($0) } + withUnsafeBytes(of: checksum.littleEndian) { Array($0) }
        self.body = body
    }

    /// Waits for the next one; nil at the end of the stream, or where it ends in the middle of a message.
    init?(from descriptor: Int32) {
        guard let prefix = Self.readExactly(Self.prefixBytes, descriptor) else { return nil }
        let length = prefix.prefix(4).enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
        guard length <= Self.largestBody, let body = Self.readExactly(length, descriptor) else { return nil }
        self.prefix = prefix
        self.body = body
    }

    /// Nobody may be there to read it any more.
    func write(to descriptor: Int32) { Bytes.write(prefix + body, to: descriptor) }

    private static func readExactly(_ count: Int, _ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let more = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + done }, count - done)
            }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else { return nil }
            done += more
        }
        return bytes
    }
}

/// Bytes to descriptors.
enum Bytes {
    /// - Returns: false when nobody reads any more, or the disk is full.
    @discardableResult static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
