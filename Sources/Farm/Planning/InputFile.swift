/// One input file of a job.
package struct InputFile: Hashable, Sendable {
    /// Absolute, without `.` and `..`. Symbolic links are not resolved.
    ///
    /// Always readable: a byte that is not UTF-8 appears as `%E9`, so that names of outputs are always UTF-8.
    package let path: String
    /// The path as the file system has it, if it is not UTF-8. Nil if `path` is exact.
    package let bytes: [UInt8]?
    /// The folders below the fixed part of the pattern that found the file: empty or `a/b`.
    package let dir: String

    package init(path: String, dir: String) {
        self.path = path
        self.bytes = nil
        self.dir = dir
    }

    /// - Parameter bytes: The path as the file system has it, absolute and without `.` and `..`.
    package init(bytes: [UInt8], dir: String) {
        let text = String(validating: bytes, as: UTF8.self)
        path = text ?? NonUTF8Name.readable(bytes)
        self.bytes = text == nil ? bytes : nil
        self.dir = dir
    }

    /// - Parameters:
    ///   - argument: A path of a command line, as the system has it.
    ///   - folder: The absolute path that a relative one starts from.
    package init(argument: [UInt8], in folder: String) {
        self.init(bytes: PathBytes.normalized(argument, in: Array(folder.utf8)), dir: "")
    }

    /// Also false if it is unknown whether the file exists.
    package var isMissing: Bool { FileKind(of: self) == nil && FileKind.trouble(at: exactPath) == nil }

    /// The path that identifies the file. Two different names may look the same to a reader or to Unicode.
    package var exactPath: [UInt8] { bytes ?? Array(path.utf8) }

    /// Compares the readable paths' bytes, and the exact paths if those are equal.
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
