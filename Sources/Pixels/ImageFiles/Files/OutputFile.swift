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

    /// Creates the file, or empties the one that is there.
    init(path: String) throws(ImageFileError) {
        self.path = path
        // Never through a link that somebody else has put there.
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
        guard let target = FilePosition.target(offset, from: whence, position: position, size: size) else { return -1 }
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

/// Takes an encoder's bytes and writes them to a file, with an insertion.
final class EncodedStream {
    let file: OutputFile
    private var insertion: Insertion?
    private var count = 0

    init(file: OutputFile, insertion: Insertion?) {
        self.file = file
        self.insertion = insertion
    }

    /// False after a failure, which the file keeps.
    func write(_ bytes: UnsafeRawBufferPointer) -> Bool {
        defer { count += bytes.count }
        guard let insertion, insertion.position <= count + bytes.count else { return file.write(bytes) }
        self.insertion = nil
        let split = insertion.position - count
        return file.write(UnsafeRawBufferPointer(rebasing: bytes[..<split]))
            && insertion.bytes.withUnsafeBytes { file.write($0) }
            && file.write(UnsafeRawBufferPointer(rebasing: bytes[split...]))
    }
}
