import Foundation

/// A folder of its own for one test, removed with the value.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("penumbra-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        path = folder.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)  // what is left in /tmp harms no later test
    }

    package func file(_ name: String) -> String { path + "/" + name }
}
