package import Catalogs
package import JobModel

/// The plugins that a worker may use. The coordinator passes them to its workers as JSON in their environment, because
/// paths and names may contain any character.
package struct PluginConditions: Hashable, Sendable, Codable {
    /// A file's name, and its required SHA-256 in lower-case hexadecimal digits.
    package struct Pin: Hashable, Sendable, Codable {
        package let file: String
        package let sha256: String

        package init(file: String, sha256: String) {
            self.file = file
            self.sha256 = sha256
        }
    }

    package var folders: [String] = []
    /// Folders that a file named, and not this machine's own settings. Only libraries of this user or of root are
    /// loaded from them.
    package var foreignFolders: [String] = []
    package var pins: [Pin] = []
    /// True if a library without a pin is refused.
    package var isPinnedOnly = false
    /// Libraries that earlier workers refused. This worker does not try them again.
    package var refused: [RefusedLibrary] = []

    /// A folder that workers search for plugins if it exists, after ``folders``. It is for all users of a machine.
    package static let standardFolder = "/usr/local/lib/penumbra/plugins"

    /// The environment variable. A worker that is started without it uses the plugins beside itself.
    package static let variable = "PENUMBRA_WORKER_PLUGINS"

    /// Stored shards contain these names.
    private enum CodingKeys: String, CodingKey {
        case folders, pins, isPinnedOnly, refused
        case foreignFolders = "strangeFolders"
    }

    package init() {}

    /// These conditions came from a file. The result is what this machine's own settings allow of them. Own pins come
    /// first. If the settings require pins for all libraries, no file can lift this. Folders that the settings do not
    /// name are foreign.
    package func restricted(by own: PluginConditions) -> PluginConditions {
        var all = self
        all.isPinnedOnly = isPinnedOnly || own.isPinnedOnly
        let known = Set(own.folders.map(PathKey.init))
        all.foreignFolders = folders.filter { !known.contains(PathKey($0)) }
        let pinned = Set(own.pins.map(\.file))
        all.pins = own.pins + pins.filter { !pinned.contains($0.file) && !own.isPinnedOnly }
        return all
    }

    /// The conditions from the variable's value. Nil if it is from another version of Penumbra.
    package init?(text: String) {
        do {
            self = try FrameCodec.decode(PluginConditions.self, from: Array(text.utf8))
        } catch {
            return nil
        }
    }

    package func text() throws -> String { String(decoding: try FrameCodec.json(self), as: UTF8.self) }
}

/// The result of one check of a plugin. `penumbra-worker check-plugin` prints a line of JSON for each.
package enum PluginFinding: Hashable, Sendable, Codable {
    /// The check of this name begins. If the process ends now, this check is the cause.
    case begins(String)
    /// The filter crashed or ended the process in this call. `what` describes the tile.
    case crashed(on: String)
    case kept(String)
    /// The plugin failed the check. `how` describes its error.
    case broken(String, how: String)
    /// The check could not be tried. `why` gives the reason.
    case skipped(String, why: String)
}

/// A plugin that workers use, as `penumbra-worker list-plugins` prints it.
package struct PluginFacts: Hashable, Sendable, Codable {
    /// The filter's name.
    package let name: String
    package let version: String
    package let summary: String
    package let path: String
    /// The digest of the file, in hexadecimal digits.
    package let sha256: String

    package init(name: String, version: String, summary: String, path: String, sha256: String) {
        self.name = name
        self.version = version
        self.summary = summary
        self.path = path
        self.sha256 = sha256
    }
}

/// The plugins that workers use, the ones that failed to load, and the ones that are not allowed.
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
