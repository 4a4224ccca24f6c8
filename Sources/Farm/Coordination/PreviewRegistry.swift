import JobModel
import JobStorage
import SafeFiles

/// Knows which files `penumbra preview` wrote: those alone it replaces unasked.
///
/// They are known by their paths and stamps, in the state folder: a mark in the file would have to survive every format, and
/// anybody could copy it.
package struct PreviewRegistry: Sendable {
    private let state: String

    package init(state: String) { self.state = state }

    /// Whether what lies at a path may be replaced: nothing is there, or a preview as it was written.
    package func mayReplace(_ path: String) throws -> Bool {
        guard FileSystem.exists(path) else { return true }
        guard FileSystem.isRegular(path), let stamp = FileSystem.stamp(path),
            let store = try JobStore.looking(at: JobStore.databasePath(state: state))
        else { return false }
        let known = try store.read { try $0.preview(at: path) }
        return known.map { stamp.isUntouched(since: $0) } ?? false
    }

    /// A preview was written to this path.
    package func add(_ path: String) throws {
        guard let stamp = FileSystem.stamp(path) else { return }
        _ = try FileSystem.createFolders(state)
        try JobStore(path: JobStore.databasePath(state: state)).write { try $0.setPreview(stamp, at: path) }
    }
}
