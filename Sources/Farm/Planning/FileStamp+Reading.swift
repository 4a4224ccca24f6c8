package import Glibc
package import JobModel

extension FileStamp {
    /// The identity of a regular file with one hard link. Nil for everything else. Links are not followed.
    static func onlyName(of file: InputFile) -> Identity? {
        var found = stat()
        guard lstat(cPath(file.exactPath), &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_nlink == 1 else {
            return nil
        }
        return FileStamp(found).identity
    }

    /// The stamp of what a path leads to. Follows links. Nil if nothing exists there.
    ///
    /// The `size` of a folder is that of its own entry, without its contents.
    package init?(of path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        self.init(found)
    }

    /// The same for a path that may not be UTF-8.
    package init?(of path: [UInt8]) {
        var found = stat()
        guard stat(cPath(path), &found) == 0 else { return nil }
        self.init(found)
    }

    package init?(of input: InputFile) {
        if let bytes = input.bytes { self.init(of: bytes) } else { self.init(of: input.path) }
    }

    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int(status.st_size),
            modified: status.st_mtim.nanoseconds, changed: status.st_ctim.nanoseconds)
    }

    /// The stamps of many paths, read on several threads. One stamp takes a microsecond, or a thousand over a network.
    package static func ofEach(_ paths: [String]) -> [FileStamp?] {
        concurrentMap(paths) { FileStamp(of: $0) }
    }

    package static func ofEach(_ inputs: [InputFile]) -> [FileStamp?] {
        concurrentMap(inputs) { FileStamp(of: $0) }
    }
}

extension timespec {
    /// Nanoseconds since 1970, as stamps store them.
    package var nanoseconds: Int64 { FileStamp.nanoseconds(seconds: tv_sec, and: tv_nsec) }
}
