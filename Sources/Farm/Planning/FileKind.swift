import Glibc

/// What lies at a path.
enum FileKind: Hashable, Sendable {
    case file
    case folder
    case other

    /// Follows links; nil when nothing is there.
    init?(of path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        self.init(mode: found.st_mode)
    }

    init?(of input: InputFile) {
        var found = stat()
        guard stat(cPath(input.exactPath), &found) == 0 else { return nil }
        self.init(mode: found.st_mode)
    }

    /// This user may not search a folder on the way to a path: whether anything is there, nobody can tell.
    static func isForbidden(_ path: [UInt8]) -> Bool {
        var found = stat()
        return stat(cPath(path), &found) != 0 && errno == EACCES
    }

    /// In the words of the system.
    static var forbidden: String { String(cString: strerror(EACCES)) }

    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        default: self = .other
        }
    }
}

/// A path as functions of the C library take it.
func cPath(_ path: [UInt8]) -> [CChar] {
    path.map { CChar(bitPattern: $0) } + [0]
}
