import Glibc
import JobModel
import Planning
import SafeFiles

/// A folder whose pictures are changed in place, locked against others who write there. Its path and the names in it may
/// not be UTF-8. C's calls stay in this file.
final class PictureFolder: Sendable {
    /// A picture as it was looked at.
    struct Found: Hashable, Sendable {
        let stamp: FileStamp
        let isFile: Bool
        /// How many names it has.
        let links: Int
    }

    /// Another run, or another command, writes there.
    struct Busy: Error {}

    private let descriptor: Int32
    /// Where the file system locks files alone.
    private let lockFile: KernelLock?
    /// For people.
    let path: String

    private static let lockName = ".penumbra-lock"

    deinit {
        // While it is locked: whoever has it open looks whether it is still there.
        if lockFile != nil { unlinkat(descriptor, Self.lockName, 0) }
        close(descriptor)
    }

    /// - Throws: ``Busy`` or ``FileTrouble``.
    init(of picture: InputFile) throws {
        let bytes = picture.exactPath
        let folder = bytes[..<(bytes.lastIndex(of: PathNames.slash) ?? 0)]
        path = PathText.folder(of: picture.path)
        descriptor = open(Self.chars(folder.isEmpty ? [PathNames.slash] : folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileTrouble(path: path, code: errno, action: "open the folder") }
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
            lockFile = nil
            return
        }
        do {
            lockFile = errno == EWOULDBLOCK ? nil : try KernelLock.takeFile(Self.lockName, in: descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        guard lockFile != nil else { throw Busy() }
    }

    private static func chars(_ bytes: some Sequence<UInt8>) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

    private static func name(of picture: InputFile) -> [UInt8] {
        let bytes = picture.exactPath
        return Array(bytes[(bytes.lastIndex(of: PathNames.slash).map { $0 + 1 } ?? 0)...])
    }

    /// Of the file that will be the picture. What a kill leaves of it is found by this name.
    private static func temporary(of picture: InputFile) -> String {
        ".penumbra-picture-\(FNV.name(of: name(of: picture)))"
    }

    /// Nil when nothing is there.
    func look(at picture: InputFile) -> Found? {
        var found = stat()
        guard fstatat(descriptor, Self.chars(Self.name(of: picture)), &found, AT_SYMLINK_NOFOLLOW) == 0 else {
            return nil
        }
        return Found(
            stamp: FileStamp(found), isFile: found.st_mode & S_IFMT == S_IFREG, links: Int(found.st_nlink))
    }

    /// Before anything is prepared for a picture that could not be replaced.
    func refuseReadOnly() throws(FileTrouble) {
        guard faccessat(descriptor, ".", W_OK | X_OK, AT_EACCESS) == 0 else {
            throw FileTrouble(path: path, code: errno, action: "write in the folder")
        }
    }

    /// Copies a picture to a new file.
    ///
    /// - Returns: what it has beside its bytes.
    func copy(_ picture: InputFile, to copy: String) throws(FileTrouble) -> FileAttributes {
        let file = openat(
            descriptor, Self.chars(Self.name(of: picture)), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { throw FileTrouble(path: picture.path, code: errno, action: "read") }
        defer { close(file) }
        let attributes = try FileAttributes(of: file, path: picture.path)
        let new = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard new >= 0 else { throw FileTrouble(path: copy, code: errno, action: "create") }
        defer { close(new) }
        try Self.copy(file, to: new, path: copy)
        // As far as the picture may be read its original may. Nobody has to write to it.
        guard fchmod(new, attributes.mode & 0o444 | 0o400) == 0 else {
            throw FileTrouble(path: copy, code: errno, action: "set the rights")
        }
        return attributes
    }

    private static func copy(_ file: Int32, to new: Int32, path: String) throws(FileTrouble) {
        var buffer = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileTrouble(path: path, code: errno, action: "copy to") }
            guard count > 0 else { return }
            var rest = buffer[..<count]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { write(new, $0.baseAddress, $0.count) }
                if written < 0, errno == EINTR { continue }
                guard written > 0 else {
                    throw FileTrouble(path: path, code: written < 0 ? errno : ENOSPC, action: "write")
                }
                rest = rest.dropFirst(written)
            }
        }
    }

    /// How a picture is replaced.
    enum Replacement {
        /// By its blurred self, which has to have all that the picture had, and a time of its own.
        case blurred
        /// By its original, with its time; what else cannot be had is told.
        case original
    }

    /// Puts a copy of a file in a picture's place in one step: at any moment one of both is there.
    ///
    /// - Parameter found: what has to be there still; nil for nothing.
    /// - Returns: what of the attributes could not be had.
    func replace(
        _ picture: InputFile, _ found: Found?, by source: String, _ attributes: FileAttributes, _ kind: Replacement
    ) throws(InPlaceTrouble) -> [String] {
        removeTemporary(of: picture)
        do throws(InPlaceTrouble) {
            let missing = try InPlaceTrouble.on { () throws(FileTrouble) in
                try prepare(picture, source, attributes, kind)
            }
            if kind == .blurred, let first = missing.first {
                throw .refused("this user cannot keep \(first) for the blurred picture; left as it is")
            }
            guard look(at: picture).map({ $0.stamp.isSameState(as: found?.stamp) }) ?? (found == nil) else {
                throw .changed
            }
            try InPlaceTrouble.on { () throws(FileTrouble) in try putInPlace(picture) }
            return missing
        } catch {
            removeTemporary(of: picture)
            throw error
        }
    }

    private func putInPlace(_ picture: InputFile) throws(FileTrouble) {
        let name = Self.chars(Self.name(of: picture))
        guard renameat(descriptor, Self.temporary(of: picture), descriptor, name) == 0 else {
            throw FileTrouble(path: picture.path, code: errno, action: "replace")
        }
        try sync()
    }

    /// Writes and syncs the file that will be the picture.
    private func prepare(
        _ picture: InputFile, _ source: String, _ attributes: FileAttributes, _ kind: Replacement
    ) throws(FileTrouble) -> [String] {
        let file = open(source, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { throw FileTrouble(path: source, code: errno, action: "read") }
        defer { close(file) }
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let new = openat(descriptor, Self.temporary(of: picture), flags, 0o600)
        guard new >= 0 else { throw FileTrouble(path: path, code: errno, action: "write in the folder") }
        defer { close(new) }
        try Self.copy(file, to: new, path: picture.path)
        let missing = try attributes.give(to: new, path: picture.path, withTimes: kind == .original)
        guard fsync(new) == 0 else { throw FileTrouble(path: picture.path, code: errno, action: "sync") }
        return missing
    }

    /// What a command has left that was killed.
    func removeTemporary(of picture: InputFile) { unlinkat(descriptor, Self.temporary(of: picture), 0) }

    private func sync() throws(FileTrouble) {
        guard fsync(descriptor) == 0 || errno == EINVAL else {
            throw FileTrouble(path: path, code: errno, action: "sync the folder")
        }
    }
}
