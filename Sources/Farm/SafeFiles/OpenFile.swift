import Glibc
import JobModel

/// A file that is read piece by piece; closed with its last use.
package struct OpenFile: ~Copyable {
    private let descriptor: Int32
    private let path: String
    /// Why somebody else may have written what it says; nil where only this user or root can have.
    package let doubt: String?

    deinit { close(descriptor) }

    /// Nil where there is no regular file: nothing, a link, or a pipe, which nobody waits for.
    ///
    /// - Parameter folder: the file's folder, open; nil where its path counts.
    package init?(_ path: String, in folder: Int32? = nil) throws(FileTrouble) {
        self.path = path
        descriptor = openat(
            folder ?? AT_FDCWD, folder == nil ? path : PathNames.last(of: path),
            O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            doubt = nil
            if [ENOENT, ENOTDIR, ELOOP, ENXIO].contains(errno) { return nil }
            throw FileTrouble(path: path, code: errno, action: "read")
        }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            doubt = nil
            return nil
        }
        doubt = Self.doubt(of: found)
    }

    /// A group that has its user's number is that user's own, and nobody else is in it: where each user has one, files are
    /// writable by it.
    private static func doubt(of found: stat) -> String? {
        guard found.st_uid == geteuid() || found.st_uid == 0 else {
            return "it belongs to another user (uid \(found.st_uid))"
        }
        let isShared = found.st_mode & 0o020 != 0 && found.st_gid != found.st_uid
        return isShared || found.st_mode & 0o002 != 0 ? "other users may write to it" : nil
    }

    /// What follows, at most so many bytes; empty at the end.
    package func next(_ most: Int = 1 << 18) throws(FileTrouble) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            var found = read(descriptor, buffer.baseAddress, most)
            while found < 0, errno == EINTR { found = read(descriptor, buffer.baseAddress, most) }
            if found < 0 { failure = errno }
            count = max(0, found)
        }
        guard failure == 0 else { throw FileTrouble(path: path, code: failure, action: "read") }
        return bytes
    }
}

extension FileSystem {
    /// Tries again where another process has just removed the folder that this one has made. On a busy machine that can happen
    /// many times in a row.
    package static func retrying<Result>(
        _ code: Int32, _ body: () throws(FileTrouble) -> Result
    ) throws(FileTrouble) -> Result {
        for _ in 0..<100 {
            do throws(FileTrouble) {
                return try body()
            } catch {
                guard error.code == code else { throw error }
                usleep(1000)
            }
        }
        return try body()
    }
}
