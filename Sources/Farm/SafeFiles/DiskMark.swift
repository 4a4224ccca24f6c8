import Glibc

/// A mark by which a disk is known again after it was mounted anew, or the machine was started again. C's call is not shown to
/// Swift. <https://man7.org/linux/man-pages/man2/statfs.2.html>
package enum DiskMark {
    private typealias Statfs = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer) -> Int32

    /// Of `struct statfs` on 64-bit machines, in words of 64 bits.
    private static let size = 15
    private static let kind = 0
    private static let mark = 7

    /// Those whose mark is made of the disk's own UUID: ext2 to ext4, and Btrfs. Others make up a new one when they are mounted,
    /// or take the device's number.
    private static let lasting: Set<UInt64> = [0xEF53, 0x9123_683E]

    /// Nil where the file system has none that lasts, or nothing is at the path.
    package static func of(_ path: String) -> String? {
        guard let symbol = dlsym(nil, "statfs") else { return nil }
        var found = [UInt64](repeating: 0, count: size)
        let code = found.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { unsafeBitCast(symbol, to: Statfs.self)(path, $0) } ?? -1
        }
        guard code == 0, lasting.contains(found[kind]), found[mark] != 0 else { return nil }
        return String(found[mark], radix: 16)
    }
}
