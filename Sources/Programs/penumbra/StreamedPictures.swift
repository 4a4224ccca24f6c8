import Coordination
import Glibc
import JobModel
import Planning
import RenderFarm
import SafeFiles
import Scheduling

/// A picture from the standard input, or for the standard output.
///
/// Workers read and write files, so each picture is a file in a temporary folder meanwhile.
struct StreamedPictures {
    private let folder: TemporaryFolder

    /// - Parameter place: an existing folder; nil for the usual one.
    init(in place: String?) throws(FarmError) {
        folder = try TemporaryFolder(
            in: place ?? TemporaryFolder.standardPlace, named: "penumbra-apply",
            remedy: "name another folder by --scratch")
    }

    /// Saves the standard input as a file, and returns its path. The file's name has the usual extension of its format, because names of
    /// outputs may repeat it.
    func saveInput(_ control: RunControl) async throws(FarmError) -> String {
        guard isatty(STDIN_FILENO) == 0 else {
            throw FarmError(.usage, "-: the standard input is a terminal\n   = send it a picture, as in '< photo.jpg'")
        }
        let path = "\(folder.path)/standard-input"
        try await Blocking.run { () throws(FarmError) in try Self.copyInput(to: path, control) }
        guard let ext = Self.fileExtension(at: path), rename(path, "\(path).\(ext)") == 0 else { return path }
        return "\(path).\(ext)"
    }

    /// The path of a file whose contents ``sendOutput(at:)`` sends.
    func outputPath(extension ext: String) -> String { "\(folder.path)/standard-output.\(ext)" }

    /// Writes the file's contents to the standard output. A reader that has closed its end is no failure.
    func sendOutput(at path: String) async throws(FarmError) {
        try await Blocking.run { () throws(FarmError) in
            // A worker wrote the file, and it may be a link by now.
            let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard file >= 0 else { throw Self.error("standard output: the picture cannot be read again") }
            defer { close(file) }
            do throws(CopyError) {
                try Self.copy(from: file, to: STDOUT_FILENO, nil)
            } catch {
                if case .system(EPIPE) = error { return }
                throw Self.error("standard output cannot be written", error)
            }
        }
    }

    /// The usual extension of a file's format, by its contents. Nil if Penumbra does not read it.
    static func fileExtension(at path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var head = [UInt8](repeating: 0, count: FileSignature.length)
        let count = read(file, &head, head.count)
        return FileSignature.fileExtension(of: Array(head.prefix(max(0, count))))
    }

    private static func copyInput(to path: String, _ control: RunControl) throws(FarmError) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw error("the standard input cannot be saved") }
        defer { close(file) }
        let count: Int
        do throws(CopyError) {
            count = try copy(from: STDIN_FILENO, to: file, control)
        } catch {
            if case .stopped(let reason) = error { throw FarmError(RunOutcome(reason), reason.message()) }
            throw Self.error("the standard input cannot be saved", error)
        }
        guard count > 0 else {
            throw FarmError(
                .missingInput, "-: the standard input is empty\n   = send it a picture, as in '< photo.jpg'")
        }
    }

    private enum CopyError: Error {
        /// The file system's error number.
        case system(Int32)
        case stopped(StopReason)
    }

    /// How often a stop is looked for while nothing comes, in milliseconds.
    private static let pause: Int32 = 100

    /// Copies bytes to their end, and returns their number.
    @discardableResult
    private static func copy(from source: Int32, to target: Int32, _ control: RunControl?) throws(CopyError) -> Int {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        var total = 0
        while true {
            if let reason = control?.stop { throw .stopped(reason) }
            var asked = pollfd(fd: source, events: Int16(POLLIN), revents: 0)
            guard poll(&asked, 1, pause) > 0 else { continue }
            let count = read(source, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw .system(errno) }
            guard count > 0 else { return total }
            total += count
            let code = FileCalls.kernel.writeAll(buffer[..<count], to: target)
            guard code == 0 else { throw .system(code) }
        }
    }

    private static func error(_ words: String, _ cause: CopyError = .system(errno)) -> FarmError {
        guard case .system(let code) = cause else { return FarmError(.storage, words) }
        return FarmError(.storage, "\(words): \(String(cString: strerror(code)))")
    }
}
