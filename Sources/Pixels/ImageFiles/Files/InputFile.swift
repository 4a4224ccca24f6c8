import Glibc

/// A file that is open for reading. Keeps the first error of the system, which libvips would turn into words.
///
/// Used by one thread at a time: libvips reads a sequential image so.
package final class InputFile {
    /// As messages have it.
    let path: String
    let size: Int
    private let descriptor: Int32
    /// Without what patches put behind its end.
    private let ownSize: Int
    /// Bytes that stand in for the file's own, or behind them.
    private let patches: [Patch]
    /// What the whole numbers of its pages stand for, where they are not what they are.
    let floats: [Int: FloatTIFF.Samples]
    private var position = 0
    private(set) var failure: Int32?
    private var isOpenedByName = false

    /// - Parameter name: of the file, as messages have it; nil for its path.
    package init(path: String, name: String? = nil) throws(ImageFileError) {
        self.path = name ?? path
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)  // non-blocking: a pipe must not hang here
        guard descriptor >= 0 else { throw ImageFileError(path: self.path, .open, errno: errno) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw ImageFileError(path: self.path, .notAFile)
        }
        self.descriptor = descriptor
        self.size = Int(status.st_size)
        ownSize = size
        patches = []
        floats = [:]
    }

    /// Bytes at an offset.
    struct Patch {
        let offset: Int
        let bytes: [UInt8]
    }

    /// The same file as if it had other bytes at some offsets; the last ones may lie behind its end.
    init(_ file: InputFile, patches: [Patch], floats: [Int: FloatTIFF.Samples]? = nil) throws(ImageFileError) {
        path = file.path
        descriptor = dup(file.descriptor)
        guard descriptor >= 0 else { throw ImageFileError(path: file.path, .open, errno: errno) }
        size = patches.reduce(file.size) { max($0, $1.offset + $1.bytes.count) }
        ownSize = file.ownSize
        self.patches = file.patches + patches
        self.floats = floats ?? file.floats
    }

    deinit { close(descriptor) }

    /// A name by which this very file can be opened again, for as long as it is open here.
    ///
    /// A library that opens it so may report a failure of the disk as damage. ``findFailure()`` decides.
    var openName: String {
        isOpenedByName = true
        return "/proc/self/fd/\(descriptor)"
    }

    /// After a library could not read the file: the error of the system, if there was one. Where the library opened the file
    /// itself, all of it is read again.
    func findFailure() -> Int32? {
        guard isOpenedByName else { return failure }
        let portion = 1 << 20
        for offset in stride(from: 0, to: ownSize, by: portion) where failure == nil {
            _ = bytes(in: offset..<min(ownSize, offset + portion))
        }
        return failure
    }

    /// The file's first bytes, at most `count`.
    func head(_ count: Int) throws(ImageFileError) -> [UInt8] {
        guard let bytes = bytes(in: 0..<min(count, size)) else {
            throw ImageFileError(path: path, .read, errno: failure ?? EIO)
        }
        return bytes
    }

    /// Some of the file's bytes; nil after a failure, or when there are not so many.
    func bytes(in range: Range<Int>) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: range.count)
        let count = result.withUnsafeMutableBytes { transfer(into: $0, at: range.lowerBound) }
        return count == range.count ? result : nil
    }

    /// Reads on from the position. Returns the bytes read, 0 at the end, -1 after a failure.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = transfer(into: buffer, at: position)
        position += max(0, count)
        return count
    }

    /// Moves the position as `lseek` does. Returns the new one, or -1.
    func seek(to offset: Int, from whence: Int32) -> Int {
        guard let target = Self.position(offset, from: whence, now: position, size: size) else { return -1 }
        position = target
        return target
    }

    /// The arithmetic of `lseek`. Nil when the result would lie before the file's start, or `whence` is none of the three.
    static func position(_ offset: Int, from whence: Int32, now position: Int, size: Int) -> Int? {
        let origin: Int
        switch whence {
        case SEEK_SET: origin = 0
        case SEEK_CUR: origin = position
        case SEEK_END: origin = size
        default: return nil
        }
        let (target, overflows) = origin.addingReportingOverflow(offset)
        return overflows || target < 0 ? nil : target
    }

    private func transfer(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset))
            if count >= 0 { return patches.isEmpty ? count : patched(buffer, offset, count) }
            if errno == EINTR { continue }
            failure = failure ?? errno
            return -1
        }
    }

    /// - Parameter count: how many of the bytes the file had.
    private func patched(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int, _ count: Int) -> Int {
        // A file that has become shorter ends where it ends.
        guard count == buffer.count || offset + count >= ownSize else { return count }
        let total = max(count, min(buffer.count, size - offset))
        guard total > 0 else { return count }
        for index in count..<total { buffer[index] = 0 }
        for patch in patches {
            let (start, end) = (max(offset, patch.offset), min(offset + total, patch.offset + patch.bytes.count))
            for index in start..<max(start, end) { buffer[index - offset] = patch.bytes[index - patch.offset] }
        }
        return total
    }
}

extension [UInt8] {
    /// The lowest `length` bytes of a number.
    static func number(_ value: Int, length: Int, littleEndian: Bool) -> [UInt8] {
        let bytes = (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return littleEndian ? bytes : bytes.reversed()
    }

    /// With a zero behind it when the count is odd, as TIFF, RIFF and Photoshop's resources want it.
    var paddedToEven: [UInt8] { count.isMultiple(of: 2) ? self : self + [0] }
}
