import SafeFiles
import Glibc
import JobModel
import SafeFiles

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
