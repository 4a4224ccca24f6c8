import Coordination
import Glibc
import JobModel
import Planning
import Scheduling

/// A file that the user has named: a manifest, or a list of files. It may be a pipe that somebody writes to as long as he
/// likes. A signal ends the wait.
enum InputArgument {
    enum Trouble: Error {
        /// The file system's error number.
        case system(Int32)
        case stopped(StopReason)

        /// - Parameter words: from the system's own to the message.
        func error(_ words: (String) -> String) -> FarmError {
            switch self {
            case .system(let code): FarmError(.missingInput, words(String(cString: strerror(code))))
            case .stopped(let reason): FarmError(RunOutcome(reason), StopWords.describe(reason))
            }
        }
    }

    /// How often a signal is looked for while nothing comes, in milliseconds.
    private static let pause: Int32 = 100

    /// - Parameters:
    ///   - path: `-` for the standard input.
    ///   - folder: where a relative path starts.
    ///   - limit: so many bytes at most; what follows is left out.
    package static func read(_ path: String, in folder: String, limit: Int, control: RunControl?) throws(Trouble)
        -> [UInt8]
    {
        // Whoever opens a pipe would wait for its other end.
        let isInput = path == "-"
        let descriptor =
            isInput
            ? STDIN_FILENO : open(PathText.normalized(path, in: folder), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(errno) }
        defer { if !isInput { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&asked, 1, pause) > 0 else {
                // Who has what to read does not wait: a signal then ends what is done with it.
                if let reason = control?.stop { throw .stopped(reason) }
                continue
            }
            let count = Glibc.read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else { throw .system(errno) }
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
        return bytes
    }
}
