import Glibc

/// The names in a folder. Unsafe pointers of the C library stay in this file.
struct DirectoryListing {
    enum Kind: Hashable, Sendable {
        case file
        case folder
        case other
    }

    struct Entry: Hashable, Sendable {
        /// Nil when the name is not UTF-8.
        let name: String?
        /// As the filesystem has it.
        let bytes: [UInt8]
        let isSymbolicLink: Bool
        /// Of what a symbolic link points to.
        let kind: Kind
    }

    /// - Throws: ``PlanProblem/unreadableFolder(_:reason:)``.
    static func entries(of folder: String) throws(PlanProblem) -> [Entry] {
        guard let stream = opendir(folder) else {
            throw .unreadableFolder(folder, reason: String(cString: strerror(errno)))
        }
        defer { closedir(stream) }
        var result: [Entry] = []
        while let entry = readdir(stream) {
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if bytes == [46] || bytes == [46, 46] { continue }
            result.append(describe(bytes, in: folder))
        }
        return result
    }

    private static func describe(_ name: [UInt8], in folder: String) -> Entry {
        let path = Array(folder.utf8) + [47] + name + [0]
        var own = stat()
        var target = stat()
        let isLink = path.withUnsafeBufferPointer { buffer in
            buffer.withMemoryRebound(to: CChar.self) { path in
                guard let start = path.baseAddress, lstat(start, &own) == 0 else { return false }
                if stat(start, &target) != 0 { target = own }
                return own.st_mode & S_IFMT == S_IFLNK
            }
        }
        return Entry(
            name: String(validating: name, as: UTF8.self), bytes: name, isSymbolicLink: isLink,
            kind: kind(of: target.st_mode))
    }

    /// What lies at a path, following links; nil when nothing does.
    static func kind(at path: String) -> Kind? {
        var found = stat()
        return stat(path, &found) == 0 ? kind(of: found.st_mode) : nil
    }

    private static func kind(of mode: mode_t) -> Kind {
        switch mode & S_IFMT {
        case S_IFREG: .file
        case S_IFDIR: .folder
        default: .other
        }
    }
}

/// Tells whether two paths name one file, by device and inode, however they are written.
package struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Nil when nothing lies at the path.
    package init?(of path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        device = UInt64(found.st_dev)
        inode = UInt64(found.st_ino)
    }
}

/// The path with every symbolic link resolved, as far as it exists.
package func realPath(_ path: String) -> String {
    guard let resolved = realpath(path, nil) else {
        let parent = PathText.folder(of: path)
        return parent == path
            ? path : PathText.joined(PathText.components(realPath(parent)) + [PathText.name(of: path)])
    }
    defer { free(resolved) }
    return String(cString: resolved)
}
