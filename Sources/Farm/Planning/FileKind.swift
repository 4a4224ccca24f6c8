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

    /// Why nobody can tell whether anything is at a path: this user may not search a folder on the way there, or a disk or a server
    /// does not answer. Nil where something is, or nothing.
    static func trouble(at path: [UInt8]) -> Int32? {
        var found = stat()
        return stat(cPath(path), &found) == 0 ? nil : trouble(errno)
    }

    /// An answer of the system, as in `errno.h`, if it does not mean that nothing is there.
    static func trouble(_ code: Int32) -> Int32? {
        [ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG].contains(code) ? nil : code
    }

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
