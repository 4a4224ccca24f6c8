import ContentNames
import Glibc

/// The SHA-256 of files that are not trusted.
package enum SHA256 {
    private static let chunk = 1 << 16

    /// 64 hexadecimal digits. Nil if the file is not regular, or cannot be read.
    package static func digest(ofFile path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)  // Does not wait for a pipe without a writer.
        guard file >= 0 else { return nil }
        defer { close(file) }
        return digest(ofDescriptor: file)
    }

    /// The same for an open file, from its current position.
    package static func digest(ofDescriptor file: Int32) -> String? {
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard var stream = SHA256Stream() else { return nil }
        var buffer = [UInt8](repeating: 0, count: chunk)
        while true {
            let count = read(file, &buffer, chunk)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return nil }
            if count == 0 { return stream.finish() }
            buffer.withUnsafeBytes { stream.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
    }
}
