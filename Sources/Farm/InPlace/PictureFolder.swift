import ContentNames
import Glibc
import JobModel
import Planning
import SafeFiles
import Synchronization

/// A folder whose pictures are changed in place. It is locked against others that write there. Its path and the
/// names in it may not be UTF-8. The calls of C stay in this file.
final class PictureFolder: Sendable {
    /// What was found at a picture's path.
    struct Found: Hashable, Sendable {
        let stamp: FileStamp
        let isFile: Bool
        /// The number of its names (hard links).
        let links: Int
        let user: UInt32
        let group: UInt32
    }

    /// Another run or command writes in the folder.
    struct BusyError: Error {}

    private let lock: FolderLock
    private var descriptor: Int32 { lock.descriptor }
    /// The path as it is shown.
    let path: String
    /// Whether killed commands may have left files.
    private let hasLeftovers = Mutex(true)

    /// - Throws: ``BusyError`` or ``FileError``.
    init(of picture: InputFile) throws {
        path = PathText.folder(of: picture.path)
        guard let lock = try FolderLock.take(Self.chars(picture.folderBytes), path) else { throw BusyError() }
        self.lock = lock
    }

    /// The identity of the open folder, whatever its path leads to now.
    var identity: FileStamp.Identity? { lock.identity }

    /// Opens the folder again.
    func open() throws(FileError) -> SafeFolder { try SafeFolder(reopening: descriptor, path) }

    private static func chars(_ bytes: some Sequence<UInt8>) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

    /// The prefix of temporary files, by which files of killed commands are found.
    private static let temporaryPrefix = ".penumbra-picture-"

    /// A unique name, because locks do not work on all file systems.
    private static func temporary() -> String {
        "\(temporaryPrefix)\(String(UInt64.random(in: .min ... .max), radix: 16))"
    }

    /// Nil if nothing is at the path.
    func inspect(at picture: InputFile) -> Found? {
        var found = stat()
        guard fstatat(descriptor, Self.chars(picture.nameBytes), &found, AT_SYMLINK_NOFOLLOW) == 0 else {
            return nil
        }
        return Found(
            stamp: FileStamp(found), isFile: found.st_mode & S_IFMT == S_IFREG, links: Int(found.st_nlink),
            user: found.st_uid, group: found.st_gid)
    }

    /// The mark of its disk; nil if the disk has none.
    var disk: String? { (try? open()).flatMap { DiskMark.of($0.path) } }

    /// The folder's inode.
    func inode() throws(FileError) -> UInt64 { UInt64(try open().status().st_ino) }

    /// Opens a picture for reading; nil if there is no regular file.
    func open(_ picture: InputFile) throws(FileError) -> SafeFile? {
        try Self.open(picture.nameBytes, in: descriptor, picture)
    }

    /// The same by its path, for callers that change nothing.
    static func open(at picture: InputFile) throws(FileError) -> SafeFile? {
        try open(picture.exactPath, in: AT_FDCWD, picture)
    }

