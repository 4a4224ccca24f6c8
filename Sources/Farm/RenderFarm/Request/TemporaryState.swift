import Coordination
import FoundationEssentials
import SafeFiles

/// A state folder for one command, on a local disk: other machines could not use one that lasts.
package enum TemporaryState {
    private static let prefix = "penumbra-state-"

    /// - Parameter given: by the user; nil for a new folder, which is removed afterwards.
    package static func with<Result>(_ given: String?, _ body: (String) async throws -> Result) async throws -> Result {
        if let given { return try await body(given) }
        let place = FileManager.default.temporaryDirectory
        sweep(place)
        while true {
            let folder = place.appending(path: prefix + String(UInt64.random(in: 1 << 60 ... .max), radix: 16))
            // In a folder that everybody may write to.
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.path(percentEncoded: false)
            // Another process may just be sweeping, and have it.
            guard let lock = try KernelLock.take("\(path)/alive") else { continue }
            defer { withExtendedLifetime(lock) {} }
            return try await body(path)
        }
    }

    /// Those of processes that were killed. Another user's cannot be locked.
    private static func sweep(_ place: URL) {
        let path = place.path(percentEncoded: false)
        guard let folder = try? SafeFolder(path, trusting: .everybody), let names = try? folder.names() else { return }
        for name in names where name.hasPrefix(prefix) {
            let alive = place.appending(path: name).appending(path: "alive").path(percentEncoded: false)
            // Root could remove another user's, who could exchange it meanwhile.
            guard let own = try? folder.folder(name), (try? own.isOwn()) == true, isReadable(alive),
                let lock = try? KernelLock.take(alive)
            else { continue }
            withExtendedLifetime(lock) { folder.removeTree(name) }
        }
    }
}
