package import Glibc
import JobModel

/// An open folder of Penumbra's own, in which someone else may have added, exchanged or linked files.
///
/// A stored file says what to move, to remove or to run. Whoever can write to its folder could decide that. So such
/// files are reached from an open folder, one name at a time, and no link is followed on the way (`openat` with
/// `O_NOFOLLOW`). They must be regular files of this user or of root, and their size is limited.
///
/// Only the first folder is opened by a path, because the user, or a setting, has named it. Links in that path are the
/// user's own.
package final class SafeFolder: Sendable {
    /// The folder's name in messages.
    package let path: String
    private let descriptor: Int32
    private let trust: Trust
    private let calls: FileCalls

    /// Opens a folder that the user has named, if its last name is no link. Nil if nothing exists there.
    package static func unlinked(_ path: String, trusting trust: Trust = .ownAndRoot) throws(FileError) -> SafeFolder? {
        let parent = PathNames.folder(of: path) ?? ""
        do {
            return try SafeFolder(parent.isEmpty ? "/" : parent, trusting: .everybody)
                .folder(PathNames.last(of: path), trusting: trust)
        } catch {
            guard error.code == ENOENT || error.code == ENOTDIR else { throw error }
            return nil
        }
    }

    /// All bytes of the file at a path. Nil if it does not exist or is not trusted: a link, a pipe, another user's
    /// file, or a file that is too large. For files that are better ignored than believed wrongly.
    package static func trustedContents(_ path: String, limit: Int) -> [UInt8]? {
        let folder = PathNames.folder(of: path) ?? ""
        return try? SafeFolder(folder.isEmpty ? "/" : folder).contents(of: PathNames.last(of: path), limit: limit)
    }

    /// Whose files are accepted.
    package enum Trust: Sendable {
        /// Files and folders of this user, or of root.
        case ownAndRoot
        /// Anyone's files. Only for contents that decide nothing outside of themselves.
        case everybody
    }

    /// Opens a folder that the user has named.
    ///
    /// - Throws: ``FileError`` if it does not exist, is no folder, or its owner is not trusted.
    package convenience init(
        _ path: String, trusting trust: Trust = .ownAndRoot, calls: FileCalls = .kernel
    ) throws(FileError) {
        let descriptor = calls.open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw FileError(path: path, code: errno, action: "open the folder") }
        try self.init(path, descriptor, trust, calls)
    }

    /// Opens an open folder once more. Its path is for messages and may not be UTF-8.
    package convenience init(
        reopening folder: Int32, _ path: String, calls: FileCalls = .kernel
    ) throws(FileError) {
        let descriptor = calls.open(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard descriptor >= 0 else { throw FileError(path: path, code: errno, action: "open the folder") }
        try self.init(path, descriptor, .everybody, calls)
    }

    /// Takes ownership of the descriptor.
    private init(_ path: String, _ descriptor: Int32, _ trust: Trust, _ calls: FileCalls) throws(FileError) {
        self.path = path
        self.calls = calls
        self.descriptor = descriptor
        self.trust = trust
        try Self.check(Self.status(of: descriptor, path, "open the folder"), trust, path, "open the folder")
    }

    deinit { close(descriptor) }

    // MARK: Looking

    /// Opens a folder in this one. Nil if nothing has the name.
    ///
    /// - Throws: ``FileError`` for a link, for anything else that is no folder, and for another user's folder.
    package func folder(_ name: String) throws(FileError) -> SafeFolder? { try folder(name, trusting: trust) }

    private func folder(_ name: String, trusting trust: Trust) throws(FileError) -> SafeFolder? {
        let path = try path(of: name, "open the folder")
        let opened = openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard opened >= 0 else {
            let code = errno
            if code == ENOENT { return nil }
            throw try refused(name, code, "open the folder")
        }
        return try SafeFolder(path, opened, trust, calls)
    }

    /// Opens folders one below the other, as in `runs/photos-1`.
    package func folder(at relative: String) throws(FileError) -> SafeFolder? {
        var found = self
        for name in PathNames.all(in: relative) {
            guard let next = try found.folder(String(name)) else { return nil }
            found = next
        }
        return found
    }

    /// All bytes of a regular file in this folder. Nil if nothing has the name.
    ///
    /// - Throws: ``FileError`` for a link, a pipe, a folder, another user's file, or a file larger than `limit`. None
    ///   of these is read
    /// or blocks.
    package func contents(of name: String, limit: Int = 64 << 20) throws(FileError) -> [UInt8]? {
        try read(name, limit: limit)?.bytes
    }

    /// The same, and whether the file and this folder belong to this user or to root. Then no one else can have written
    /// it.
    package func read(
        _ name: String, limit: Int = 64 << 20
    ) throws(FileError) -> (bytes: [UInt8], isOwn: Bool)? {
        guard let file = try file(name) else { return nil }
        let found = try file.status()
        let own = try status()
        let isOwn = Self.isOwn(found) && Self.isOwn(own)
        let tooLarge = FileError(
            path: file.path, code: EFBIG, action: "read", reason: "it is larger than \(limit) bytes")
        guard found.st_size <= limit else { throw tooLarge }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(limit, max(0, Int(found.st_size))))
        while true {
            let piece = try file.next(1 << 16)
            guard !piece.isEmpty else { return (bytes, isOwn) }
            // The file may grow while it is read.
            guard bytes.count + piece.count <= limit else { throw tooLarge }
            bytes += piece
        }
    }

    /// Opens a regular file in this folder for reading. Nil if nothing has the name.
    ///
    /// - Throws: ``FileError`` for a link, a pipe, a folder, a device, or another user's file. None of these blocks.
    package func file(_ name: String) throws(FileError) -> SafeFile? {
        let path = try path(of: name, "read")
        // Without O_NONBLOCK a pipe without a writer would block the reader for ever.
        let opened = openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard opened >= 0 else {
            let code = errno
            if code == ENOENT { return nil }
            throw try refused(name, code, "read")
        }
        let file = SafeFile(path, opened)
        let found = try file.status()
        guard found.st_mode & S_IFMT == S_IFREG else { throw Self.odd(found, path, "read") }
        try Self.check(found, trust, path, "read")
        return file
    }

    /// The names in this folder, unordered. Names that are not UTF-8 are left out, because Penumbra writes none.
    package func names() throws(FileError) -> [String] {
        // The stream takes ownership of the descriptor and of its read offset, so it gets a descriptor of its own.
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0, let stream = fdopendir(copy) else {
            let code = errno
            if copy >= 0 { close(copy) }
            throw FileError(path: path, code: code, action: "list")
        }
        defer { closedir(stream) }
        var result: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError(path: path, code: errno, action: "list") }
                return result
            }
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if let name = String(validating: bytes, as: UTF8.self), name != ".", name != ".." { result.append(name) }
        }
    }

    /// The status of a name in this folder. Links are not followed. Nil if nothing has the name.
    package func status(of name: String) throws(FileError) -> stat? {
        let path = try path(of: name, "look at")
        var found = stat()
        if fstatat(descriptor, name, &found, AT_SYMLINK_NOFOLLOW) == 0 { return found }
        guard errno == ENOENT else { throw FileError(path: path, code: errno, action: "look at") }
        return nil
    }

    /// True if only this user or root can have changed the folder's names: they own it, and others may not write to it.
    package func isOwn() throws(FileError) -> Bool {
        let own = try status()
        return Self.isOwn(own) && own.st_mode & 0o022 == 0
    }

    /// The users beside root who can have changed the folder's names, and a file of this name in it if there is one.
    /// Nil if anyone can:
    /// others may write to them, or the name is no file's.
    ///
    /// - Parameter isShut: Whether others cannot enter the folder. Then their rights in it do not matter.
    package func writers(of name: String? = nil, isPrivate: Bool) throws(FileError) -> Set<UInt32>? {
        let own = try status()
        guard isPrivate || own.st_mode & 0o022 == 0 else { return nil }
        guard let name, let found = try status(of: name) else { return [own.st_uid] }
        guard found.st_mode & S_IFMT == S_IFREG, isPrivate || found.st_mode & 0o022 == 0 else { return nil }
        return [own.st_uid, found.st_uid]
    }

    /// True if only the folder's owner and root may enter it.
    package func isPrivate() throws(FileError) -> Bool { try status().st_mode & 0o077 == 0 }

    /// Removes the rights of others, if the file system has rights.
    package func makePrivate() { fchmod(descriptor, 0o700) }

    /// Gives the descriptor to calls that need one. The folder stays open while the body runs.
    package func withDescriptor<Result, Failure>(_ body: (Int32) throws(Failure) -> Result) throws(Failure) -> Result {
        try body(descriptor)
    }

    /// Whether the folder is a mount point. The mounted folder may be on the same disk.
    ///
    /// - Parameter parent: The folder that this one was opened in.
    package func isMounted(in parent: SafeFolder) throws(FileError) -> Bool {
        if let answer = MountPoint.isMounted(descriptor) { return answer }
        return try status().st_dev != parent.status().st_dev
    }

    /// The status of the folder itself.
    package func status() throws(FileError) -> stat { try Self.status(of: descriptor, path, "look at") }

    /// True if the folder's path still leads to it.
    package var isInPlace: Bool {
        var own = stat()
        var now = stat()
        return fstat(descriptor, &own) == 0 && stat(path, &now) == 0 && own.st_dev == now.st_dev
            && own.st_ino == now.st_ino
    }

    // MARK: Changing

    /// Opens a folder in this one. Creates it if nothing has the name.
    package func makingFolder(_ name: String, mode: mode_t = 0o777) throws(FileError) -> SafeFolder {
        for _ in 0..<4 {
            if let found = try folder(name) { return found }
            guard mkdirat(descriptor, name, mode) == 0 || errno == EEXIST else {
                throw FileError(path: "\(path)/\(name)", code: errno, action: "create the folder")
            }
        }
        // Someone else removes it again and again.
        throw FileError(path: "\(path)/\(name)", code: ENOENT, action: "create the folder")
    }

    /// Writes a new file.
    ///
    /// - Throws: ``FileError``, with `EEXIST` if the name exists. A file that could not be written completely is
    ///   removed.
    package func create(
        _ name: String, _ bytes: [UInt8], mode: mode_t = 0o666, syncs: Bool = false
    ) throws(FileError) {
        let file = try newFile(name, mode: mode)
        do throws(FileError) {
            try file.append(bytes)
            if syncs { try file.sync() }
        } catch {
            unlinkat(descriptor, name, 0)
            throw error
        }
    }

    /// Creates a new file and opens it for writing.
    package func newFile(_ name: String, mode: mode_t = 0o666) throws(FileError) -> SafeFile {
        let path = try path(of: name, "write")
        let file = calls.open(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard file >= 0 else { throw FileError(path: path, code: errno, action: "write") }
        return SafeFile(path, file)
    }

    /// Moves a file or folder of this folder to another name or folder, in one step. An existing file there is
    /// replaced.
    package func rename(_ name: String, to folder: SafeFolder? = nil, as other: String) throws(FileError) {
        let folder = folder ?? self
        _ = try path(of: name, "move")
        let target = try folder.path(of: other, "put a file in place")
        guard calls.rename(descriptor, name, folder.descriptor, other, 0) == 0 else {
            throw FileError(path: target, code: errno, action: "put a file in place")
        }
    }

    /// The same, unless something has the other name already.
    ///
    /// - Throws: ``FileError``, then with `EEXIST`.
    package func renameWithoutReplacing(_ name: String, to folder: SafeFolder, as other: String) throws(FileError) {
        _ = try path(of: name, "move")
        let target = try folder.path(of: other, "put a file in place")
        let noReplace: UInt32 = 1
        if calls.rename(descriptor, name, folder.descriptor, other, noReplace) == 0 { return }
        let code = errno
        // Other codes come from file systems without this kind of rename.
        guard [ENOSYS, EINVAL, EPERM, EOPNOTSUPP].contains(code) else {
            throw FileError(path: target, code: code, action: "put a file in place")
        }
        if calls.link(descriptor, name, folder.descriptor, other) == 0 {
            unlinkat(descriptor, name, 0)
            return
        }
        guard [EPERM, EOPNOTSUPP, ENOSYS, EMLINK].contains(errno) else {
            throw FileError(path: target, code: errno, action: "put a file in place")
        }
        // The file system has no hard links. A file that appears at this very moment is replaced.
        guard try folder.status(of: other) == nil else {
            throw FileError(path: target, code: EEXIST, action: "put a file in place")
        }
        try self.rename(name, to: folder, as: other)
    }

    /// Exchanges two names of this folder in one step: at any moment each name leads to one of the two files.
    ///
    /// - Returns: False if the file system cannot do it.
    package func exchange(_ one: String, _ other: String) -> Bool {
        guard Self.isName(one), Self.isName(other) else { return false }
        let exchange: UInt32 = 2
        return calls.rename(descriptor, one, descriptor, other, exchange) == 0
    }

    /// Removes a file or a link. A missing one is no error.
    package func remove(_ name: String) throws(FileError) {
        let path = try path(of: name, "remove")
        guard unlinkat(descriptor, name, 0) == 0 || errno == ENOENT else {
            throw FileError(path: path, code: errno, action: "remove")
        }
    }

    /// Removes a folder in this one if it is empty.
    package func removeIfEmpty(_ name: String) {
        guard Self.isName(name) else { return }
        unlinkat(descriptor, name, AT_REMOVEDIR)
    }

    /// Removes a file, or a folder with all its contents, as far as possible. Links themselves are removed. The folder
    /// above is opened once, so that exchanges below it can never make it remove files elsewhere.
    package static func removeTree(at path: String) {
        let parent = PathNames.folder(of: path) ?? ""
        do {
            let folder = try SafeFolder(parent.isEmpty ? "/" : parent, trusting: .everybody)
            folder.removeTree(PathNames.last(of: path))
        } catch {
            // A file of a folder that cannot be listed may still be removable.
            unlink(path)
        }
    }

    /// Removes a name of this folder with all its contents, as far as possible. Links themselves are removed.
    package func removeTree(_ name: String) {
        guard Self.isName(name) else { return }
        TreeRemoval.remove(name.utf8CString.map(\.self), in: descriptor)
    }

    /// Waits until the disk has the folder's names.
    package func sync() throws(FileError) {
        // Some network filesystems cannot sync a folder and say so; their renames are then as safe as they get.
        guard calls.sync(descriptor) == 0 || errno == EINVAL else {
            throw FileError(path: path, code: errno, action: "sync the folder")
        }
    }

    // MARK: What is refused

    /// Whether a text is one part of a path that leads nowhere else.
    package static func isName(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == PathNames.slash || $0 == 0 }
            && name.utf8.count <= 255
    }

    private func path(of name: String, _ action: String) throws(FileError) -> String {
        guard Self.isName(name) else {
            throw FileError(
                path: "\(path)/\(name)", code: FileError.refusal, action: action,
                reason: "it is not the name of a file in this folder")
        }
        return "\(path)/\(name)"
    }

    private static func status(of descriptor: Int32, _ path: String, _ action: String) throws(FileError) -> stat {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw FileError(path: path, code: errno, action: action) }
        return found
    }

    /// Why the kernel refused to open it.
    private func refused(_ name: String, _ code: Int32, _ action: String) throws(FileError) -> FileError {
        guard [ELOOP, ENOTDIR, ENXIO].contains(code), let found = try status(of: name) else {
            return FileError(path: "\(path)/\(name)", code: code, action: action)
        }
        return Self.odd(found, "\(path)/\(name)", action)
    }

    private static func odd(_ found: stat, _ path: String, _ action: String) -> FileError {
        let kind =
            switch found.st_mode & S_IFMT {
            case S_IFLNK: "a link"
            case S_IFDIR: "a folder"
            case S_IFIFO: "a pipe"
            case S_IFSOCK: "a socket"
            case S_IFBLK, S_IFCHR: "a device"
            default: "a file"
            }
        return FileError(
            path: path, code: FileError.refusal, action: action,
            reason: "it is \(kind), and Penumbra did not make it so")
    }

    private static func isOwn(_ found: stat) -> Bool { found.st_uid == geteuid() || found.st_uid == 0 }

    private static func check(
        _ found: stat, _ trust: Trust, _ path: String, _ action: String
    ) throws(FileError) {
        guard case .ownAndRoot = trust, !isOwn(found) else { return }
        throw FileError(
            path: path, code: FileError.refusal, action: action,
            reason: "it belongs to another user (uid \(found.st_uid))")
    }
}
