import Foundation
import Glibc
import JobModel
import Planning
import SafeFiles

/// Writes new files.
enum NewFile {
    /// - Parameters:
    ///   - what: the file's name in messages: `the template`.
    ///   - option: the option that names the file.
    /// - Throws: ``FarmError`` if the path exists, or if the write fails. Then no file is left.
    static func write(_ text: String, to path: String, _ what: String, option: String) throws(FarmError) {
        do {
            try create(text, at: path)
        } catch {
            guard error.code != EEXIST else {
                throw FarmError(
                    .usage,
                    "\(PathText.visible(path)): the file exists, and \(option) replaces no file\n   = move it away, or choose another path"
                )
            }
            let remedy = error.remedy(orChoose: "another path").map { "\n   = \($0)" } ?? ""
            throw FarmError(
                .storage,
                "\(PathText.visible(path)): \(what) cannot be saved: \(String(cString: strerror(error.code)))\(remedy)")
        }
    }

    fileprivate static func create(_ text: String, at path: String) throws(FileError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw FileError(path: path, code: errno, action: "create the file") }
        defer { close(descriptor) }
        let code = FileCalls.kernel.writeAll(Array(text.utf8)[...], to: descriptor)
        guard code == 0 else {
            unlink(path)
            throw FileError(path: path, code: code, action: "write")
        }
    }
}

/// Writes new folders.
enum NewFolder {
    struct File {
        /// The path below the folder.
        let path: String
        let text: String
    }

    /// Writes files into a new folder. If that fails, no folder is left.
    ///
    /// - Throws: ``FarmError`` if `folder` exists, or if a write fails.
    static func write(_ files: [File], to folder: String) throws(FarmError) {
        guard !FileManager.default.fileExists(atPath: folder) else {
            throw FarmError(.usage, "\(folder): the folder exists\n   = choose another name, or another folder with -o")
        }
        // The error that follows names the folder.
        try fill(folder, files) { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Writes files into a new or an empty folder.
    ///
    /// - Parameter option: the option that names the folder.
    static func write(_ files: [File], toEmpty folder: String, option: String) throws(FarmError) {
        let manager = FileManager.default
        guard manager.fileExists(atPath: folder) else {
            // The error that follows names the folder.
            return try fill(folder, files) { try? manager.removeItem(atPath: folder) }
        }
        guard let names = try? manager.contentsOfDirectory(atPath: folder), names.isEmpty else {
            throw FarmError(
                .usage,
                "\(folder): it exists and is not an empty folder, and \(option) replaces nothing\n   = choose another name"
            )
        }
        try fill(folder, files) {
            // Not all of them were written. The error that follows names the folder.
            for file in files { try? manager.removeItem(atPath: "\(folder)/\(file.path)") }
        }
    }

    /// - Parameter undo: removes what was written.
    private static func fill(_ folder: String, _ files: [File], undo: () -> Void) throws(FarmError) {
        do throws(FileError) {
            for file in files {
                let path = "\(folder)/\(file.path)"
                _ = try FileSystem.createFolders(PathNames.folder(of: path) ?? folder)
                try NewFile.create(file.text, at: path)
            }
        } catch {
            undo()
            throw FarmError(.storage, error.message(orChoose: "another folder"))
        }
    }
}
