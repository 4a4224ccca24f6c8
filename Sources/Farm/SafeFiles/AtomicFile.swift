package import Glibc

/// A file that is there whole, or as it was before.
package enum AtomicFile {
    /// Written at `temporary`, in the same folder, and renamed.
    ///
    /// - Parameter mode: the file's rights, but for those that the umask takes.
    package static func write(
        _ bytes: [UInt8], to path: String, by temporary: String, mode: mode_t = 0o666
    ) throws(FileTrouble) {
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
}
