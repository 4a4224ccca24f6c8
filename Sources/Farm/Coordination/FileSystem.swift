import Glibc
import JobModel
import Planning
import SafeFiles

/// The few calls that decide whether an output is safe. C's calls stay in this file and in ``OpenFile``.
enum FileSystem {
    /// Creates the folder and its parents, and returns those that were not there before, outermost first.
    ///
    /// - Parameter mode: of the last folder alone.
    static func createFolders(_ path: String, mode: mode_t = 0o777) throws(FileTrouble) -> [String] {
        if isFolder(path) { return [] }
        let parent = PathNames.folder(of: path) ?? ""
        let above = parent.isEmpty ? [] : try createFolders(parent)
        guard mkdir(path, mode) == 0 else {
            let code = errno
            if code == EEXIST, isFolder(path) { return above }
            throw FileTrouble(path: path, code: code == EEXIST ? ENOTDIR : code, action: "create the folder")
        }
        return above + [path]
    }

    /// The folders that ``createFolders(_:)`` would create, outermost first.
    static func missingFolders(_ path: String) -> [String] {
        if path.isEmpty || isFolder(path) { return [] }
        let parent = PathNames.folder(of: path) ?? ""
        return missingFolders(parent) + [path]
    }

    static func isFolder(_ path: String) -> Bool {
        var found = stat()
        return stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// Something is at the path itself, be it a dangling link.
    static func exists(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0
    }

    /// Nothing is at the path. Of a path in a folder that cannot be searched, or on a disk that fails, nobody can say so.
    static func isGone(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    /// The same for a path that may not be UTF-8.
    static func exists(_ path: [UInt8]) -> Bool {
        var found = stat()
        return (path.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { chars in
            chars.baseAddress.map { lstat($0, &found) == 0 } ?? false
        }
    }

    /// Something is mounted at a folder, be it another folder of the same disk.
    ///
    /// - Parameter folder: absolute, without links.
    static func isMountPoint(_ folder: String) -> Bool {
        if folder == "/" { return true }
        if let answer = MountPoint.isMounted(folder) { return answer }
        guard let device = stamp(folder)?.device else { return false }
        return stamp(PathText.folder(of: folder))?.device != device
    }

    /// The disk that is mounted at a folder holds nothing that anybody has put there.
    static func isEmptyDisk(_ mount: String) -> Bool {
        access(mount, R_OK | X_OK) == 0 && names(in: mount).allSatisfy { $0 == "lost+found" }
    }

    /// In bytes; nil when there is no such file.
    static func size(_ path: String) -> Int? {
        var found = stat()
        return lstat(path, &found) == 0 ? Int(found.st_size) : nil
    }

    /// Of what a path leads to; nil when nothing is there.
    static func stamp(_ path: String) -> FileStamp? {
        var found = stat()
        return stat(path, &found) == 0 ? FileStamp(found) : nil
    }

    /// Of an output. A folder's is that of all files in it: any that is changed, added or removed changes it. A link in an
    /// output's place is none, whatever it leads to, and has the stamp of its own.
    static func outputStamp(_ path: String, isFolder: Bool) -> FileStamp? {
        var found = stat()
        guard lstat(path, &found) == 0 else { return nil }
        guard isFolder, found.st_mode & S_IFMT == S_IFDIR else { return FileStamp(found) }
        if isEmptyFolder(path) { return nil }
        let files = files(below: path).compactMap { stamp("\(path)/\($0)") }
        return FileStamp(
            device: 0, inode: UInt64(files.count), size: files.reduce(0) { $0 + $1.size },
            modified: files.map(\.modified).max() ?? 0, changed: files.map(\.changed).max() ?? 0)
    }

    /// Of a regular file that has this name alone; nil for everything else. Links are not followed.
    static func ownName(_ path: String) -> FileStamp.Identity? {
        var found = stat()
        guard lstat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_nlink == 1 else { return nil }
        return FileStamp(found).identity
    }

    /// A file itself, and no link to one.
    static func isRegular(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFREG
    }

    static func isLink(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFLNK
    }

    /// Adds bytes to the end of a file, which is created if need be; whole or, when that fails, not at all.
    ///
    /// - Parameters:
    ///   - folder: the open folder of `path`; the file is looked for there, wherever `path` leads now.
    ///   - mode: of a file that is created.
    static func append(
        _ bytes: [UInt8], to path: String, in folder: Int32? = nil, mode: mode_t = 0o666, syncs: Bool = false,
        calls: FileCalls = .kernel
    ) throws(FileTrouble) {
        // A pipe that nobody reads would be waited for. Of one that somebody reads nothing could be taken back.
        let file = calls.open(
            folder ?? AT_FDCWD, folder == nil ? path : PathNames.last(of: path),
            O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode)
        guard file >= 0 else { throw FileTrouble(path: path, code: errno, action: "write") }
        defer { close(file) }
        var found = stat()
        guard fstat(file, &found) == 0, found.st_mode & S_IFMT == S_IFREG else {
            throw FileTrouble(path: path, code: ENXIO, action: "write", reason: "it is no regular file")
        }
        let end = lseek(file, 0, SEEK_END)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { calls.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let code = count < 0 ? errno : ENOSPC
                ftruncate(file, end)
                throw FileTrouble(path: path, code: code, action: "write")
            }
            rest = rest.dropFirst(count)
        }
        guard !syncs || calls.syncData(file) == 0 else { throw FileTrouble(path: path, code: errno, action: "sync") }
    }

    /// No line that Penumbra writes is longer.
    private static let longestLine = 16 << 20
    /// Some ten million lines.
    private static let largestFileOfLines = 8 << 30

    /// All bytes of a file of lines; nil where there is none, or a link. What follows a line that Penumbra cannot have written
    /// is left out: somebody may have made the file as large as no disk is, out of nothing.
    ///
    /// - Returns: `doubt` as ``OpenFile/doubt``.
    static func lines(
        of path: String, in folder: Int32? = nil
    ) throws(FileTrouble) -> (bytes: [UInt8], doubt: String?)? {
        guard let file = try OpenFile(path, in: folder) else { return nil }
        var (bytes, whole): ([UInt8], Int) = ([], 0)
        while true {
            let piece = try file.next()
            guard !piece.isEmpty else { return (bytes, file.doubt) }
            if let end = piece.lastIndex(of: UInt8(ascii: "\n")) { whole = bytes.count + end + 1 }
            bytes += piece
            guard bytes.count - whole <= longestLine else { return (Array(bytes[..<whole]), file.doubt) }
            guard bytes.count <= largestFileOfLines else {
                throw FileTrouble(
                    path: path, code: EFBIG, action: "read",
                    reason: "it is larger than \(largestFileOfLines >> 30) GB, and Penumbra writes none like that",
                    remedy: "move it away and run again")
            }
        }
    }

    /// Waits until the file system that holds a folder has everything on its disk.
    static func syncFileSystem(of folder: String, calls: FileCalls = .kernel) throws(FileTrouble) {
        let file = calls.open(AT_FDCWD, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0)
        guard file >= 0 else { throw FileTrouble(path: folder, code: errno, action: "open the folder") }
        defer { close(file) }
        if calls.syncFileSystem(file) == 0 { return }
        guard errno == ENOSYS else { throw FileTrouble(path: folder, code: errno, action: "sync the file system") }
        // This system has no such call.
        sync()
    }

    /// Puts a file at its final path in one step, replacing what is there.
    static func rename(_ from: String, to path: String) throws(FileTrouble) {
        guard Glibc.rename(from, path) == 0 else { throw FileTrouble(path: path, code: errno, action: "publish") }
    }

    /// True when an output is there: a file, or a folder with the file that it is named after. (Anything else at the path of a
    /// folder is no output.)
    static func isOutput(_ path: String) -> Bool {
        isOwnFolder(path) ? exists("\(path)/\(PathNames.last(of: path)).dzi") : exists(path)
    }

    /// A folder that can be read, and holds nothing.
    static func isEmptyFolder(_ path: String) -> Bool {
        isOwnFolder(path) && access(path, R_OK | X_OK) == 0 && names(in: path).isEmpty
    }

    /// Paths of all files in a folder, below it.
    static func files(below path: String) -> [String] {
        names(in: path).flatMap { name in
            isOwnFolder("\(path)/\(name)") ? files(below: "\(path)/\(name)").map { "\(name)/\($0)" } : [name]
        }
    }

    /// Of a file, or of all files in a folder.
    static func treeSize(_ path: String) -> Int? {
        guard isOwnFolder(path) else { return size(path) }
        return names(in: path).reduce(0) { $0 + (treeSize("\(path)/\($1)") ?? 0) }
    }

    /// Makes the names in a folder last through a power failure.
    static func syncFolder(_ path: String, calls: FileCalls = .kernel) throws(FileTrouble) {
        try SafeFolder(path, trusting: .everybody, calls: calls).sync()
    }

    /// With the slash at its end: for the root, too, a path.
    static func folder(of path: String) -> String { (PathNames.folder(of: path) ?? "") + "/" }

    /// Keeps others out of a folder, where the file system knows rights. A link is refused.
    ///
    /// - Parameter trust: whose folder it may be. Some file systems show another owner of what this user has just made.
    static func makePrivate(_ folder: String, trusting trust: SafeFolder.Trust) throws(FileTrouble) {
        guard let own = try SafeFolder.unlinked(folder, trusting: trust) else {
            throw FileTrouble(path: folder, code: ENOENT, action: "open the folder")
        }
        own.makePrivate()
    }

    /// Removes a file; one that is not there is as good.
    static func remove(_ path: String) { unlink(path) }

    /// Removes a folder if it is empty.
    static func removeIfEmpty(_ path: String) { rmdir(path) }

    /// The same of a folder that was made, or changed, at this time or later.
    static func removeIfEmpty(_ path: String, changedSince begin: Int64) {
        guard let changed = changed(path) else { return }
        // Some file systems, as of memory cards, count in steps of two seconds.
        let step: Int64 = changed % 1_000_000_000 == 0 ? 2_000_000_000 : 0
        if changed.addingReportingOverflow(step).partialValue >= begin { rmdir(path) }
    }

    /// The change time (ctime) of what is at a path, in nanoseconds since 1970. No program can set it to a time before the file was
    /// made, as it can with the modification time.
    static func changed(_ path: String) -> Int64? {
        var found = stat()
        guard lstat(path, &found) == 0 else { return nil }
        let (seconds, isTooMuch) = Int64(found.st_ctim.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        return isTooMuch ? nil : seconds + Int64(found.st_ctim.tv_nsec)
    }

    /// Removes a folder and all that it holds, as far as that can be done. Links are removed, never followed.
    static func removeTree(_ path: String) { SafeFolder.removeTree(at: path) }

    /// A file or a folder, and neither a link nor anything else.
    static func isPlain(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0 && [S_IFREG, S_IFDIR].contains(found.st_mode & S_IFMT)
    }

    /// A folder, and not a link to one.
    static func isOwnFolder(_ path: String) -> Bool {
        var found = stat()
        return lstat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
    }

    /// The names in a folder of Penumbra's own; empty when it cannot be read.
    static func names(in folder: String) -> [String] { (try? allNames(in: folder)) ?? [] }

    /// All names in a folder of Penumbra's own: for whoever concludes something from a name that is not there.
    static func allNames(in folder: String) throws(FileTrouble) -> [String] {
        guard let stream = opendir(folder) else { throw FileTrouble(path: folder, code: errno, action: "list") }
        defer { closedir(stream) }
        var result: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw FileTrouble(path: folder, code: errno, action: "list") }
                return result
            }
            let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            let name = String(decoding: bytes, as: UTF8.self)
            if name != ".", name != ".." { result.append(name) }
        }
    }
}

extension FileStamp {
    init(_ found: stat) {
        self.init(
            device: UInt64(found.st_dev), inode: UInt64(found.st_ino), size: Int(found.st_size),
            modified: found.st_mtim.nanoseconds, changed: found.st_ctim.nanoseconds)
    }
}
