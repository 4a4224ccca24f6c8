import Digests
import Glibc
import ImageFiles
import JobModel
import WorkerProtocol

/// An input that a task reads. It stays open, so that a replacement of the file at its path is detected afterwards.
final class SourceFile {
    /// For people.
    let path: String
    private let bytes: [UInt8]
    private let descriptor: Int32
    private let stamp: FileStamp
    private let isRegular: Bool

    /// - Throws: A failure of the input, with a decoder's words.
    init(_ path: String, bytes: [UInt8]?) throws {
        self.path = path
        self.bytes = (bytes ?? Array(path.utf8)) + [0]
        // Without O_NONBLOCK a pipe would block here.
        descriptor = Self.withCString(self.bytes) { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
        guard descriptor >= 0 else { throw ImageFileError(path: path, opening: errno) }
        var found = stat()
        guard fstat(descriptor, &found) == 0 else {
            let code = errno
            close(descriptor)
            throw ImageFileError(path: path, opening: code)
        }
        stamp = FileStamp(found)
        isRegular = found.st_mode & S_IFMT == S_IFREG
    }

    deinit {
        // The number may belong to another file by now.
        if isOpen { close(descriptor) }
    }

    /// False if foreign code has closed the file.
    var isOpen: Bool {
        var found = stat()
        // A file that a server has lost is still open.
        guard fstat(descriptor, &found) == 0 else { return errno != EBADF }
        return FileStamp(found).identity == stamp.identity
    }

    /// A UTF-8 name by which this very file can be opened.
    var openName: String { "/proc/self/fd/\(descriptor)" }

    /// True if the path has another file now, or none, or if the file's stamp has changed.
    var hasChanged: Bool {
        var found = stat()
        guard Self.withCString(bytes, { stat($0, &found) }) == 0 else { return true }
        let now = FileStamp(found)
        return now.identity != stamp.identity || !now.isUntouched(since: stamp)
    }

    func isUntouched(since earlier: FileStamp) -> Bool { stamp.isUntouched(since: earlier) }

    /// Reads the whole file. A pipe or a device would never end.
    func facts() throws -> FileFacts {
        guard isRegular else { throw TaskFailure(.input, "\(path): is no regular file") }
        do throws(DigestFileError) {
            return FileFacts(stamp: trustedStamp, digest: try Digest(ofFileAt: openName))
        } catch {
            throw ImageFileError(path: path, reading: error.code)
        }
    }

    /// A stamp that shows any later change.
    var trustedStamp: FileStamp { stamp.ifOlder(than: Self.clockGrain, now: Self.now) }

    /// Time stamps of file systems have steps of up to two seconds. Within a step a second change may not show.
    private static let clockGrain: Int64 = 2_000_000_000

    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileStamp.nanoseconds(seconds: time.tv_sec, and: time.tv_nsec)
    }

    private static func withCString<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<CChar>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { chars in
                guard let start = chars.baseAddress else { preconditionFailure("a path has its end at least") }
                return body(start)
            }
        }
    }
}

extension FileStamp {
    init(_ found: stat) {
        func nanoseconds(_ time: timespec) -> Int64 {
            FileStamp.nanoseconds(seconds: time.tv_sec, and: time.tv_nsec)
        }
        self.init(
            device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: Int(found.st_size),
            modified: nanoseconds(found.st_mtim), changed: nanoseconds(found.st_ctim))
    }

    /// The stamp. If it is too recent, its time is replaced by one that equals no other.
    fileprivate func ifOlder(than age: Int64, now: Int64) -> FileStamp {
        modified < now.subtractingReportingOverflow(age).partialValue
            ? self : FileStamp(device: device, inode: inode, size: size, modified: 0, changed: changed)
    }
}
