import Glibc

/// A file that is read piece by piece; closed with its last use.
struct OpenFile: ~Copyable {
    private let descriptor: Int32
    private let path: String

    deinit { close(descriptor) }

    /// Nil where there is none, or a link. A pipe that somebody has put there is empty, and nothing to wait for.
    init?(_ path: String) throws(FileTrouble) {
        self.path = path
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor < 0 else { return }
        if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
        throw FileTrouble(path: path, code: errno, action: "read")
    }

    /// What follows, at most so many bytes; empty at the end.
    func next(_ most: Int = 1 << 18) throws(FileTrouble) -> [UInt8] {
        var buffer = [UInt8](repeating: 0, count: most)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileTrouble(path: path, code: errno, action: "read") }
            buffer.removeLast(buffer.count - count)
            return buffer
        }
    }
}
