package import JobModel

/// Which plugins a worker may use: what a coordinator hands to the workers that it starts, as JSON in their environment,
/// since paths and names may hold any character.
package struct PluginConditions: Hashable, Sendable, Codable {
    /// A file's name, and the SHA-256 that it must have, in small hexadecimal digits.
    package struct Pin: Hashable, Sendable, Codable {
        package let file: String
        package let sha256: String

        package init(file: String, sha256: String) {
            self.file = file
            self.sha256 = sha256
        }
    }

    package var folders: [String] = []
    /// Those of the folders that a file named, and not this machine's own settings: only what belongs to this user or to root
    /// is used of them.
    package var strangeFolders: [String] = []
    package var pins: [Pin] = []
    /// True when a library without a pin is refused.
    package var isPinnedOnly = false
    /// What workers before this one refused, so that it need not find that out again.
    package var refused: [RefusedLibrary] = []

    /// Of the environment. A worker that was started without it uses the plugins beside itself.
    package static let variable = "PENUMBRA_WORKER_PLUGINS"

    package init() {}

    /// These conditions, which came from a file, as far as this machine's own settings allow them: its pins count first, and
    /// where it wants pins for all libraries no file takes that back. Folders that the settings do not name are strange.
    package func restricted(by own: PluginConditions) -> PluginConditions {
        var all = self
        all.isPinnedOnly = isPinnedOnly || own.isPinnedOnly
        let known = Set(own.folders.map(PathKey.init))
        all.strangeFolders = folders.filter { !known.contains(PathKey($0)) }
        let pinned = Set(own.pins.map(\.file))
        all.pins = own.pins + pins.filter { !pinned.contains($0.file) && !own.isPinnedOnly }
        return all
    }

    /// The variable's value; nil when it is not of this version of Penumbra.
    package init?(text: String) {
        do {
            self = try FrameCodec.decode(PluginConditions.self, from: Array(text.utf8))
        } catch {
            return nil
        }
    }

    package func text() throws -> String { String(decoding: try FrameCodec.json(self), as: UTF8.self) }
}
