package import Glibc
package import JobModel

/// The calls of the file system on which the safety of outputs depends. They take paths; ``SafeFolder`` takes
/// names in an open folder.
package enum FileSystem {
    /// Creates a folder and its parents. Returns the created folders, outermost first.
    ///
    /// - Parameter mode: the rights of the last folder.
    package static func createFolders(_ path: String, mode: mode_t = 0o777) throws(FileError) -> [String] {
        if isFolder(path) { return [] }
        let parent = PathNames.folder(of: path) ?? ""
        let above = parent.isEmpty ? [] : try createFolders(parent)
        guard mkdir(path, mode) == 0 else {
            let code = errno
            if code == EEXIST, isFolder(path) { return above }
            throw FileError(path: path, code: code == EEXIST ? ENOTDIR : code, action: "create the folder")
        }
        return above + [path]
    }

    /// The folders that ``createFolders(_:)`` would create, outermost first.
    package static func missingFolders(_ path: String) -> [String] {
        if path.isEmpty || isFolder(path) { return [] }
        let parent = PathNames.folder(of: path) ?? ""
        return missingFolders(parent) + [path]
    }

    package static func isFolder(_ path: String) -> Bool {
        var found = stat()
        return stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// The status of the file at a path; nil if there is none. Links are not followed.
    private static func status(_ path: String) -> stat? {
        var found = stat()
        return lstat(path, &found) == 0 ? found : nil
    }

    private static func kind(_ path: String) -> mode_t? { status(path).map { $0.st_mode & S_IFMT } }

    /// Whether something is at the path itself. A dangling link counts.
    package static func exists(_ path: String) -> Bool {
        status(path) != nil
    }

    /// Whether this user has no right to know what is at the path.
    package static func isForbidden(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) != 0 && (errno == EACCES || errno == EPERM)
    }

    /// Whether nothing is at the path. False if the folder cannot be searched or the disk fails.
    package static func isGone(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// The same for a path that may not be UTF-8.
    package static func exists(_ path: [UInt8]) -> Bool {
        var found = stat()
        return (path.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { chars in
            chars.baseAddress.map { lstat($0, &found) == 0 } ?? false
        }
    }

    /// Whether something is mounted at a folder. A bind mount of the same disk counts.
    ///
    /// - Parameter folder: an absolute path without links.
    package static func isMountPoint(_ folder: String) -> Bool {
        if folder == "/" { return true }
        if let answer = MountPoint.isMounted(folder) { return answer }
        guard let device = stamp(folder)?.device else { return false }
        return stamp(parent(of: folder))?.device != device
    }

    /// The folder above a folder that is not the root.
    private static func parent(of folder: String) -> String {
        guard let parent = PathNames.folder(of: folder), !parent.isEmpty else { return "/" }
        return parent
    }

    /// Whether the disk that is mounted at a folder is empty except for `lost+found`.
    package static func isEmptyDisk(_ mount: String) -> Bool {
        access(mount, R_OK | X_OK) == 0 && names(in: mount).allSatisfy { $0 == "lost+found" }
    }

    /// The size in bytes; nil if there is no file. Links are not followed.
    package static func size(_ path: String) -> Int? {
        status(path).map { Int($0.st_size) }
    }

    /// The stamp of the file at a path; nil if there is none. Links are followed.
    package static func stamp(_ path: String) -> FileStamp? {
        var found = stat()
        return stat(path, &found) == 0 ? FileStamp(found) : nil
    }

    /// The stamp of an output. The stamp of a folder combines all files in it, so that every change of a file
    /// changes it. A link at the path is not followed and has its own stamp.
    package static func outputStamp(_ path: String, isFolder: Bool) -> FileStamp? {
        guard let found = status(path) else { return nil }
        guard isFolder, found.st_mode & S_IFMT == S_IFDIR else { return FileStamp(found) }
        if isEmptyFolder(path) { return nil }
        let files = files(below: path).compactMap { stamp("\(path)/\($0)") }
        return FileStamp(
            device: 0, inode: UInt64(files.count), size: files.reduce(0) { $0 + $1.size },
            modified: files.map(\.modified).max() ?? 0, changed: files.map(\.changed).max() ?? 0)
    }

    /// The identity of a regular file that has no other names; nil for everything else. Links are not followed.
    package static func ownName(_ path: String) -> FileStamp.Identity? {
        guard let found = status(path), found.st_mode & S_IFMT == S_IFREG, found.st_nlink == 1 else { return nil }
        return FileStamp(found).identity
    }

    /// Whether a regular file is at the path. Links are not followed.
    package static func isRegular(_ path: String) -> Bool {
        kind(path) == S_IFREG
    }

    package static func isLink(_ path: String) -> Bool {
        kind(path) == S_IFLNK
    }

    /// Appends all bytes to a file, or none if that fails. A missing file is created.
    ///
    /// - Parameters:
    ///   - folder: the open folder of the file; nil to use the path.
    ///   - mode: the rights of a created file.
    ///   - refusesOtherNames: whether a file with hard links is refused, with the code EMLINK. Somebody may keep the file as it was
    ///     under another name.
    package static func append(
        _ bytes: [UInt8], to path: String, in folder: Int32? = nil, mode: mode_t = 0o666, syncs: Bool = false,
        refusesOtherNames: Bool = false, calls: FileCalls = .kernel
    ) throws(FileError) {
        // A pipe is refused: opening it could block, and bytes cannot be removed from it.
        let file = calls.open(
            folder ?? AT_FDCWD, folder == nil ? path : PathNames.last(of: path),
            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode)
        guard file >= 0 else { throw FileError(path: path, code: errno, action: "write") }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            throw FileError(path: path, code: ENXIO, action: "write", reason: "it is no regular file")
        }
        guard !refusesOtherNames || found.st_nlink <= 1 else {
            throw FileError(path: path, code: EMLINK, action: "write", reason: "it has another name, too")
        }
        let end = lseek(file, 0, SEEK_END)
        let code = calls.writeAll(bytes[...], to: file)
        guard code == 0 else {
            ftruncate(file, end)
            throw FileError(path: path, code: code, action: "write")
        }
        guard !syncs || calls.syncData(file) == 0 else { throw FileError(path: path, code: errno, action: "sync") }
    }

    /// No line that Penumbra writes is longer.
    private static let longestLine = 16 << 20
    /// About ten million lines.
    private static let largestFileOfLines = 8 << 30

    /// The bytes of a file of lines; nil if there is no regular file. Reading ends before a line that is too
    /// long for Penumbra, because another user may have made a sparse file larger than any disk.
    ///
    /// - Returns: the bytes, and ``OpenFile/distrustReason``.
    package static func lines(
        of path: String, in folder: Int32? = nil
    ) throws(FileError) -> (bytes: [UInt8], distrustReason: String?)? {
        guard let file = try OpenFile(path, in: folder) else { return nil }
        var (bytes, whole): ([UInt8], Int) = ([], 0)
        while true {
            let piece = try file.next()
            guard !piece.isEmpty else { return (bytes, file.distrustReason) }
            if let end = piece.lastIndex(of: UInt8(ascii: "\n")) { whole = bytes.count + end + 1 }
            bytes += piece
            guard bytes.count - whole <= longestLine else { return (Array(bytes[..<whole]), file.distrustReason) }
            guard bytes.count <= largestFileOfLines else {
                throw FileError(
                    path: path, code: EFBIG, action: "read",
                    reason: "it is larger than \(largestFileOfLines >> 30) GB, and Penumbra writes none like that",
                    remedy: "move it away and run again")
            }
        }
    }

    /// Waits until all changes of a folder's file system are on its disk.
    package static func syncFileSystem(of folder: String, calls: FileCalls = .kernel) throws(FileError) {
        let file = calls.open(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard file >= 0 else { throw FileError(path: folder, code: errno, action: "open the folder") }
        defer { close(file) }
        if calls.syncFileSystem(file) == 0 { return }
        guard errno == ENOSYS else { throw FileError(path: folder, code: errno, action: "sync the file system") }
        // This system has no such call.
        sync()
    }

    /// Renames a file to its final path. An existing file is replaced atomically.
    package static func rename(_ from: String, to path: String) throws(FileError) {
        guard Glibc.rename(from, path) == 0 else { throw FileError(path: path, code: errno, action: "publish") }
    }

    /// Whether an output is at the path: a file, or a folder with the file that describes its picture. Other folders are not
    /// outputs.
    package static func isOutput(_ path: String) -> Bool {
        isOwnFolder(path) ? FolderOutput(at: path).descriptors.contains(where: exists) : exists(path)
    }

    /// Whether a folder can be read and is empty.
    package static func isEmptyFolder(_ path: String) -> Bool {
        isOwnFolder(path) && access(path, R_OK | X_OK) == 0 && names(in: path).isEmpty
    }

    /// The paths of all files in a folder, relative to it.
    package static func files(below path: String) -> [String] {
        names(in: path).flatMap { name in
            isOwnFolder("\(path)/\(name)") ? files(below: "\(path)/\(name)").map { "\(name)/\($0)" } : [name]
        }
    }

    /// The size of a file, or the sum of the sizes of all files in a folder.
    package static func treeSize(_ path: String) -> Int? {
        guard isOwnFolder(path) else { return size(path) }
        return names(in: path).reduce(0) { $0 + (treeSize("\(path)/\($1)") ?? 0) }
    }

    /// Waits until the disk has the names in a folder.
    package static func syncFolder(_ path: String, calls: FileCalls = .kernel) throws(FileError) {
        try SafeFolder(path, trusting: .everybody, calls: calls).sync()
    }

    /// The folder of a path, with a slash at its end.
    package static func folder(of path: String) -> String { (PathNames.folder(of: path) ?? "") + "/" }

    /// Removes other users' rights to a folder, if the file system has rights. A link is refused.
    ///
    /// - Parameter trust: the allowed owners of the folder. Some file systems show another owner for a folder
    ///   that this user has just created.
    package static func makePrivate(_ folder: String, trusting trust: SafeFolder.Trust) throws(FileError) {
        guard let own = try SafeFolder.unlinked(folder, trusting: trust) else {
            throw FileError(path: folder, code: ENOENT, action: "open the folder")
        }
        own.makePrivate()
    }

    /// Removes a file. A missing file is no error.
    package static func remove(_ path: String) { unlink(path) }

    /// Removes a folder if it is empty.
    package static func removeIfEmpty(_ path: String) { rmdir(path) }

    /// The same for a folder that was created or changed since this time.
    package static func removeIfEmpty(_ path: String, changedSince begin: Int64) {
        guard let changed = changed(path) else { return }
        // The file systems of some memory cards count times in steps of two seconds.
        let step: Int64 = changed % 1_000_000_000 == 0 ? 2_000_000_000 : 0
        if changed.addingReportingOverflow(step).partialValue >= begin { rmdir(path) }
    }

    /// The change time (ctime) of the file at a path, in nanoseconds since 1970. No program can set it to a
    /// time before the file was created.
    package static func changed(_ path: String) -> Int64? {
        guard let found = status(path) else { return nil }
        let (seconds, isTooMuch) = Int64(found.st_ctim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return isTooMuch ? nil : seconds + Int64(found.st_ctim.tv_nsec)
    }

    /// Removes a folder and its contents as far as possible. Links are removed and not followed.
    package static func removeTree(_ path: String) { SafeFolder.removeTree(at: path) }

    /// Whether a regular file or a folder is at the path. Links are not followed.
    package static func isPlain(_ path: String) -> Bool {
        kind(path).map { [S_IFREG, S_IFDIR].contains($0) } ?? false
    }

    /// Whether a folder is at the path. Links are not followed.
    package static func isOwnFolder(_ path: String) -> Bool {
        kind(path) == S_IFDIR
    }

    /// The names in one of Penumbra's own folders; empty if it cannot be read.
    package static func names(in folder: String) -> [String] { (try? allNames(in: folder)) ?? [] }

    /// All names in one of Penumbra's own folders. Throws if they cannot be read, for callers that act on a
    /// missing name.
    package static func allNames(in folder: String) throws(FileError) -> [String] {
        var result: [String] = []
        _ = try firstName(in: folder) { name in
            result.append(name)
            return false
        }
        return result
    }

    /// The first name of a folder that fulfils a condition, in any order. A folder of others may have millions of names, so they are not
    /// kept.
    package static func firstName(
        in folder: String, where condition: (String) -> Bool
    ) throws(FileError) -> String? {
        guard let stream = opendir(folder) else { throw FileError(path: folder, code: errno, action: "list") }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileError(path: folder, code: errno, action: "list") }
                return nil
            }
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let name = String(decoding: bytes, as: UTF8.self)
            if name != ".", name != "..", condition(name) { return name }
        }
    }
}

