import CChannel
import Glibc

/// A message on a pipe as coordinators and workers of Penumbra write it: a little-endian length of 32 bits, then a body.
struct WireFrame {
    /// All that comes before the body.
    var prefix: [UInt8]
    var body: [UInt8]
    /// The open files that came with it; whoever has read it closes them.
    var files: [Int32] = []

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
        var files: [Int32] = []
        guard let prefix = Self.readExactly(Self.prefixBytes, descriptor, &files) else { return nil }
        let length = prefix.prefix(4).enumerated().reduce(0) { $0 | Int($1.element) << (8 * $1.offset) }
        guard length <= Self.largestBody, let body = Self.readExactly(length, descriptor, &files) else { return nil }
        self.prefix = prefix
        self.body = body
        self.files = files
    }

    /// Nobody may be there to read it any more. Its files go along, and stay open here.
    func write(to descriptor: Int32) { Bytes.write(prefix + body, files, to: descriptor) }

    func closeFiles() { for file in files { close(file) } }

    private static func readExactly(_ count: Int, _ descriptor: Int32, _ files: inout [Int32]) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var received = [Int32](repeating: -1, count: Int(CHANNEL_MOST_FILES))
        var done = 0
        while done < count {
            var (fileCount, areMissing): (Int32, Int32) = (0, 0)
            let more = bytes.withUnsafeMutableBytes { buffer in
                channel_receive(
                    descriptor, buffer.baseAddress.map { $0 + done }, count - done, &received, &fileCount, &areMissing)
            }
            guard more > 0 else { return nil }
            files += received[..<Int(fileCount)]
            done += Int(more)
        }
        return bytes
    }
}

/// Bytes to descriptors.
enum Bytes {
    /// - Parameter files: open files that go along with the first of the bytes.
    /// - Returns: false when nobody reads any more, or the disk is full.
    @discardableResult static func write(_ bytes: [UInt8], _ files: [Int32] = [], to descriptor: Int32) -> Bool {
        var (rest, files) = (bytes[...], files)
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                channel_send(descriptor, $0.baseAddress, $0.count, files, files.count)
            }
            guard count > 0 else { return false }
            files = []
            rest = rest.dropFirst(Int(count))
        }
        return true
    }
}
