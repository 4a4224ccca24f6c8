import JobModel
import JobStorage
import SafeFiles

/// Remembers which files `penumbra preview` wrote, so that it replaces only those without asking.
///
/// The state folder has their paths and stamps. A mark in the file itself would have to survive in every
/// format, and anybody could copy it.
package struct PreviewRegistry: Sendable {
    private let state: String

    package init(state: String) { self.state = state }

    /// Whether the file at a path may be replaced: it is missing, or an unchanged preview.
    package func mayReplace(_ path: String) throws -> Bool {
        guard FileSystem.exists(path) else { return true }
        guard FileSystem.isRegular(path), let stamp = FileSystem.stamp(path),
            let store = try JobStore.existing(at: JobStore.databasePath(state: state))
        else { return false }
        let known = try store.read { try $0.preview(at: path) }
        return known.map { stamp.isUntouched(since: $0) } ?? false
    }

    /// Records that a preview was written to this path.
    package func add(_ path: String) throws {
        guard let stamp = FileSystem.stamp(path) else { return }
        _ = try FileSystem.createFolders(state)
        try JobStore(path: JobStore.databasePath(state: state)).write { try $0.setPreview(stamp, at: path) }
    }
}
