import Glibc

/// Finds out whether Penumbra could work in a folder.
package enum WritableFolder {
    /// Creates the folder if need be, writes a file there and removes it.
    ///
    /// - Returns: the bytes that are free.
    package static func examine(_ path: String) throws(FileTrouble) -> Int {
        _ = try FileSystem.createFolders(path)
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
