import Glibc

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
    }

    /// The entries sorted by name, without `.` and `..`. Only links are looked at one by one, and what a file system
    /// gives no kind of.
    ///
    /// - Parameter folder: a path that may not be UTF-8.
    /// - Throws: ``PlanProblem/unreadableFolder(_:reason:)``.
    static func entries(of folder: [UInt8]) throws(PlanProblem) -> [Entry] {
        guard let stream = opendir(cPath(folder)) else {
            throw .unreadableFolder(OddName.readable(folder), reason: String(cString: strerror(errno)))
        }
        defer { closedir(stream) }
        var result: [Entry] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                // A disk that fails is no folder that ends: what is missing would look deleted.
                guard errno == 0 else {
                    throw .unreadableFolder(OddName.readable(folder), reason: String(cString: strerror(errno)))
                }
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
            return Entry(name: name, isSymbolicLink: false, kind: .other)  // removed since it was listed
        }
        let isSymbolicLink = own.st_mode & S_IFMT == S_IFLNK
        guard fstatat(folder, path, &target, 0) == 0 else {
            return Entry(name: name, isSymbolicLink: isSymbolicLink, kind: .other, leadsNowhere: isSymbolicLink)
        }
        return Entry(name: name, isSymbolicLink: isSymbolicLink, kind: FileKind(mode: target.st_mode))
    }
}
