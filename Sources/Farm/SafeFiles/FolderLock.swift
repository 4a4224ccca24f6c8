import Glibc
package import JobModel

/// An exclusive lock on a folder, held by the kernel: runs hold it on the folders of their outputs, commands that change
/// pictures in place on the pictures' folders. So they exclude each other.
///
/// Some network file systems lock files alone: there it is a file in the folder.
package final class FolderLock: Sendable {
    /// The open folder.
    package let descriptor: Int32
    /// Where the file system does not lock folders.
    private let file: KernelLock?

    package static let fileName = ".penumbra-lock"
    /// What a file system answers that has no such locks.
    package static let unsupported = [EBADF, EINVAL, ENOLCK, EOPNOTSUPP, ENOSYS]

    deinit {
        // While it is locked: whoever has it open looks whether it is still there.
        if file != nil { unlinkat(descriptor, Self.fileName, 0) }
        close(descriptor)
    }

    private init(_ descriptor: Int32, _ file: KernelLock?) { (self.descriptor, self.file) = (descriptor, file) }

    /// Nil when somebody else holds the lock.
    ///
    /// - Parameters:
    ///   - folder: as the file system has it, with a zero at its end.
    ///   - path: the same for messages.
    package static func take(_ folder: [CChar], _ path: String) throws(FileError) -> FolderLock? {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path: path, code: errno, action: "open the folder") }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return FolderLock(descriptor, nil) }
        let code = errno
        do throws(FileError) {
            guard code != EWOULDBLOCK else {
                close(descriptor)
                return nil
            }
            guard unsupported.contains(code) else { throw FileError(path: path, code: code, action: "lock") }
            guard let file = try KernelLock.takeFile(fileName, in: descriptor, path) else {
                close(descriptor)
                return nil
            }
            return FolderLock(descriptor, file)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// Tries again and again until `end`. Nil when another process still holds the lock then.
    package static func take(
        _ path: String, until end: ContinuousClock.Instant
    ) async throws -> FolderLock? {
        while true {
            // Who held it may have removed the folder that he had made.
            if let lock = try take(path.utf8.map { CChar(bitPattern: $0) } + [0], path), lock.isStillAt(path) {
                return lock
            }
            guard ContinuousClock.now < end else { return nil }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func isStillAt(_ path: String) -> Bool {
        identity.map { FileSystem.stamp(path)?.identity == $0 } ?? false
    }

    /// Of the open folder, whatever its path leads to now.
    package var identity: FileStamp.Identity? {
        var own = stat()
        return fstat(descriptor, &own) == 0 ? FileStamp(own).identity : nil
    }
}
