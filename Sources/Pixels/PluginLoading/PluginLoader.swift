package import Catalogs
import Digests
package import Filters

/// A plugin that is ready for use.
package struct LoadedPlugin: Sendable {
    package let path: String
    /// The plugin's own, for the catalog's list of versions.
    package let version: String
    package let entry: FilterEntry

    /// The filter's name.
    package var name: String { entry.descriptor.name }
}

/// Finds and opens plugins.
package struct PluginLoader {
    private let reservedNames: [String]
    private let policy: PluginPolicy
    private let isCancelled: CancellationQuestion
    private let triesFirst: Bool

    /// - Parameters:
    ///   - reservedNames: that no plugin may have: those of the built-in filters, and others that Penumbra uses.
    ///   - policy: which libraries may be opened.
    ///   - isCancelled: what plugins are told that ask whether they may stop.
    ///   - triesFirst: opens libraries in a child process first. Only for a process with one thread.
    package init(
        reservedNames: [String], policy: PluginPolicy = PluginPolicy(),
        isCancelled: CancellationQuestion = CancellationQuestion { false }, triesFirst: Bool = false
    ) {
        self.reservedNames = reservedNames
        self.policy = policy
        self.isCancelled = isCancelled
        self.triesFirst = triesFirst
    }

    /// Opens every library named lib….so in `folders`, in their order and by name, that only its owner and group may
    /// write. Of two plugins with one name, the first stays.
    ///
    /// - Returns: the plugins, one sentence for each file or folder that could not be used, and the libraries that the
    ///   policy keeps out. One bad plugin never keeps another from working.
    package func load(
        _ folders: [PluginFolder]
    ) -> (plugins: [LoadedPlugin], problems: [String], unpinned: [UnpinnedPlugin]) {
        var found = Found()
        for folder in folders {
            do {
                found.candidates += try folder.libraries().map { ($0, folder.isImplicit) }
            } catch {
                found.problems.append("plugin folder \(folder.path) \(error)")
            }
        }
        found.problems += policy.pinsWithoutFile(found.candidates.map(\.path)).map {
            "the pin of '\($0)' fits no file in the plugin folders; correct or remove it"
        }
        let candidates = found.permitted(policy)
        let failures = triesFirst ? PluginTrial.problems(candidates.map(\.path)) : [:]
        for (path, isImplicit) in candidates {
            found.add(path) { plugins throws(PluginProblem) in
                if let failure = failures[path] { throw failure }
                guard let plugin = try load(path, isImplicit: isImplicit) else { return nil }
                try checkName(of: plugin, among: plugins)
                return plugin
            }
        }
        return (found.plugins, found.problems, found.unpinned)
    }

    /// Nil for a library in an implicit folder that is no plugin.
    private func load(_ path: String, isImplicit: Bool) throws(PluginProblem) -> LoadedPlugin? {
        switch try PluginLibrary.open(path) {
        case .plugin(let pointer):
            let description = try PluginDescription(pointer)
            let isCancelled = isCancelled
            let entry = FilterEntry(description.descriptor(path: path)) {
                try PluginFilter(description, $0, isCancelled: isCancelled)
            }
            return LoadedPlugin(path: path, version: description.version, entry: entry)
        case .somethingElse where isImplicit:
            return nil
        case .somethingElse:
            throw PluginProblem("does not export penumbra_plugin_entry; move it elsewhere if it is no plugin")
        }
    }

    private func checkName(of plugin: LoadedPlugin, among plugins: [LoadedPlugin]) throws(PluginProblem) {
        if reservedNames.contains(plugin.name) {
            throw PluginProblem("names its filter '\(plugin.name)', which is Penumbra's own; rename it")
        }
        if let other = plugins.first(where: { $0.name == plugin.name }) {
            throw PluginProblem("names its filter '\(plugin.name)', as \(other.path) does; remove one of them")
        }
    }
}

/// What was found so far, and what was wrong with the rest.
private struct Found {
    var candidates: [(path: String, isImplicit: Bool)] = []
    private(set) var plugins: [LoadedPlugin] = []
    var problems: [String] = []
    private(set) var unpinned: [UnpinnedPlugin] = []

    /// The candidates that may be opened, each once.
    mutating func permitted(_ policy: PluginPolicy) -> [(path: String, isImplicit: Bool)] {
        var seen: Set<String> = []
        var permitted: [(path: String, isImplicit: Bool)] = []
        for candidate in candidates where seen.insert(candidate.path).inserted {
            do throws(PluginProblem) {
                try PluginFolder.checkOwnership(ofLibrary: candidate.path)
                if try policy.permits(candidate.path, digest: { SHA256.digest(ofFile: $0) }) {
                    permitted.append(candidate)
                } else {
                    let digest = SHA256.digest(ofFile: candidate.path) ?? ""
                    unpinned.append(UnpinnedPlugin(path: candidate.path, sha256: digest))
                }
            } catch {
                problems.append("plugin \(candidate.path) \(error)")
            }
        }
        return permitted
    }

    mutating func add(_ path: String, _ load: ([LoadedPlugin]) throws(PluginProblem) -> LoadedPlugin?) {
        do {
            if let plugin = try load(plugins) { plugins.append(plugin) }
        } catch {
            problems.append("plugin \(path) \(error)")
        }
    }
}
