package import FileAccess
import Glibc

/// A file that is open for reading. It stores the first system error, because libvips would report it only as text.
///
/// One thread at a time may use it; libvips reads a sequential image in this way.
package final class InputFile {
    /// The file's name for messages.
    let path: String
    let size: Int
    private let descriptor: Int32
    /// The file's size without patches after its end.
    private let ownSize: Int
    /// Bytes that replace those of the file, or follow them.
    private let patches: [Patch]
    /// The floats that the integers of its pages stand for, if they are not integers.
    let floats: [Int: FloatTIFF.Samples]
    private var position = 0
    private(set) var failure: Int32?
    /// Whether it was handed over. Then this process may not be able to open it by any name.
    private let isHanded: Bool
    /// A copy in memory, for a library that opens files by names; −1 for none.
    private var copy: Int32 = -1
    private var isOpenedByName = false

    /// - Parameter name: the file's name for messages; nil for its path.
    package init(
        path: String, name: String? = nil, openedBy opener: FileOpener = FileOpener()
    ) throws(ImageFileError) {
        self.path = name ?? path
        let opened: FileOpener.Opened
        do {
            opened = try opener.open(path, O_RDONLY | O_NONBLOCK)  // non-blocking, so that a pipe does not hang
        } catch {
            throw ImageFileError(path: self.path, .open, errno: error.code)
        }
        isHanded = opened.isHanded
        let descriptor = opened.descriptor
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

    /// A file in memory.
    ///
    /// - Parameter name: its name for messages.
    init(_ bytes: [UInt8], name: String) throws(ImageFileError) {
        path = name
        descriptor = MemoryFile.create()
        guard descriptor >= 0 else { throw ImageFileError(path: name, .open, errno: errno) }
        isHanded = true
        size = bytes.count
        ownSize = size
        patches = []
        floats = [:]
        do {
            try FileOpener.write(bytes, to: descriptor, at: 0)
        } catch {
            throw ImageFileError(path: name, .read, errno: error.code)
        }
    }

    /// Replacement bytes at an offset.
    struct Patch {
        let offset: Int
        let bytes: [UInt8]
    }

    /// The same file with other bytes at some offsets, some of which may follow its end.
    init(_ file: InputFile, patches: [Patch], floats: [Int: FloatTIFF.Samples]? = nil) throws(ImageFileError) {
        path = file.path
        descriptor = fcntl(file.descriptor, F_DUPFD_CLOEXEC, 3)
        guard descriptor >= 0 else { throw ImageFileError(path: file.path, .open, errno: errno) }
        isHanded = file.isHanded
        size = patches.reduce(file.size) { max($0, $1.offset + $1.bytes.count) }
        ownSize = file.ownSize
        self.patches = file.patches + patches
        self.floats = floats ?? file.floats
    }

    deinit {
        close(descriptor)
        if copy >= 0 { close(copy) }
    }

    /// A name by which this file can be opened again while it is open here. A file that was handed over is copied into
    /// memory, because only the copy can be opened where this process is kept from opening files.
    ///
    /// A library that opens the file may report a disk failure as damage. ``findFailure()`` finds out.
    func openName() throws(ImageFileError) -> String {
        isOpenedByName = true
        guard isHanded else { return "/proc/self/fd/\(descriptor)" }
        if copy < 0 { try copyIntoMemory() }
        return "/proc/self/fd/\(copy)"
    }

    private func copyIntoMemory() throws(ImageFileError) {
        let memory = MemoryFile.create()
        guard memory >= 0 else { throw ImageFileError(path: path, .open, errno: errno) }
        var isWhole = false
        defer { if !isWhole { close(memory) } }
        let portion = 1 << 20
        for offset in stride(from: 0, to: ownSize, by: portion) {
            // If the file has become shorter, the copy is shorter, too.
            guard let bytes = bytes(in: offset..<min(ownSize, offset + portion)) else { break }
            do {
                try FileOpener.write(bytes, to: memory, at: offset)
            } catch {
                throw ImageFileError(path: path, .read, errno: error.code)
            }
        }
        if let failure { throw ImageFileError(path: path, .read, errno: failure) }
        isWhole = true
        copy = memory
    }

    /// The system error after a library could not read the file, if there was one. If the library opened the file itself, the
    /// whole file is read again.
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

    /// The number of the open file in this process, for a process that decodes it.
    package var number: Int32 { descriptor }

    /// Some of the file's bytes. Nil after a failure, or if the file is shorter.
    func bytes(in range: Range<Int>) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: range.count)
        let count = result.withUnsafeMutableBytes { transfer(into: $0, at: range.lowerBound) }
        return count == range.count ? result : nil
    }

    /// Reads from the current position. Returns the number of bytes, 0 at the end, −1 after a failure.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let count = transfer(into: buffer, at: position)
        position += max(0, count)
        return count
    }

    /// Moves the position as `lseek` does. Returns the new position, or −1.
    func seek(to offset: Int, from whence: Int32) -> Int {
        guard let target = Self.position(offset, from: whence, now: position, size: size) else { return -1 }
        position = target
        return target
    }

    /// The arithmetic of `lseek`. Returns nil if the result would be negative, or `whence` is not valid.
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

    /// - Parameter count: the number of bytes that the file had.
    private func patched(_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int, _ count: Int) -> Int {
        // If the file has become shorter, reading ends there.
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

    /// The bytes, followed by a zero if the count is odd, as TIFF, RIFF and Photoshop's resources require.
    var paddedToEven: [UInt8] { count.isMultiple(of: 2) ? self : self + [0] }
}
