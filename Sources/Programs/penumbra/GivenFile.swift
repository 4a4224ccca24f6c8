import Glibc
import Scheduling

/// A file that the user has named: a manifest, or a list of files. It may be a pipe that somebody writes to as long as he
/// likes. A signal ends the wait.
enum GivenFile {
    enum Trouble: Error {
        /// The file system's error number.
        case system(Int32)
        case signal(Int32)

        /// - Parameter words: from the system's own to the message.
        func error(_ words: (String) -> String) -> CommandError {
            switch self {
            case .system(let code): CommandError(.missingInput, words(String(cString: strerror(code))))
            case .signal(let number):
                CommandError(
                    ExitStatus(rawValue: 128 + number) ?? .terminated,
                    SummaryText.describe(.interrupted(signal: number)))
            }
        }
    }

    /// How often a signal is looked for while nothing comes, in milliseconds.
    private static let pause: Int32 = 100

    /// - Parameters:
    ///   - path: `-` for the standard input.
    ///   - limit: so many bytes at most; what follows is left out.
    static func read(_ path: String, limit: Int) throws(Trouble) -> [UInt8] {
        // Whoever opens a pipe would wait for its other end.
        let isInput = path == "-"
        let descriptor = isInput ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(errno) }
        defer { if !isInput { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            var asked = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&asked, 1, pause) > 0 else {
                // Who has what to read does not wait: a signal then ends what is done with it.
                if let signal = Signals.received { throw .signal(signal) }
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
