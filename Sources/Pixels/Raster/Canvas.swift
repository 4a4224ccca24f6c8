public import Catalogs
package import FileAccess
public import Geometry
import Glibc

/// The meaning of a canvas's bytes. The file itself has no header; the process that created it stores this value.
public struct CanvasHeader: Hashable, Sendable, Codable {
    public let rect: PixelRect
    public let layout: PixelLayout
    public let format: SampleFormat

    public init(rect: PixelRect, layout: PixelLayout, format: SampleFormat) {
        self.rect = rect
        self.layout = layout
        self.format = format
    }

    public var pixelBytes: Int { layout.channels * format.bytes }
    public var rowBytes: Int { rect.width * pixelBytes }
    public var bytes: Int { rect.height * rowBytes }
}

/// The decoded pixels of one image in a file: its rows from the top down, interleaved, without padding, in the
/// machine's byte order.
///
/// It is written in bands and read in rectangles, by pread and pwrite, because a mapping would turn a disk error into a
/// signal. It is closed with the last reference. Threads may read and write at once. A reader must wait for the writer of the
/// same pixels.
public final class Canvas: Sendable {
    public let header: CanvasHeader
    private let file: CanvasFile

    /// Creates a new file and reserves all its bytes (zeros), so that a full disk causes an error here, and not later. Throws
    /// an error if the file exists. No file is left after an error.
    public init(creating path: String, header: CanvasHeader) throws(CanvasError) {
        self.header = header
        file = try CanvasFile(creating: path, bytes: header.bytes, opener: FileOpener())
    }

    /// The same, with a file that may have been handed over. Then it is not removed after an error.
    package init(creating path: String, header: CanvasHeader, openedBy opener: FileOpener) throws(CanvasError) {
        self.header = header
        file = try CanvasFile(creating: path, bytes: header.bytes, opener: opener)
    }

    /// Opens a file that has exactly the header's bytes.
    public init(opening path: String, header: CanvasHeader, writable: Bool = false) throws(CanvasError) {
        self.header = header
        file = try CanvasFile(opening: path, bytes: header.bytes, writable: writable)
    }

    public var path: String { file.path }

    /// Writes a part of the picture; whole rows take one call to the system.
    ///
    /// - Precondition: `part` lies in the picture and has its layout and sample format.
    public func write(_ part: AnyRaster) throws(CanvasError) {
        precondition(
            header.rect.contains(part.rect) && part.layout == header.layout && part.format == header.format,
            "what is written fits the canvas")
        let pieces = pieces(of: part.rect)
        let result: Result<Void, CanvasError> = part.withBytes { bytes in
            bytes.withUnsafeBytes { buffer in
                Result { () throws(CanvasError) in
                    for piece in pieces { try file.write(.init(rebasing: buffer[piece.memory]), at: piece.offset) }
                }
            }
        }
        try result.get()
    }

    /// Reads a part of the picture; whole rows take one call to the system, others one for each row.
    ///
    /// - Precondition: `part` lies in the picture.
    public func read(_ part: PixelRect) throws(CanvasError) -> AnyRaster {
        precondition(header.rect.contains(part), "what is read lies in the canvas")
        switch header.format {
        case .u8: return .u8(try raster(part))
        case .u16: return .u16(try raster(part))
        case .f32: return .f32(try raster(part))
        }
    }

    /// Waits until all written bytes are on the disk.
    public func flush() throws(CanvasError) { try file.flush() }

    private func raster<Sample: PixelSample>(_ part: PixelRect) throws(CanvasError) -> Raster<Sample> {
        let pieces = pieces(of: part)
        var failure: CanvasError?
        let samples = [Sample](unsafeUninitializedCapacity: part.area * header.layout.channels) { buffer, count in
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            do throws(CanvasError) {
                for piece in pieces { try file.read(.init(rebasing: bytes[piece.memory]), at: piece.offset) }
                count = part.area * header.layout.channels
            } catch {
                failure = error  // no sample counts as initialised, so the array is empty
            }
        }
        if let failure { throw failure }
        return Raster(rect: part, layout: header.layout, samples: samples)
    }

    /// Bytes that are contiguous in the file and in a raster.
    private struct Piece {
        let offset: Int
        let memory: Range<Int>
    }

    private func pieces(of part: PixelRect) -> [Piece] {
        guard !part.isEmpty else { return [] }
        let first = (part.y - header.rect.y) * header.rowBytes + (part.x - header.rect.x) * header.pixelBytes
        if part.width == header.rect.width { return [Piece(offset: first, memory: 0..<part.height * header.rowBytes)] }
        let count = part.width * header.pixelBytes
        return (0..<part.height).map {
            Piece(offset: first + $0 * header.rowBytes, memory: $0 * count..<($0 + 1) * count)
        }
    }
}

/// An open file that is read and written at byte offsets, always with complete requests.
///
/// It uses no file position, so several threads may read and write at once.
struct CanvasFile: ~Copyable, Sendable {
    let path: String
    private let descriptor: Int32  // owned: closed once, in deinit

    /// Creates a new file of `bytes` bytes and reserves its blocks, so that writing never fails because of a full disk.
    ///
    /// An existing file is an error. After a failure no file is left, unless it was handed over.
    init(creating path: String, bytes: Int, opener: FileOpener) throws(CanvasError) {
        self.path = path
        let opened = Self.create(path, opener)
        descriptor = opened.descriptor
        guard descriptor >= 0 else { throw Self.error(.create, path, opened.code) }
        var code: Int32 = 0
        repeat { code = bytes == 0 ? 0 : posix_fallocate(descriptor, 0, bytes) } while code == EINTR
        guard code == 0 else {
            if !opened.isHanded { unlink(path) }  // it was just created and is empty
            throw Self.error(.allocate, path, code)
        }
    }

    /// - Returns: descriptor −1 and an error code if the file cannot be created.
    private static func create(
        _ path: String, _ opener: FileOpener
    ) -> (descriptor: Int32, isHanded: Bool, code: Int32) {
        do {
            let opened = try opener.open(path, O_RDWR | O_CREAT | O_EXCL, mode: 0o644)
            return (opened.descriptor, opened.isHanded, 0)
        } catch {
            return (-1, false, error.code)
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

    /// Fills `bytes` from `offset` on. A shorter file is an error.
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

    /// Waits until all written bytes are on the disk.
    func flush() throws(CanvasError) {
        while fdatasync(descriptor) != 0 {
            guard errno == EINTR else { throw Self.error(.flush, path, errno) }
        }
    }

    private static func error(_ step: CanvasError.Step, _ path: String, _ code: Int32) -> CanvasError {
        CanvasError(path: path, problem: .system(step, code: code))
    }
}

/// A canvas file that could not be created, read or written.
public struct CanvasError: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Problem: Hashable, Sendable {
        /// The system call failed; `code` is as in `errno.h`.
        case system(Step, code: Int32)
        /// The file has fewer or more bytes than the picture.
        case wrongSize(bytes: Int, expected: Int)
    }

    public enum Step: String, Hashable, Sendable {
        case create
        case allocate
        case open
        case read
        case write
        case flush
    }

    public let path: String
    public let problem: Problem

    public init(path: String, problem: Problem) {
        self.path = path
        self.problem = problem
    }

    public var description: String {
        switch problem {
        case .system(let step, let code):
            "cannot \(step.rawValue) the canvas \(path): \(String(cString: strerror(code)))"
        case .wrongSize(let bytes, let expected):
            "the canvas \(path) has \(bytes) bytes, but its picture has \(expected)"
        }
    }
}
