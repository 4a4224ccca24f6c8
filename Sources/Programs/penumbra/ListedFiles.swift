import FoundationEssentials
import Glibc

/// Reads what `--files-from` names.
enum ListedFiles {
    /// - Parameter path: `-` for the standard input.
    static func read(_ path: String) throws(CommandError) -> [UInt8] {
        let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw trouble(path) }
        defer { if path != "-" { close(descriptor) } }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw trouble(path) }
            guard count > 0 else { return bytes }
            bytes += buffer.prefix(count)
        }
    }

    private static func trouble(_ path: String) -> CommandError {
        CommandError(
            .missingInput, "\(path): the list of files cannot be read: \(String(cString: strerror(errno)))")
    }
}
