import Glibc

/// An exclusive lock on a file, held by the kernel: it ends with the process, however that ends.
package final class KernelLock: Sendable {
    private let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Waits for the lock. For what is held for moments only.
    static func wait(_ path: String) throws(FileTrouble) -> KernelLock {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw FileTrouble(path: path, code: errno, action: "open the lock file") }
        while flock(file, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let code = errno
                close(file)
                throw FileTrouble(path: path, code: code, action: "lock")
            }
        }
        return KernelLock(descriptor: file)
    }

    /// Nil when another process holds the lock.
    package static func take(_ path: String) throws(FileTrouble) -> KernelLock? {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw FileTrouble(path: path, code: errno, action: "open the lock file") }
        if flock(file, LOCK_EX | LOCK_NB) == 0 { return KernelLock(descriptor: file) }
        let code = errno
        close(file)
        guard code == EWOULDBLOCK else { throw FileTrouble(path: path, code: code, action: "lock") }
        return nil
    }
}
