package import Catalogs

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
