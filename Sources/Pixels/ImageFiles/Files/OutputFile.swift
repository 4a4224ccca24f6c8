import Glibc

/// A file that is being written. Keeps the first error of the system, which libvips would turn into words or hide.
///
/// Used by one thread at a time: a saver of libvips writes so.
package final class OutputFile {
    let path: String
    private var descriptor: Int32
    /// False for a device or a pipe, which is not ours to remove.
    private let isOrdinary: Bool
    private var position = 0
    private(set) var size = 0
    private(set) var failure: Int32?
    private var insertion: Insertion?
    /// The bytes that ``writeEncoded(_:)`` was given.
    private var encodedCount = 0

    /// Creates the file, or empties the one that is there.
    ///
    /// - Parameter insertion: goes among the bytes of ``writeEncoded(_:)``.
    init(path: String, insertion: Insertion? = nil) throws(ImageFileError) {
        self.path = path
        self.insertion = insertion
        // Never through a link that another user has put there.
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw ImageFileError(path: path, .create, errno: errno) }
        var status = stat()
        isOrdinary = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes all bytes at the position. False after a failure.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var rest = bytes[...]
        while failure == nil, !rest.isEmpty {
            let chunk = UnsafeRawBufferPointer(rebasing: rest)
            let count = pwrite(descriptor, chunk.baseAddress, chunk.count, off_t(position))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                failure = count < 0 ? errno : ENOSPC
                return false
            }
            position += count
            size = max(size, position)
            rest = rest.dropFirst(count)
        }
        return failure == nil
    }

    /// Writes an encoder's bytes at the position, with the insertion. False after a failure.
    func writeEncoded(_ bytes: UnsafeRawBufferPointer) -> Bool {
        defer { encodedCount += bytes.count }
        guard let insertion, insertion.position <= encodedCount + bytes.count else { return write(bytes) }
        self.insertion = nil
        let split = insertion.position - encodedCount
        return write(UnsafeRawBufferPointer(rebasing: bytes[..<split])) && insertion.bytes.withUnsafeBytes { write($0) }
            && write(UnsafeRawBufferPointer(rebasing: bytes[split...]))
    }

    /// Reads back what was written, from the position. Returns the bytes read, 0 at the end, -1 after a failure.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(position))
            if count >= 0 {
                position += count
                return count
            }
            if errno == EINTR { continue }
            failure = failure ?? errno
            return -1
        }
    }

    /// Moves the position as `lseek` does. Returns the new one, or -1.
    func seek(to offset: Int, from whence: Int32) -> Int {
        guard let target = InputFile.position(offset, from: whence, now: position, size: size) else { return -1 }
        position = target
        return target
    }

    /// Bytes that were written; nil after a failure, or when there are not so many.
    func bytes(in range: Range<Int>) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: range.count)
        position = range.lowerBound
        let count = result.withUnsafeMutableBytes { read(into: $0) }
        return count == range.count ? result : nil
    }

    /// Writes `bytes` at `offset`, over what is there.
    func put(_ bytes: [UInt8], at offset: Int) {
        position = offset
        _ = bytes.withUnsafeBytes { write($0) }  // a failure stays in the file
    }

    /// Cuts off what comes after the first `count` bytes.
    func truncate(to count: Int) {
        if ftruncate(descriptor, off_t(count)) != 0 { failure = failure ?? errno }
        size = count
    }

    /// Closes the file, which is where a network file system may first say that it was full.
    func finish() throws(ImageFileError) {
        let closed = close(descriptor)
        descriptor = -1
        if closed != 0 { failure = failure ?? errno }
        if let failure { throw ImageFileError(path: path, .write, errno: failure) }
    }

    /// Closes the file and removes it. What went wrong is reported already.
    func discard() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        if isOrdinary { unlink(path) }
    }
}

/// Bytes that go into a file while it is written: how metadata gets into files whose pixels libvips encodes.
///
/// libvips would rebuild EXIF through another library, which drops and invents tags; Penumbra's rules about what an
/// output may carry hold only for bytes that it puts there itself.
package struct Insertion: Hashable, Sendable {
    let bytes: [UInt8]
    /// How many of the encoder's bytes go before them.
    let position: Int
}
