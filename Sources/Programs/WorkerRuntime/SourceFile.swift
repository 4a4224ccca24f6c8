import Digests
import Glibc
import ImageFiles
import JobModel
import WorkerProtocol

/// An input while a task reads it. It is held open, so that a change of the file at its path can be told afterwards.
final class SourceFile {
    /// For people.
    let path: String
    private let bytes: [UInt8]
    private let descriptor: Int32
    private let stamp: FileStamp
    private let isRegular: Bool

    /// - Throws: a failure of the input, in the words that a decoder has for it.
    init(_ path: String, bytes: [UInt8]?) throws {
        self.path = path
        self.bytes = (bytes ?? Array(path.utf8)) + [0]
        // Non-blocking: a pipe must not hang here.
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
        // Its number may be another file's by now.
        if isOpen { close(descriptor) }
    }

    /// False when somebody else's code has closed the file.
    var isOpen: Bool {
        var found = stat()
        // A file that a server has lost is open all the same.
        guard fstat(descriptor, &found) == 0 else { return errno != EBADF }
        return FileStamp(found).identity == stamp.identity
    }

    /// A name that is UTF-8 by which this very file can be opened.
    var openName: String { "/proc/self/fd/\(descriptor)" }

    /// True when another file is at the path now, or none, or the same one with other bytes.
    var hasChanged: Bool {
        var found = stat()
        guard Self.withCString(bytes, { stat($0, &found) }) == 0 else { return true }
        let now = FileStamp(found)
        return now.identity != stamp.identity || !now.isUntouched(since: stamp)
    }

    func isUntouched(since earlier: FileStamp) -> Bool { stamp.isUntouched(since: earlier) }

    /// Reads all of it. A pipe or a device would never end.
    func facts() throws -> FileFacts {
        guard isRegular else { throw TaskFailure(.input, "\(path): is no regular file") }
        do throws(DigestFileError) {
            return FileFacts(stamp: trustedStamp, digest: try Digest(ofFileAt: openName))
        } catch {
            throw ImageFileError(path: path, reading: error.code)
        }
    }

    /// By which a later change will show.
    var trustedStamp: FileStamp { stamp.ifOlder(than: Self.clockGrain, now: Self.now) }

    /// File systems tell times in steps of up to two seconds; so long, a second change may not show.
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

    /// With a time that equals no other where it is as young as that.
    fileprivate func ifOlder(than age: Int64, now: Int64) -> FileStamp {
        modified < now.subtractingReportingOverflow(age).partialValue
            ? self : FileStamp(device: device, inode: inode, size: size, modified: 0, changed: changed)
    }
}
