import Glibc

/// An open file that is read and written at byte offsets, whole requests at a time.
///
/// Reading and writing use no file position, so several threads may do so at once.
struct CanvasFile: ~Copyable, Sendable {
    let path: String
    private let descriptor: Int32  // owned: closed once, in deinit

    /// Makes a new file of `bytes` bytes whose blocks are reserved, so that writing never meets a full disk.
    ///
    /// A file that exists is an error. On failure nothing is left behind.
    init(creating path: String, bytes: Int) throws(CanvasError) {
        self.path = path
        descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw Self.error(.create, path, errno) }
        var code: Int32 = 0
        repeat { code = bytes == 0 ? 0 : posix_fallocate(descriptor, 0, bytes) } while code == EINTR
        guard code == 0 else {
            unlink(path)  // it was made a moment ago and holds nothing
            throw Self.error(.allocate, path, code)
        }
    }

    /// Opens a file that has exactly `bytes` bytes.
    init(opening path: String, bytes: Int, writable: Bool) throws(CanvasError) {
        self.path = path
        descriptor = Glibc.open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw Self.error(.open, path, errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Self.error(.open, path, errno) }
        guard Int(status.st_size) == bytes else {
            throw CanvasError(path: path, problem: .wrongSize(bytes: Int(status.st_size), expected: bytes))
        }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Fills `bytes` from `offset` on. A file that ends before is an error.
    func read(_ bytes: UnsafeMutableRawBufferPointer, at offset: Int) throws(CanvasError) {
        var done = 0
        while done < bytes.count, let base = bytes.baseAddress {
            let count = pread(descriptor, base + done, bytes.count - done, offset + done)
            if count > 0 {
                done += count
            } else if count == 0 {
                throw CanvasError(path: path, problem: .wrongSize(bytes: offset + done, expected: offset + bytes.count))
            } else if errno != EINTR {
                throw Self.error(.read, path, errno)
            }
        }
    }

    /// Writes all of `bytes` from `offset` on.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(CanvasError) {
        var done = 0
        while done < bytes.count, let base = bytes.baseAddress {
            let count = pwrite(descriptor, base + done, bytes.count - done, offset + done)
            if count >= 0 {
                done += count
            } else if errno != EINTR {
                throw Self.error(.write, path, errno)
            }
        }
    }

    /// Waits until the disk has all that was written.
    func flush() throws(CanvasError) {
        while fdatasync(descriptor) != 0 {
            guard errno == EINTR else { throw Self.error(.flush, path, errno) }
        }
    }

    private static func error(_ step: CanvasError.Step, _ path: String, _ code: Int32) -> CanvasError {
        CanvasError(path: path, problem: .system(step, code: code))
    }
}
