import FileAccess
import Glibc

/// A file that is being written. It stores the first system error, because libvips would report it only as text, or hide it.
///
/// One thread at a time may use it; a saver of libvips writes in this way.
package final class OutputFile {
    let path: String
    private var descriptor: Int32
    /// False for a device or a pipe, which must not be removed, and for a file that was handed over. Its creator removes that file.
    private let isOwn: Bool
    private var position = 0
    private(set) var size = 0
    private(set) var failure: Int32?
    private var insertion: Insertion?
    /// The number of bytes that ``writeEncoded(_:)`` has received.
    private var encodedCount = 0

    /// Creates the file, or truncates an existing one.
    ///
    /// - Parameter insertion: bytes to insert between those of ``writeEncoded(_:)``.
    init(path: String, openedBy opener: FileOpener, insertion: Insertion? = nil) throws(ImageFileError) {
        self.path = path
        self.insertion = insertion
        let opened: FileOpener.Opened
        do {
            // Never follows a link, because another user may have created it.
            opened = try opener.open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW, mode: 0o666)
        } catch {
            throw ImageFileError(path: path, .create, errno: error.code)
        }
        descriptor = opened.descriptor
        var status = stat()
        isOwn = !opened.isHanded && fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Creates a file in memory.
    ///
    /// - Parameter path: the file for messages.
    init(inMemoryFor path: String) throws(ImageFileError) {
        self.path = path
        descriptor = MemoryFile.create()
        guard descriptor >= 0 else { throw ImageFileError(path: path, .create, errno: errno) }
        isOwn = false
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Writes all bytes at the current position. Returns false after a failure.
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

    /// Writes an encoder's bytes at the current position, with the insertion. Returns false after a failure.
    func writeEncoded(_ bytes: UnsafeRawBufferPointer) -> Bool {
        defer { encodedCount += bytes.count }
        guard let insertion, insertion.position <= encodedCount + bytes.count else { return write(bytes) }
        self.insertion = nil
        let split = insertion.position - encodedCount
        return write(UnsafeRawBufferPointer(rebasing: bytes[..<split])) && insertion.bytes.withUnsafeBytes { write($0) }
            && write(UnsafeRawBufferPointer(rebasing: bytes[split...]))
    }

    /// Reads written bytes from the current position. Returns the number of bytes, 0 at the end, −1 after a failure.
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

    /// Moves the position as `lseek` does. Returns the new position, or −1.
    func seek(to offset: Int, from whence: Int32) -> Int {
        guard let target = InputFile.position(offset, from: whence, now: position, size: size) else { return -1 }
        position = target
        return target
    }

    /// Some of the written bytes. Nil after a failure, or if the file is shorter.
    func bytes(in range: Range<Int>) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: range.count)
        position = range.lowerBound
        let count = result.withUnsafeMutableBytes { read(into: $0) }
        return count == range.count ? result : nil
    }

    /// Overwrites the bytes at `offset`.
    func put(_ bytes: [UInt8], at offset: Int) {
        position = offset
        _ = bytes.withUnsafeBytes { write($0) }  // the file stores the failure
    }

    /// Truncates the file to `count` bytes.
    func truncate(to count: Int) {
        if ftruncate(descriptor, off_t(count)) != 0 { failure = failure ?? errno }
        size = count
    }

    /// Closes the file. Only then may a network file system report a full disk.
    func finish() throws(ImageFileError) {
        let closed = close(descriptor)
        descriptor = -1
        if closed != 0 { failure = failure ?? errno }
        if let failure { throw ImageFileError(path: path, .write, errno: failure) }
    }

    /// Closes the file, and removes it if it is its own. Errors are reported already.
    func discard() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
        if isOwn { unlink(path) }
    }
}

/// Bytes that are inserted into a file while it is written. Metadata are inserted in this way into files whose pixels libvips
/// encodes.
///
/// libvips would rebuild EXIF through another library, which drops and invents tags. Penumbra can only guarantee its rules for
/// metadata if it inserts the bytes itself.
package struct Insertion: Hashable, Sendable {
    let bytes: [UInt8]
    /// The number of the encoder's bytes before them.
    let position: Int
}
