import Glibc

/// Finds out whether Penumbra could work in a folder.
package enum WritableFolder {
    /// Whether files may be made in a folder, as its rights and its file system tell. One that is missing is none of the
    /// question.
    package static func refuseForbidden(_ path: String) throws(FileTrouble) {
        guard access(path, W_OK | X_OK) != 0, errno != ENOENT else { return }
        throw FileTrouble(path: path, code: errno, action: "write in the folder")
    }

    /// Writes a file there and removes it.
    ///
    /// - Parameter creates: whether the folder is made if need be.
    /// - Returns: the bytes that are free.
    package static func examine(_ path: String, creates: Bool = true) throws(FileTrouble) -> Int {
        if creates { _ = try FileSystem.createFolders(path) }
        let probe = "\(path)/.penumbra-doctor-\(getpid())"
        let file = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw FileTrouble(path: path, code: errno, action: "write in the folder") }
        close(file)
        unlink(probe)
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { throw FileTrouble(path: path, code: errno, action: "examine") }
        return Int(facts.f_bavail) * Int(facts.f_frsize)
    }
}