extension FileSystem {
    /// Tries again if another process has just removed the folder that this one created. On a busy machine this
    /// can happen many times in a row.
    package static func retrying<Result>(
        _ code: Int32, _ body: () throws(FileError) -> Result
    ) throws(FileError) -> Result {
        for _ in 0..<100 {
            do throws(FileError) {
                return try body()
            } catch {
                guard error.code == code else { throw error }
                usleep(1000)
            }
        }
        return try body()
    }
}

extension FileSystem {
    /// After this the final path has the old folder or the new one.
    ///
    /// - Throws: if the old folder stays at its temporary path, which the error names.
    package static func undoReplacement(old: String, final: String) throws(FileError) {
        guard exists(old) else { return }
        guard !exists(final) else { return removeTree(old) }
        do {
            try rename(old, to: final)
        } catch {
            throw FileError(path: old, code: error.code, action: "put this folder back to \(final)")
        }
    }
}

/// Replaces a file as a whole: readers see the old content or the new one.
package enum AtomicFile {
    /// Writes `temporary`, which is in the same folder, and renames it to `path`.
    ///
    /// - Parameter mode: the file's rights before the umask is applied.
    package static func write(
        _ bytes: [UInt8], to path: String, by temporary: String, mode: mode_t = 0o666
    ) throws(FileError) {
        _ = try FileSystem.createFolders(String(FileSystem.folder(of: path).dropLast()))
        FileSystem.remove(temporary)
        do {
            try FileSystem.append(bytes, to: temporary, mode: mode, syncs: true)
            try FileSystem.rename(temporary, to: path)
        } catch {
            FileSystem.remove(temporary)
            throw error
        }
    }

    /// For a file that may be lost: nothing is synced, and no folder is created.
    package static func writeUnsynced(
        _ bytes: [UInt8], to path: String, by temporary: String
    ) throws(FileError) {
        FileSystem.remove(temporary)
        try FileSystem.append(bytes, to: temporary)
        try FileSystem.rename(temporary, to: path)
    }
}

/// An open file whose bytes are replaced in their places.
package final class PatchableFile: Sendable {
    private let path: String
    private let descriptor: Int32

    /// - Throws: ``FileError`` if there is no such regular file.
    package init(_ path: String) throws(FileError) {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileError(path: path, code: errno, action: "write") }
    }

    deinit { close(descriptor) }

    /// Some of the bytes may be written if this fails.
    package func write(_ bytes: [UInt8], at offset: Int) throws(FileError) {
        var (rest, offset) = (bytes[...], offset)
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError(path: path, code: count < 0 ? errno : ENOSPC, action: "write") }
            rest = rest.dropFirst(count)
            offset += count
        }
    }
}

extension FileStamp {
    package init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int(status.st_size),
            modified: status.st_mtim.nanoseconds, changed: status.st_ctim.nanoseconds)
    }
}

extension timespec {
    /// The time as a ``FileStamp`` has it: nanoseconds since 1970.
    package var nanoseconds: Int64 { FileStamp.nanoseconds(seconds: tv_sec, and: tv_nsec) }
}
