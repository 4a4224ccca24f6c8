import Glibc
package import JobModel
import SafeFiles

extension FileStamp {
    /// Of a file that has one name in its file system; nil for everything else. Links are not followed.
    static func onlyName(of file: InputFile) -> Identity? {
        var found = stat()
        guard lstat(cPath(file.exactPath), &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_nlink == 1 else {
            return nil
        }
        return FileStamp(found).identity
    }

    /// Of what lies at a path, following links; nil when nothing does.
    ///
    /// Of a folder, `size` is that of its own entry: what it holds is not looked at.
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

    /// The stamps of many paths, read on several threads: one takes a microsecond or, over a network, a thousand.
    package static func ofEach(_ paths: [String]) -> [FileStamp?] {
        concurrentMap(paths) { FileStamp(of: $0) }
    }

    package static func ofEach(_ inputs: [InputFile]) -> [FileStamp?] {
        concurrentMap(inputs) { FileStamp(of: $0) }
    }
}
