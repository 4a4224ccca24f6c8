package import Glibc

/// An open file of a ``SafeFolder``. It is closed after its last use.
package struct SafeFile: ~Copyable {
    /// The file's name in messages.
    package let path: String
    package let descriptor: Int32

    /// Takes ownership of the descriptor.
    init(_ path: String, _ descriptor: Int32) { (self.path, self.descriptor) = (path, descriptor) }

    /// A file that was opened elsewhere with the same care.
    package init(taking descriptor: Int32, _ path: String) { self.init(path, descriptor) }

    deinit { close(descriptor) }

    package func status() throws(FileTrouble) -> stat {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw FileTrouble(path: path, code: errno, action: "look at") }
        return found
    }

    /// The next bytes, at most this number. Empty at the end.
    package func next(_ most: Int = 1 << 18) throws(FileTrouble) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            var found = read(descriptor, buffer.baseAddress, most)
            while found < 0, errno == EINTR { found = read(descriptor, buffer.baseAddress, most) }
            if found < 0 { failure = errno }
            count = max(0, found)
        }
        guard failure == 0 else { throw FileTrouble(path: path, code: failure, action: "read") }
        return bytes
    }

    package func append(_ bytes: [UInt8]) throws(FileTrouble) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw FileTrouble(path: path, code: count < 0 ? errno : ENOSPC, action: "write")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until the disk has the file.
    package func sync() throws(FileTrouble) {
        guard fsync(descriptor) == 0 else { throw FileTrouble(path: path, code: errno, action: "sync") }
    }
}
