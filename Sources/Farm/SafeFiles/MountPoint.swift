import Glibc

/// Finds out whether a folder is a mount point. C's headers show the call to GNU sources only, and Swift does not see
/// its structure.
/// <https://man7.org/linux/man-pages/man2/statx.2.html>
package enum MountPoint {
    private typealias Statx =
        @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32

    private static let emptyPath: Int32 = 0x1000  // AT_EMPTY_PATH
    private static let mountRoot: UInt64 = 0x2000  // STATX_ATTR_MOUNT_ROOT
    // The size of `struct statx` in bytes.
    private static let size = 256
    private static let attributes = 8
    private static let knownAttributes = 56

    /// Nil if the kernel (before 5.8) cannot tell.
    static func isMounted(_ folder: Int32) -> Bool? { ask(folder, "", emptyPath) }

    /// Whether the folder at a path is a mount point. Also nil if nothing exists there.
    ///
    /// - Parameter folder: Absolute.
    package static func isMounted(_ folder: String) -> Bool? { ask(AT_FDCWD, folder, 0) }

    private static func ask(_ folder: Int32, _ path: String, _ flags: Int32) -> Bool? {
        guard let symbol = dlsym(nil, "statx") else { return nil }
        var found = [UInt64](repeating: 0, count: size / 8)
        let code = found.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { unsafeBitCast(symbol, to: Statx.self)(folder, path, flags, 0, $0) } ?? -1
        }
        guard code == 0, found[knownAttributes / 8] & mountRoot != 0 else { return nil }
        return found[attributes / 8] & mountRoot != 0
    }
}

/// An identifier of a disk that stays the same after a new mount or a restart of the machine. Swift does not see C's
/// call.
/// <https://man7.org/linux/man-pages/man2/statfs.2.html>
package enum DiskMark {
    private typealias Statfs = @convention(c) (UnsafePointer<CChar>, UnsafeMutableRawPointer) -> Int32

    /// The size of `struct statfs` on 64-bit machines, in words of 64 bits.
    private static let size = 15
    private static let kind = 0
    private static let mark = 7

    /// File systems whose mark comes from the disk's own UUID: ext2 to ext4, and Btrfs. Others make up a new mark at
    /// every mount, or use the device's number.
    private static let lasting: Set<UInt64> = [0xEF53, 0x9123_683E]

    /// Nil if the file system has no lasting mark, or if nothing exists at the path.
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
