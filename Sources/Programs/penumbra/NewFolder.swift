import Foundation
import FoundationEssentials
import JobModel

/// Makes folders that were not there.
enum NewFolder {
    /// Writes a template's files into a new folder; nothing is left of one that cannot be written whole.
    ///
    /// - Throws: ``CommandError`` where something is at `folder` already, or it cannot be written.
    static func write(_ files: [PluginTemplate.File], to folder: String) throws {
        let manager = FileManager.default
        guard !manager.fileExists(atPath: folder) else {
            throw CommandError(.usage, "\(folder) is there already; choose another name, or another folder with -o")
        }
        do {
            for file in files {
                let path = "\(folder)/\(file.path)"
                try manager.createDirectory(
                    atPath: PathNames.folder(of: path) ?? folder, withIntermediateDirectories: true)
                try Data(file.text.utf8).write(to: URL(filePath: path), options: .withoutOverwriting)
            }
        } catch {
            // What is left of it is in nobody's way: the next try says that it is there.
            try? manager.removeItem(atPath: folder)
            throw CommandError(.badPlace, "\(folder) cannot be written: \(error.localizedDescription)")
        }
    }
}
