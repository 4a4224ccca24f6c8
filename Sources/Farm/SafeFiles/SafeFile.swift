package import Glibc
import JobModel

/// An open file of a ``SafeFolder``. It is closed after its last use.
package struct SafeFile: ~Copyable {
    /// The file's name in messages.
    package let path: String
    package let descriptor: Int32

    /// Takes ownership of the descriptor.
    init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

    /// A file that was opened elsewhere with the same care.
    package init(taking descriptor: Int32, _ path: String) { self.init(path, descriptor) }

    deinit { close(descriptor) }

    package func status() throws(FileError) -> stat {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw FileError(path: path, code: errno, action: "look at") }
        return found
    }

    /// The next bytes, at most this number. Empty at the end.
    package func next(_ most: Int = 1 << 18) throws(FileError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            var found = read(descriptor, buffer.baseAddress, most)
            while found < 0, errno == EINTR { found = read(descriptor, buffer.baseAddress, most) }
            if found < 0 { failure = errno }
            count = max(0, found)
        }
        guard failure == 0 else { throw FileError(path: path, code: failure, action: "read") }
        return bytes
    }

    package func append(_ bytes: [UInt8]) throws(FileError) {
        let code = FileCalls.kernel.writeAll(bytes[...], to: descriptor)
        guard code == 0 else { throw FileError(path: path, code: code, action: "write") }
    }

    /// Waits until the disk has the file.
    package func sync() throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError(path: path, code: errno, action: "sync") }
    }
}

/// A file that is opened by its path, and why its content may not be trusted.
package struct OpenFile: ~Copyable {
    private let file: SafeFile
    /// Why another user may have written the file. Nil if only this user or root can have written it.
    package let distrustReason: String?

    /// Nil if there is no regular file at the path. Links are not followed, and a pipe is not waited for.
    ///
    /// - Parameter folder: the open folder of the file. If it is given, only the last name of the path counts.
    package init?(_ path: String, in folder: Int32? = nil) throws(FileError) {
        let descriptor = openat(
            folder ?? AT_FDCWD, folder == nil ? path : PathNames.last(of: path),
            O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if [ENOENT, ENOTDIR, ELOOP, ENXIO].contains(errno) { return nil }
            throw FileError(path: path, code: errno, action: "read")
        }
        let file = SafeFile(taking: descriptor, path)
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else { return nil }
        distrustReason = Self.distrustReason(of: found)
        self.file = file
    }

    /// If the group has the same number as the owner, it has no other members. On systems with such groups,
    /// files are writable by the group.
    private static func distrustReason(of found: stat) -> String? {
        guard found.st_uid == geteuid() || found.st_uid == 0 else {
            return "it belongs to another user (uid \(found.st_uid))"
        }
        let isShared = found.st_mode & 0o020 != 0 && found.st_gid != found.st_uid
        return isShared || found.st_mode & 0o002 != 0 ? "other users may write to it" : nil
    }

    /// The following bytes, at most so many; empty at the end.
    package func next(_ most: Int = 1 << 18) throws(FileError) -> [UInt8] { try file.next(most) }
}
