package import Glibc

/// The kernel's calls that decide whether an output is safe. Tests pass calls that fail, one after the other.
///
/// Each call answers as the kernel does: -1, and `errno` says why.
package struct FileCalls: Sendable {
    /// `openat`
    package var open: @Sendable (_ folder: Int32, _ name: String, _ flags: Int32, _ mode: mode_t) -> Int32
    package var write: @Sendable (_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int
    /// `fsync`
    package var sync: @Sendable (_ file: Int32) -> Int32
    /// `fdatasync`
    package var syncData: @Sendable (_ file: Int32) -> Int32
    /// `syncfs`
    package var syncFileSystem: @Sendable (_ file: Int32) -> Int32
    /// `renameat`, and with flags `renameat2`
    package var rename:
        @Sendable (_ folder: Int32, _ name: String, _ target: Int32, _ other: String, _ flags: UInt32) -> Int32
    /// `linkat`
    package var link: @Sendable (_ folder: Int32, _ name: String, _ target: Int32, _ other: String) -> Int32

    package static let kernel = FileCalls(
        open: { openat($0, $1, $2, $3) },
        write: { Glibc.write($0, $1, $2) },
        sync: { fsync($0) },
        syncData: { fdatasync($0) },
        syncFileSystem: { Self.syncfs?($0) ?? Self.unknown() },
        rename: { folder, name, target, other, flags in
            flags == 0
                ? renameat(folder, name, target, other)
                : Self.renameat2?(folder, name, target, other, flags) ?? Self.unknown()
        },
        link: { linkat($0, $1, $2, $3, 0) })

    /// Writes all bytes, even if signals interrupt it.
    ///
    /// - Returns: 0 or an error number.
    package func writeAll(_ bytes: ArraySlice<UInt8>, to file: Int32) -> Int32 {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : ENOSPC }
            rest = rest.dropFirst(count)
        }
        return 0
    }

    // C's headers show these to GNU sources only.
    // <https://man7.org/linux/man-pages/man2/rename.2.html>, <https://man7.org/linux/man-pages/man2/syncfs.2.html>
    private typealias Rename =
        @convention(c) (
            Int32, UnsafePointer<CChar>, Int32, UnsafePointer<CChar>, UInt32
        ) -> Int32
    private typealias Sync = @convention(c) (Int32) -> Int32

    private static var renameat2: Rename? { dlsym(nil, "renameat2").map { unsafeBitCast($0, to: Rename.self) } }
    private static var syncfs: Sync? { dlsym(nil, "syncfs").map { unsafeBitCast($0, to: Sync.self) } }

    private static func unknown() -> Int32 {
        errno = ENOSYS
        return -1
    }
}
