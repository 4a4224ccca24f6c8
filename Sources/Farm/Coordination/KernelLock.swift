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
        if flock(lock.descriptor, LOCK_EX | LOCK_NB) == 0 { return lock }
        guard errno == EWOULDBLOCK else { throw FileTrouble(path: path, code: errno, action: "lock") }
        return nil
    }

    /// Not locked yet.
    private init(opening path: String) throws(FileTrouble) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileTrouble(path: path, code: errno, action: "open the lock file") }
    }
}
