package import Catalogs
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

/// What came of one check of a plugin, as `penumbra-worker check-plugin` says it, a line of JSON for each.
package enum PluginFinding: Hashable, Sendable, Codable {
    /// The check of this name begins: whatever ends the process now was met in it.
    case begins(String)
    case kept(String)
    /// How the plugin broke what the check is named after.
    case broken(String, how: String)
    /// Why the check could not be tried.
    case skipped(String, why: String)
}

/// A plugin that workers use, as `penumbra-worker list-plugins` says it.
package struct PluginFacts: Hashable, Sendable, Codable {
    /// The filter's.
    package let name: String
    package let version: String
    package let summary: String
    package let path: String
    /// Of the file, in hexadecimal digits.
    package let sha256: String

    package init(name: String, version: String, summary: String, path: String, sha256: String) {
        self.name = name
        self.version = version
        self.summary = summary
        self.path = path
        self.sha256 = sha256
    }
}

/// All that workers have, what they could not use, and what they may not.
package struct PluginList: Hashable, Sendable, Codable {
    package let plugins: [PluginFacts]
    package let problems: [String]
    package let unpinned: [UnpinnedPlugin]

    package init(plugins: [PluginFacts], problems: [String], unpinned: [UnpinnedPlugin]) {
        self.plugins = plugins
        self.problems = problems
        self.unpinned = unpinned
    }
}
