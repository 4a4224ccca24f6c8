import Glibc

/// Held while a database is made or brought up to date, so that others wait with opening it: SQLite answers with an error,
/// and does not wait, where two want to change a new file's journal mode.
///
/// A file beside the database, which stays. The kernel takes the lock away from a process that ends.
struct OpeningLock: ~Copyable {
    private let descriptor: CInt

    /// Waits for the lock for a minute; goes on without it then, as where there can be none: SQLite tells what is wrong.
    init(ofDatabase path: String) {
        descriptor = open("\(path)-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { return }
        for _ in 0..<6000 {
            guard flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK || errno == EINTR else { return }
            usleep(10_000)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
