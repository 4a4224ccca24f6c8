import Glibc
package import JobModel

/// A file that could not be read to its end.
package struct DigestFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    /// As in `errno.h`.
    package let code: Int32

    package var description: String { "cannot read \(path): \(String(cString: strerror(code)))" }
}

extension Digest {
    /// The digest of a file's content, read with a buffer of 1 MiB whatever the file's size.
    package init(ofFileAt path: String) throws(DigestFileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw DigestFileError(path: path, code: errno) }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        var stream = DigestStream()
        while true {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { break }
            if count > 0 {
                stream.update(buffer.span.bytes.extracting(0..<count))
            } else if errno != EINTR {
                throw DigestFileError(path: path, code: errno)
            }
        }
        self = stream.digest()
    }
}
