/// One file that a job takes in.
package struct InputFile: Hashable, Sendable {
    /// Absolute, without `.` and `..`; symbolic links are not resolved.
    ///
    /// Readable in any case: bytes that are not UTF-8 stand as `%E9`, so that outputs' names are always UTF-8.
    package let path: String
    /// The path as the file system has it where that is not UTF-8; nil where `path` says it all.
    package let bytes: [UInt8]?
    /// The folders below the fixed part of the pattern that found it; empty or `a/b`.
    package let dir: String

    package init(path: String, dir: String) {
        self.path = path
        self.bytes = nil
        self.dir = dir
    }

    /// - Parameter bytes: the path as the file system has it, absolute and without `.` and `..`.
    package init(bytes: [UInt8], dir: String) {
        let text = String(validating: bytes, as: UTF8.self)
        path = text ?? NonUTF8Name.readable(bytes)
        self.bytes = text == nil ? bytes : nil
        self.dir = dir
    }

    /// - Parameters:
    ///   - argument: a path on a command line, as the system has it.
    ///   - folder: the absolute path that a relative one starts from.
    package init(argument: [UInt8], in folder: String) {
        self.init(bytes: PathBytes.normalized(argument, in: Array(folder.utf8)), dir: "")
    }

    /// False, too, where nobody can tell.
    package var isMissing: Bool { FileKind(of: self) == nil && FileKind.trouble(at: exactPath) == nil }

    /// By what files are told apart: two names may be the same to a reader, or to Unicode, and be two files.
    package var exactPath: [UInt8] { bytes ?? Array(path.utf8) }

    /// By the readable paths' bytes, and by the exact ones where that is not enough.
    static func isInOrder(_ a: InputFile, _ b: InputFile) -> Bool {
        switch PathText.order(a.path, b.path) {
        case let order where order != 0: order < 0
        default: a.bytes != b.bytes && a.exactPath.lexicographicallyPrecedes(b.exactPath)
        }
    }

    func isSameFile(as other: InputFile) -> Bool {
        PathText.order(path, other.path) == 0 && bytes == other.bytes
    }
}
