import Glibc
import JobModel

/// Checks whether Penumbra can write in a folder.
package enum WritableFolder {
    /// Throws if the rights or the file system of a folder forbid new files, or if something else is in its place. For a missing folder, the
    /// nearest existing one above it counts.
    package static func refuseForbidden(_ path: String) throws(FileError) {
        let code = access(path, W_OK | X_OK) == 0 ? 0 : errno
        guard !FileSystem.exists(path) || FileSystem.isFolder(path) else {
            throw FileError(path: path, code: ENOTDIR, action: "create the folder")
        }
        switch code {
        case 0: return
        // Below a file, each path has the code ENOTDIR.
        case ENOENT, ENOTDIR:
            guard let above = PathNames.folder(of: path), above != path else { return }
            try refuseForbidden(above)
        default: throw FileError(path: path, code: code, action: FileError.writeInFolder)
        }
    }

    /// Writes a file in the folder and removes it.
    ///
    /// - Parameter creates: whether a missing folder is created.
    /// - Returns: the free bytes of its disk.
    package static func examine(_ path: String, creates: Bool = true) throws(FileError) -> Int {
        if creates { _ = try FileSystem.createFolders(path) }
        let probe = "\(path)/.penumbra-doctor-\(getpid())"
        let file = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileError(path: path, code: errno, action: FileError.writeInFolder) }
        close(file)
        unlink(probe)
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { throw FileError(path: path, code: errno, action: "examine") }
        return Int(facts.f_bavail) * Int(facts.f_frsize)
    }
}
