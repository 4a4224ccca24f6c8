import Glibc
import JobModel

/// An exclusive lock on a file, held by the kernel: it ends with the process, however that ends.
package final class KernelLock: Sendable {
    /// A process that inherits the open file has the lock, too. It ends when all of them have closed the file.
    package let descriptor: Int32

    deinit { close(descriptor) }

    /// Waits for the lock, at most half a minute. For what is held for moments only.
    package static func wait(_ path: String) throws(FileError) -> KernelLock {
        for _ in 0..<3000 {
            let lock = try KernelLock(opening: path)
            // Who held it may have removed it.
            if try lock.isTaken(path), lock.isStillAt(path) { return lock }
            usleep(10_000)
        }
        throw FileError(path: path, code: ETIMEDOUT, action: "lock")
    }

    /// Nil when another process holds the lock.
    package static func take(_ path: String) throws(FileError) -> KernelLock? {
        let lock = try KernelLock(opening: path)
        return try lock.isTaken(path) ? lock : nil
    }

    /// Whether a process holds the lock of a file. False if there is no such file. True if that is unknown.
    package static func isHeld(_ path: String) -> Bool {
        guard FileSystem.exists(path) else { return false }
        do {
            return try take(path) == nil
        } catch {
            return true
        }
    }

    /// Tries again and again until `end`. Nil when another process still holds the lock then.
    package static func take(
        _ path: String, until end: ContinuousClock.Instant
    ) async throws -> KernelLock? {
        while true {
            let lock = try KernelLock(opening: path)
            // Who held it may have removed it.
            if try lock.isTaken(path), lock.isStillAt(path) { return lock }
            guard ContinuousClock.now < end else { return nil }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Locks a file in an open folder, where folders cannot be locked. Nil when another process holds the lock. Whoever
    /// removes the file does so before the lock ends.
    ///
    /// - Parameter path: the folder's, for messages.
    package static func takeFile(_ name: String, in folder: Int32, _ path: String) throws(FileError) -> KernelLock? {
        for _ in 0..<100 {
            let file = openat(folder, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
            guard file >= 0 else {
                throw FileError(path: "\(path)/\(name)", code: errno, action: "open the lock file")
            }
            let lock = KernelLock(taking: file)
            guard try lock.isTaken("\(path)/\(name)") else { return nil }
            var (own, now) = (stat(), stat())
            if fstat(file, &own) == 0, fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0,
                own.st_ino == now.st_ino, own.st_dev == now.st_dev
            {
                return lock
            }
        }
        return nil
    }

    private init(taking file: Int32) { descriptor = file }

    /// False when somebody has removed what is locked.
    package func isStillAt(_ path: String) -> Bool {
        var own = stat()
        return fstat(descriptor, &own) == 0 && FileSystem.stamp(path)?.identity == FileStamp(own).identity
    }

    private func isTaken(_ path: String) throws(FileError) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw FileError(path: path, code: errno, action: "lock") }
        return false
    }

    /// Not locked yet.
    private init(opening path: String) throws(FileError) {
        // A pipe in its place would be waited for.
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o666)
        guard descriptor >= 0 else { throw FileError(path: path, code: errno, action: "open the lock file") }
    }
}
