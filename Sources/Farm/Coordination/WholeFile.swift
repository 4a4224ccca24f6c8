package import SafeFiles

/// A file that is there whole, or as it was before.
package enum WholeFile {
    /// Written at `temporary`, in the same folder, and renamed.
    package static func write(_ bytes: [UInt8], to path: String, by temporary: String) throws(FileTrouble) {
        _ = try FileSystem.createFolders(String(FileSystem.folder(of: path).dropLast()))
        FileSystem.remove(temporary)
        do {
            try FileSystem.append(bytes, to: temporary, syncs: true)
            try FileSystem.rename(temporary, to: path)
        } catch {
            FileSystem.remove(temporary)
            throw error
        }
    }
}
