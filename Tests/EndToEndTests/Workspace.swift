import ExamplePictures
import Foundation
import Geometry
import Raster
import Subprocess
import TestSupport
import Testing

/// A folder with pictures and manifests that goes with the test.
final class Workspace: Sendable {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "penumbra-e2e-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    // A folder that stays behind in /tmp harms nobody.
    deinit { try? FileManager.default.removeItem(atPath: path) }

    func environment(adding more: [String: String]) -> [Environment.Key: String] {
        var values: [Environment.Key: String] = [
            "PATH": "/usr/bin:/bin", "XDG_STATE_HOME": "\(path)/state", "XDG_CONFIG_HOME": "\(path)/config",
        ]
        for (key, value) in more { values[Environment.Key(stringLiteral: key)] = value }
        return values
    }

    func write(_ text: String, to name: String) throws {
        try write(Data(text.utf8), to: name)
    }

    func write(_ bytes: Data, to name: String) throws {
        let url = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: url)
    }

    func read(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: "\(path)/\(name)")) }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: "\(path)/\(name)") }

    /// The names below a folder, hidden ones too.
    /// All files but the indexes that runs keep beside their outputs.
    func files(below name: String) -> [String] {
        allFiles(below: name).filter { $0.split(separator: "/").last != ".penumbra-index" }
    }

    func allFiles(below name: String) -> [String] {
        (FileManager.default.subpaths(atPath: "\(path)/\(name)") ?? []).sorted().filter { file in
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: "\(path)/\(name)/\(file)", isDirectory: &isFolder) else {
                return false
            }
            return !isFolder.boolValue
        }
    }

    /// An eclipse as a picture file.
    func draw(_ name: String, width: Int, height: Int) throws {
        let url = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try PictureFiles.write(Scene.eclipse(width: width, height: height), to: url.path)
    }

    /// Three small photographs in `photos`.
    func drawPhotos() throws {
        try draw("photos/a.png", width: 160, height: 120)
        try draw("photos/b.png", width: 151, height: 97)
        try draw("photos/c.jpg", width: 200, height: 130)
    }
}

extension Workspace {
    /// A manifest with one Gaussian over `photos`, and what else is given. Runs make everything again, unless `more` says
    /// otherwise.
    func writeManifest(
        _ name: String = "job.yaml", inputs: String = "photos/*", filters: String = "[{gaussian: {radius: 5}}]",
        output: String = "out/{stem}.png", more: String = ""
    ) throws {
        try write(
            """
            job: test
            inputs: \(inputs)
            filters: \(filters)
            output: \(output)
            \(more.contains("existing:") ? "" : "existing: overwrite")
            \(more)

            """, to: name)
    }
}

extension Workspace {
    /// Changes what the database knows.
    func editDatabase(_ sql: String) async throws {
        let script = """
            import sqlite3, sys
            store = sqlite3.connect("state/penumbra/penumbra.sqlite")
            store.execute(sys.argv[1])
            store.commit()
            """
        let result = try await Program.run("/usr/bin/python3", ["-c", script, sql], in: self)
        #expect(result.code == 0, "\(result.errors)")
    }
}
