import Glibc

/// Tells whether a folder is where something was mounted. C's headers show the call to GNU sources only, and Swift does not
/// see its structure. <https://man7.org/linux/man-pages/man2/statx.2.html>
package enum MountPoint {
    private typealias Statx =
        @convention(c) (Int32, UnsafePointer<CChar>, Int32, UInt32, UnsafeMutableRawPointer) -> Int32

    private static let emptyPath: Int32 = 0x1000  // AT_EMPTY_PATH
    private static let mountRoot: UInt64 = 0x2000  // STATX_ATTR_MOUNT_ROOT
    // Of `struct statx`, in bytes.
    private static let size = 256
    private static let attributes = 8
    private static let knownAttributes = 56

    /// Nil where the kernel (before 5.8) cannot tell.
    static func isMounted(_ folder: Int32) -> Bool? { ask(folder, "", emptyPath) }

    /// The same of a path. Nil, too, where nothing is there.
    ///
    /// - Parameter folder: absolute.
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
