import CXXHash
package import FileAccess
package import Glibc
package import JobModel

/// A file that could not be read to its end.
package struct DigestFileError: Error, Hashable, Sendable, CustomStringConvertible {
    package let path: String
    /// The error code, as in `errno.h`.
    package let code: Int32

    package var description: String { "cannot read \(path): \(String(cString: strerror(code)))" }
}

extension Digest {
    /// The most bytes that are read at once. They stay in the second-level cache until they are digested.
    private static let readBytes = 256 << 10

    /// The digest of a file's content, read with a small buffer, whatever the file's size. A pipe is an error.
    package init(ofFileAt path: String, openedBy opener: FileOpener = FileOpener()) throws(DigestFileError) {
        let descriptor: Int32
        do {
            descriptor = try opener.open(path, O_RDONLY).descriptor
        } catch {
            throw DigestFileError(path: path, code: error.code)
        }
        defer { close(descriptor) }
        var found = stat()
        // To clear a large buffer takes longer than to read a small file.
        let size = fstat(descriptor, &found) == 0 ? max(0, min(Int(found.st_size), Self.readBytes)) : Self.readBytes
        var buffer = [UInt8](repeating: 0, count: max(4096, size))
        var stream = DigestStream()
        var position = 0
        while true {
            let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(position)) }
            if count == 0 { break }
            if count > 0 {
                stream.update(buffer.span.bytes.extracting(0..<count))
                position += count
            } else if errno != EINTR {
                throw DigestFileError(path: path, code: errno)
            }
        }
        self = stream.digest()
    }
}

/// A folder's content: the names and bytes of all files in it.
package struct TreeDigest: Hashable, Sendable {
    package let digest: Digest
    /// The bytes of all files.
    package let bytes: Int

    /// - Throws: an error also for an entry that is neither a file nor a folder.
    package init(ofFolderAt path: String) throws(DigestFileError) {
        var stream = DigestStream()
        var bytes = 0
        for file in try Self.files(in: path, under: "") {
            let full = "\(path)/\(file)"
            var found = stat()
            guard lstat(full, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
                throw DigestFileError(path: full, code: errno == 0 ? EINVAL : errno)
            }
            bytes += Int(found.st_size)
            stream.update(Array("\(file)\0\(found.st_size)\0\(try Digest(ofFileAt: full))\0".utf8).span.bytes)
        }
        digest = stream.digest()
        self.bytes = bytes
    }

    /// The sorted paths below the folder, of files and of other entries that are not folders.
    package static func files(in path: String, under prefix: String) throws(DigestFileError) -> [String] {
        guard let stream = opendir(path) else { throw DigestFileError(path: path, code: errno) }
        defer { closedir(stream) }
        var result: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name == "." || name == ".." { continue }
            var found = stat()
            let isFolder = lstat("\(path)/\(name)", &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
            result += isFolder ? try files(in: "\(path)/\(name)", under: prefix + name + "/") : [prefix + name]
        }
        return result.sorted()
    }
}

/// Computes one XXH3-128 digest of bytes that arrive in pieces. The digest does not depend on the pieces.
package struct DigestStream: ~Copyable {
    private let state: OpaquePointer  // owned: made in init, freed in deinit

    package init() {
        guard let state = XXH3_createState() else { preconditionFailure("no memory for 576 bytes") }
        XXH3_128bits_reset(state)
        self.state = state
    }

    deinit { XXH3_freeState(state) }

    package mutating func update(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { _ = xxh3_128bits_add(state, $0.baseAddress, $0.count) }
    }

    /// The digest of all bytes so far; more may follow.
    package func digest() -> Digest {
        let hash = XXH3_128bits_digest(state)
        return Digest(high: hash.high64, low: hash.low64)
    }
}

extension Digest {
    /// The digest of digests, 16 bytes each, in the order of their hexadecimal digits.
    package init(of digests: [Digest]) {
        var stream = DigestStream()
        for digest in digests {
            let words = [digest.high.bigEndian, digest.low.bigEndian]
            stream.update(words.span.bytes)
        }
        self = stream.digest()
    }

    /// The digest of contiguous bytes.
    package init(of bytes: RawSpan) {
        var stream = DigestStream()
        stream.update(bytes)
        self = stream.digest()
    }
}

extension FileStamp {
    /// The stamp in the system's information about a file.
    package init(_ found: stat) {
        func nanoseconds(_ time: timespec) -> Int64 { FileStamp.nanoseconds(seconds: time.tv_sec, and: time.tv_nsec) }
        self.init(
            device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: Int(found.st_size),
            modified: nanoseconds(found.st_mtim), changed: nanoseconds(found.st_ctim))
    }
}
