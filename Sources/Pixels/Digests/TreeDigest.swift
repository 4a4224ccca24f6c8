import Glibc
package import JobModel

/// A folder's content: the names and bytes of all files in it.
package struct TreeDigest: Hashable, Sendable {
    package let digest: Digest
    /// Of all files.
    package let bytes: Int

    /// - Throws: also for what is neither a file nor a folder.
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

    /// Paths below the folder, sorted; of files and what is not a folder.
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
