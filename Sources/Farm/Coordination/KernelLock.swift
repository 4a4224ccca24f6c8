import Glibc

/// An exclusive lock on a file, held by the kernel: it ends with the process, however that ends.
package final class KernelLock: Sendable {
    private let descriptor: Int32

    deinit { close(descriptor) }

    /// Waits for the lock. For what is held for moments only.
    static func wait(_ path: String) throws(FileTrouble) -> KernelLock {
        let lock = try KernelLock(opening: path)
        while flock(lock.descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw FileTrouble(path: path, code: errno, action: "lock") }
        }
        return lock
    }

    /// Nil when another process holds the lock.
    package static func take(_ path: String) throws(FileTrouble) -> KernelLock? {
        let lock = try KernelLock(opening: path)
        return try lock.isTaken(path) ? lock : nil
    }

    /// Tries again and again until `end`. Nil when another process still holds the lock then.
    static func take(_ path: String, until end: ContinuousClock.Instant, _ clock: ContinuousClock) async throws
        -> KernelLock?
    {
        let lock = try KernelLock(opening: path)
        while try !lock.isTaken(path) {
            guard clock.now < end else { return nil }
            try await clock.sleep(for: .milliseconds(200))
        }
        return lock
    }

    private func isTaken(_ path: String) throws(FileTrouble) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK else { throw FileTrouble(path: path, code: errno, action: "lock") }
        return false
    }

    /// Not locked yet.
    private init(opening path: String) throws(FileTrouble) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileTrouble(path: path, code: errno, action: "open the lock file") }
    }
}
