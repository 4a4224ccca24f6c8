import Glibc
import JobModel

/// The names in a folder. Unsafe pointers of the C library stay in this file.
struct DirectoryListing {
    struct Entry: Hashable, Sendable {
        /// As the file system has it. It may not be UTF-8.
        let name: [UInt8]
        let isSymbolicLink: Bool
        /// Of a symbolic link: the kind of its target.
        let kind: FileKind
        /// The entry is a link whose target does not exist.
        var leadsNowhere = false
        /// The system's error, if the kind of the entry or of its target is unknown.
        var trouble: Int32?
    }

    /// The entries sorted by name, without `.` and `..`. Only links, and entries without a kind, need a system call
    /// each.
    ///
    /// - Parameter folder: A path that may not be UTF-8.
    static func entries(of folder: [UInt8]) throws(UnreadableFolder) -> [Entry] {
        guard let stream = opendir(cPath(folder)) else { throw unreadable(folder) }
        return try entries(of: stream, folder)
    }

    fileprivate static func unreadable(_ folder: [UInt8]) -> UnreadableFolder {
        UnreadableFolder(path: folder, .folder, code: errno)
    }

    /// Takes ownership of the stream.
    fileprivate static func entries(of stream: OpaquePointer, _ folder: [UInt8]) throws(UnreadableFolder) -> [Entry] {
        defer { closedir(stream) }
        var result: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                // A failing disk must not look like the end of a folder: missing entries would look deleted.
                guard errno == 0 else { throw unreadable(folder) }
                break
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0[..<strnlen($0)]) }
            if name == [PathBytes.dot] || name == [PathBytes.dot, PathBytes.dot] { continue }
            result.append(describe(name, type: Int(entry.pointee.d_type), in: dirfd(stream)))
        }
        return result.sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    private static func strnlen(_ buffer: UnsafeRawBufferPointer) -> Int {
        buffer.firstIndex(of: 0) ?? buffer.count
    }

    private static func describe(_ name: [UInt8], type: Int, in folder: Int32) -> Entry {
        switch type {
        case DT_REG: return Entry(name: name, isSymbolicLink: false, kind: .file)
        case DT_DIR: return Entry(name: name, isSymbolicLink: false, kind: .folder)
        case DT_LNK, DT_UNKNOWN: break
        default: return Entry(name: name, isSymbolicLink: false, kind: .other)
        }
        let path = cPath(name)
        var own = stat()
        var target = stat()
        guard fstatat(folder, path, &own, AT_SYMLINK_NOFOLLOW) == 0 else {
            // No error here means that the entry was removed after it was listed.
            return Entry(
                name: name, isSymbolicLink: type == DT_LNK, kind: .other, trouble: FileKind.trouble(errno))
        }
        let isSymbolicLink = own.st_mode & S_IFMT == S_IFLNK
        guard fstatat(folder, path, &target, 0) == 0 else {
            let trouble = FileKind.trouble(errno)
            return Entry(
                name: name, isSymbolicLink: isSymbolicLink, kind: .other,
                leadsNowhere: isSymbolicLink && trouble == nil, trouble: trouble)
        }
        return Entry(name: name, isSymbolicLink: isSymbolicLink, kind: FileKind(mode: target.st_mode))
    }
}

/// An open folder. Its entries and subfolders are read through its descriptor, so that a change of its path does not
/// matter.
final class OpenFolder {
    private let descriptor: Int32
    private let path: [UInt8]
    let identity: FileStamp.Identity

    /// - Parameter path: A path that the user has named. Its links are the user's own, and are followed.
    convenience init(_ path: [UInt8]) throws(UnreadableFolder) {
        try self.init(taking: open(cPath(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC), path)
    }

    /// A folder in an open folder. A link in its place is refused.
    convenience init(_ name: [UInt8], in folder: OpenFolder) throws(UnreadableFolder) {
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        try self.init(
            taking: openat(folder.descriptor, cPath(name), flags), PathBytes.joined(folder.path, name))
    }

    private init(taking descriptor: Int32, _ path: [UInt8]) throws(UnreadableFolder) {
        guard descriptor >= 0 else { throw DirectoryListing.unreadable(path) }
        var found = stat()
        guard fstat(descriptor, &found) == 0 else {
            let problem = DirectoryListing.unreadable(path)
            close(descriptor)
            throw problem
        }
        (self.descriptor, self.path, identity) = (descriptor, path, FileStamp(found).identity)
    }

    deinit { close(descriptor) }

    /// The entries, as ``DirectoryListing/entries(of:)`` gives them.
    func entries() throws(UnreadableFolder) -> [DirectoryListing.Entry] {
        // The stream takes ownership of the descriptor and of its read offset, so it gets a descriptor of its own.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let problem = DirectoryListing.unreadable(path)
            if copy >= 0 { close(copy) }
            throw problem
        }
        return try DirectoryListing.entries(of: stream, path)
    }
}

/// The kind of what a path leads to.
enum FileKind: Hashable, Sendable {
    case file
    case folder
    case other

    /// Follows links. Nil if nothing exists there.
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

    /// Why it is unknown whether anything exists at a path: this user may not search a folder above it, or a disk or
    /// server does not answer.
    /// Nil if something exists there, or certainly nothing.
    static func trouble(at path: [UInt8]) -> Int32? {
        var found = stat()
        return stat(cPath(path), &found) == 0 ? nil : trouble(errno)
    }

    /// The system's error, as in `errno.h`. Nil if it means that nothing exists there.
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

/// A path in the form that functions of the C library take.
func cPath(_ path: [UInt8]) -> [CChar] {
    path.map { CChar(bitPattern: $0) } + [0]
}