    private static func open(
        _ name: [UInt8], in folder: Int32, _ picture: InputFile
    ) throws(FileError) -> SafeFile? {
        let opened = openat(folder, chars(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard opened >= 0 else {
            guard [ENOENT, ENOTDIR, ELOOP, ENXIO].contains(errno) else {
                throw FileError(path: picture.path, code: errno, action: "read")
            }
            return nil
        }
        let file = SafeFile(taking: opened, picture.path)
        guard try file.status().st_mode & S_IFMT == S_IFREG else { return nil }
        return file
    }

    /// The SHA-256 of the remaining bytes of an open file.
    static func sha256(of file: borrowing SafeFile) throws(FileError) -> String {
        guard var digest = SHA256Stream() else { throw noDigest(file.path) }
        while true {
            let bytes = try file.next(1 << 20)
            guard !bytes.isEmpty else { break }
            bytes.withUnsafeBytes { digest.update($0) }
        }
        guard let text = digest.finish() else { throw noDigest(file.path) }
        return text
    }

    /// Throws if files in the folder cannot be replaced. Called before anything is prepared.
    func refuseReadOnly() throws(FileError) {
        guard faccessat(descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw FileError(path: path, code: errno, action: "write in the folder")
        }
    }

    /// Copies a picture to a new file.
    ///
    /// - Returns: the picture's attributes and SHA-256.
    func copy(
        _ picture: InputFile, to folder: SafeFolder, as name: String
    ) throws(FileError) -> (attributes: FileAttributes, sha256: String) {
        let opened = openat(
            descriptor, Self.chars(picture.nameBytes), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard opened >= 0 else { throw FileError(path: picture.path, code: errno, action: "read") }
        let file = SafeFile(taking: opened, picture.path)
        let attributes = try FileAttributes(of: file.descriptor, path: picture.path)
        let new = try folder.newFile(name, mode: 0o600)
        let digest = try Self.copy(file, to: new)
        // Whoever may read the picture may read its original. Nobody has to write to it.
        guard fchmod(new.descriptor, attributes.mode & 0o444 | 0o400) == 0 else {
            throw FileError(path: new.path, code: errno, action: "set the rights")
        }
        return (attributes, digest)
    }

    /// - Returns: the SHA-256 of the bytes.
    private static func copy(
        _ file: borrowing SafeFile, to new: borrowing SafeFile
    ) throws(FileError) -> String {
        guard var digest = SHA256Stream() else { throw noDigest(new.path) }
        while true {
            let bytes = try file.next(1 << 20)
            guard !bytes.isEmpty else { break }
            bytes.withUnsafeBytes { digest.update($0) }
            try new.append(bytes)
        }
        guard let name = digest.finish() else { throw noDigest(new.path) }
        return name
    }

    static func noDigest(_ path: String) -> FileError {
        FileError(
            path: path, code: ENOSYS, action: "take the SHA-256 digest", reason: "OpenSSL's library gives none",
            remedy: "repair the installation of libssl3")
    }

    /// The kind of a replacement.
    enum Replacement {
        /// The blurred picture. It must have all attributes of the picture, and gets a new time.
        case blurred
        /// The original with its time. Attributes that cannot be applied are reported.
        case original
    }

    /// Replaces a picture by a copy of a file in one step: at any moment one of them is at the path.
    ///
    /// - Parameters:
    ///   - found: what must still be at the path; nil for nothing.
    ///   - source: is read from its present offset.
    ///   - sha256: the known SHA-256 of the source. If its bytes are different, nothing is replaced.
    /// - Returns: the attributes that could not be applied.
    func replace(
        _ picture: InputFile, _ found: Found?, by source: borrowing SafeFile, sha256: String? = nil,
        _ attributes: FileAttributes, _ kind: Replacement
    ) throws(InPlaceError) -> [String] {
        let temporary = Self.temporary()
        do throws(InPlaceError) {
            let prepared: (missing: [String], sha256: String)
            do throws(FileError) {
                prepared = try prepare(temporary, for: picture, source, attributes, kind)
            } catch {
                throw InPlaceError(error)
            }
            guard sha256 == nil || sha256 == prepared.sha256 else {
                throw .refused(
                    kind == .original
                        ? "its original, \(source.path), is gone or damaged; nothing was changed"
                        : "what was rendered of it changed while it was written; left as it is")
            }
            if kind == .blurred, let first = prepared.missing.first {
                throw .refused("this user cannot keep \(first) for the blurred picture; left as it is")
            }
            guard inspect(at: picture).map({ $0.stamp.isSameState(as: found?.stamp) }) ?? (found == nil) else {
                throw .changed
            }
            try InPlaceError.on { () throws(FileError) in try putInPlace(temporary, picture) }
            return prepared.missing
        } catch {
            unlinkat(descriptor, temporary, 0)
            throw error
        }
    }

    private func putInPlace(_ temporary: String, _ picture: InputFile) throws(FileError) {
        let name = Self.chars(picture.nameBytes)
        guard renameat(descriptor, temporary, descriptor, name) == 0 else {
            throw FileError(path: picture.path, code: errno, action: "replace")
        }
        try sync()
    }

    /// Writes and syncs the temporary file.
    private func prepare(
        _ temporary: String, for picture: InputFile, _ source: borrowing SafeFile, _ attributes: FileAttributes,
        _ kind: Replacement
    ) throws(FileError) -> (missing: [String], sha256: String) {
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let opened = openat(descriptor, temporary, flags, 0o600)
        guard opened >= 0 else { throw FileError(path: path, code: errno, action: "write in the folder") }
        let new = SafeFile(taking: opened, picture.path)
        let digest = try Self.copy(source, to: new)
        let missing = try attributes.give(to: new.descriptor, path: picture.path, withTimes: kind == .original)
        try new.sync()
        return (missing, digest)
    }

    /// Removes the files of killed commands. Nobody else writes here while the folder is locked.
    func removeLeftovers() {
        let isFirst = hasLeftovers.withLock { has in
            defer { has = false }
            return has
        }
        // If the folder cannot be listed, the next command removes them.
        guard isFirst, let folder = try? SafeFolder(reopening: descriptor, path), let names = try? folder.names()
        else { return }
        for name in names where Self.isTemporary(name) { try? folder.remove(name) }
    }

    private static func isTemporary(_ name: String) -> Bool {
        let rest = name.dropFirst(temporaryPrefix.count)
        return name.hasPrefix(temporaryPrefix) && (1...16).contains(rest.utf8.count) && rest.allSatisfy(\.isHexDigit)
    }

    private func sync() throws(FileError) {
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw FileError(path: path, code: errno, action: "sync the folder")
        }
    }
}

/// The folders of some pictures. They stay locked as long as this value lives.
struct OpenFolders {
    private var folders: [[UInt8]: Result<PictureFolder, any Error>] = [:]

    init(of pictures: [InputFile]) {
        for picture in pictures {
            let key = picture.folderBytes
            if folders[key] == nil { folders[key] = Result { try PictureFolder(of: picture) } }
        }
    }

    /// The locked folders whose paths are UTF-8.
    var held: [(path: String, folder: PictureFolder)] {
        folders.compactMap { key, folder in
            guard case .success(let folder) = folder else { return nil }
            return String(validating: key, as: UTF8.self).map { ($0, folder) }
        }
    }

    /// Marks a folder as busy, because another command uses the originals in it.
    mutating func markBusy(_ path: String) {
        folders[Array(path.utf8)] = .failure(PictureFolder.BusyError())
    }

    /// Nil where nothing is, or the folder cannot be had.
    func inspect(at picture: InputFile) -> PictureFolder.Found? {
        (try? folders[picture.folderBytes]?.get())?.inspect(at: picture)
    }

    /// Opens a picture for reading; nil if there is no regular file, or the folder could not be locked.
    func open(_ picture: InputFile) throws(FileError) -> SafeFile? {
        guard case .success(let folder) = folders[picture.folderBytes] else { return nil }
        return try folder.open(picture)
    }

    /// The locked folder of a picture; nil if it does not exist.
    ///
    /// - Throws: ``InPlaceError`` with the outcome of the picture.
    func folder(of wanted: RequestedPicture) throws(InPlaceError) -> PictureFolder? {
        switch folders[wanted.picture.folderBytes] {
        case .success(let folder):
            // Another user who can write in the folder above may have replaced it.
            guard wanted.folder == nil || wanted.folder == folder.identity else {
                throw .refused("its folder was replaced by another one meanwhile; left as it is")
            }
            return folder
        case .failure(let trouble as FileError) where [ENOENT, ENOTDIR].contains(trouble.code): return nil
        case .failure(let trouble as FileError): throw InPlaceError(trouble)
        case .failure, nil: throw InPlaceError(outcome: .busy)
        }
    }
}

extension InputFile {
    /// The path of the folder in bytes.
    var folderBytes: [UInt8] {
        let folder = exactPath[..<(exactPath.lastIndex(of: PathNames.slash) ?? 0)]
        return folder.isEmpty ? [PathNames.slash] : Array(folder)
    }

    /// The path of the folder; nil if it is not UTF-8.
    var folderPath: String? { String(validating: folderBytes, as: UTF8.self) }

    /// The name in bytes.
    var nameBytes: [UInt8] { Array(exactPath[(exactPath.lastIndex(of: PathNames.slash).map { $0 + 1 } ?? 0)...]) }
}
