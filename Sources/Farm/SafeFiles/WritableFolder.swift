import Glibc
import JobModel

/// Checks whether Penumbra can write in a folder.
package enum WritableFolder {
    /// Throws if the rights or the file system of a folder forbid new files. For a missing folder, the nearest existing one
    /// above it counts.
    package static func refuseForbidden(_ path: String) throws(FileError) {
        guard access(path, W_OK | X_OK) != 0 else { return }
        let code = errno
        if code == ENOENT, let above = PathNames.folder(of: path), above != path { return try refuseForbidden(above) }
        guard code != ENOENT else { return }
        throw FileError(path: path, code: code, action: FileError.writeInFolder)
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
