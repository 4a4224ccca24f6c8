import Glibc
import JobModel
import Planning

/// Files that a command was asked to write, where nothing was.
enum NewFile {
    /// - Parameters:
    ///   - what: it is, for messages: `the template`.
    ///   - option: by which it was named.
    /// - Throws: ``FarmError`` where something is there already, or it cannot be written; then nothing of it is left.
    static func write(_ text: String, to path: String, _ what: String, option: String) throws(FarmError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if descriptor < 0, errno == EEXIST {
            throw FarmError(.usage, "\(PathText.visible(path)): is there already; \(option) replaces no file")
        }
        guard descriptor >= 0 else { throw trouble(errno, path, what) }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = errno
                unlink(path)
                throw trouble(code, path, what)
            }
            rest = rest.dropFirst(count)
        }
    }

    private static func trouble(_ code: Int32, _ path: String, _ what: String) -> FarmError {
        FarmError(
            .storage, "\(PathText.visible(path)): \(what) cannot be saved: \(String(cString: strerror(code)))")
    }
}
