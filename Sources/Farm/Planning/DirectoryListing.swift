package import Glibc
package import JobModel

/// The names in a folder. Unsafe pointers of the C library stay in this file.
struct DirectoryListing {
    struct Entry: Hashable, Sendable {
        /// As the filesystem has it; it may not be UTF-8.
        let name: [UInt8]
        let isSymbolicLink: Bool
        /// Of what a symbolic link points to.
        let kind: FileKind
        /// It is a link, and nothing is there.
        var leadsNowhere = false
        /// Why nobody can tell what it is, or what it leads to: what the system answered.
        var trouble: Int32?
    }

    /// The entries sorted by name, without `.` and `..`. Only links are looked at one by one, and what a file system
    /// gives no kind of.
    ///
    /// - Parameter folder: a path that may not be UTF-8.
    static func entries(of folder: [UInt8]) throws(UnreadableFolder) -> [Entry] {
        guard let stream = opendir(cPath(folder)) else { throw unreadable(folder) }
        return try entries(of: stream, folder)
    }

    fileprivate static func unreadable(_ folder: [UInt8]) -> UnreadableFolder {
        UnreadableFolder(path: folder, .folder, code: errno)
    }

    /// Takes the stream over.
    fileprivate static func entries(of stream: OpaquePointer, _ folder: [UInt8]) throws(UnreadableFolder) -> [Entry] {
        defer { closedir(stream) }
        var result: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                // A disk that fails is no folder that ends: what is missing would look deleted.
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
            // Without trouble it was removed since it was listed.
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

/// A folder that is open. Its entries, and the folders in it, are those of the folder itself, whatever its path leads to now.
final class OpenFolder {
    private let descriptor: Int32
    private let path: [UInt8]
    let identity: FileStamp.Identity

    /// - Parameter path: one that the user has named: links in it are the user's own.
    convenience init(_ path: [UInt8]) throws(UnreadableFolder) {
        try self.init(taking: open(cPath(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC), path)
    }

    /// A folder in an open one, if no link has taken its place.
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

    /// As ``DirectoryListing/entries(of:)`` gives them.
    func entries() throws(UnreadableFolder) -> [DirectoryListing.Entry] {
        // The stream takes a descriptor over, with the place up to which it was read.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let problem = DirectoryListing.unreadable(path)
            if copy >= 0 { close(copy) }
            throw problem
        }
        return try DirectoryListing.entries(of: stream, path)
    }
}

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

    init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int(status.st_size),
            modified: status.st_mtim.nanoseconds, changed: status.st_ctim.nanoseconds)
    }

    /// The stamps of many paths, read on several threads: one takes a microsecond or, over a network, a thousand.
    package static func ofEach(_ paths: [String]) -> [FileStamp?] {
        concurrentMap(paths) { FileStamp(of: $0) }
    }

    package static func ofEach(_ inputs: [InputFile]) -> [FileStamp?] {
        concurrentMap(inputs) { FileStamp(of: $0) }
    }
}

extension timespec {
    /// As stamps have it.
    package var nanoseconds: Int64 { FileStamp.nanoseconds(seconds: tv_sec, and: tv_nsec) }
}
