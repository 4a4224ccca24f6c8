import CPenumbraPlugin
package import Catalogs
package import Filters
import Glibc
package import JobModel

/// A plugin that is ready for use.
package struct LoadedPlugin: Sendable {
    package let path: String
    /// The plugin's own version, for the catalog.
    package let version: String
    package let entry: FilterEntry

    /// The filter's name.
    package var name: String { entry.descriptor.name }
}

/// The result of a search in the plugin folders.
package struct LoadedPlugins: Sendable {
    package let plugins: [LoadedPlugin]
    /// One sentence for each unusable file or folder.
    package let problems: [String]
    /// The libraries that the trial refused.
    package let refused: [RefusedLibrary]
    /// The libraries that the policy refuses, because they have no pin.
    package let unpinned: [UnpinnedPlugin]
}

/// Finds and opens plugins.
package struct PluginLoader {
    private let reservedNames: [String]
    private let policy: PluginPolicy
    private let isCancelled: CancellationQuestion
    private let trial: PluginTrial?

    /// - Parameters:
    ///   - reservedNames: names that no plugin may have: those of the built-in filters, and others that Penumbra uses.
    ///   - policy: the policy for libraries that may be opened.
    ///   - isCancelled: the answer for plugins that ask whether they may stop.
    ///   - trial: opens libraries in a child process first. It requires a process with one thread.
    package init(
        reservedNames: [String], policy: PluginPolicy = PluginPolicy(),
        isCancelled: CancellationQuestion = CancellationQuestion { false }, trial: PluginTrial? = nil
    ) {
        self.reservedNames = reservedNames
        self.policy = policy
        self.isCancelled = isCancelled
        self.trial = trial
    }

    /// Opens every library named lib….so in `folders`, in their order and by name, that only its owner and group may write. If
    /// two plugins have the same name, the first is used. A bad plugin never prevents the use of another.
    ///
    /// - Parameter confine: keeps this process from the rest of the machine. It is called after the trial, which needs a process of
    ///   its own, and before the first library is opened. It gets the paths of the libraries that will be opened.
    package func load<Failure: Error>(
        _ folders: [PluginFolder], confine: (_ libraries: [String]) throws(Failure) -> Void
    ) throws(Failure) -> LoadedPlugins {
        var found = Found()
        for folder in folders {
            do {
                found.candidates += try folder.libraries().map {
                    Candidate(path: $0, isImplicit: folder.isImplicit, isForeign: folder.isForeign)
                }
            } catch {
                found.problems.append("plugin folder \(folder.path) \(error)")
            }
        }
        found.problems += policy.pinsWithoutFile(found.candidates.map(\.path)).map {
            "the pin of '\($0)' fits no file in the plugin folders; correct or remove it"
        }
        let candidates = found.permitted(policy)
        let tried = trial?(candidates) ?? PluginTrial.Findings()
        try confine(candidates.map(\.path))
        for candidate in candidates {
            found.add(candidate.path) { plugins throws(PluginError) in
                if let problem = tried.problems[candidate.path] { throw problem }
                guard let plugin = try load(candidate) else { return nil }
                try checkName(of: plugin, among: plugins)
                return plugin
            }
        }
        return LoadedPlugins(
            plugins: found.plugins, problems: found.problems, refused: tried.refused, unpinned: found.unpinned)
    }

    /// Likewise, in this process as it is.
    package func load(_ folders: [PluginFolder]) -> LoadedPlugins { load(folders) { (_) throws(Never) in } }

    /// Returns nil for a library in the default folder that is no plugin.
    private func load(_ candidate: Candidate) throws(PluginError) -> LoadedPlugin? {
        let path = candidate.path
        switch try PluginLibrary.open(candidate) {
        case .plugin(let pointer):
            let description = try PluginDescription(pointer)
            let isCancelled = isCancelled
            let entry = FilterEntry(description.descriptor(path: path)) {
                try PluginFilter(description, $0, isCancelled: isCancelled)
            }
            return LoadedPlugin(path: path, version: description.version, entry: entry)
        case .somethingElse where candidate.isImplicit:
            return nil
        case .somethingElse:
            throw PluginError("does not export penumbra_plugin_entry; move it elsewhere if it is no plugin")
        }
    }

    private func checkName(of plugin: LoadedPlugin, among plugins: [LoadedPlugin]) throws(PluginError) {
        if reservedNames.contains(plugin.name) { throw PluginError(reservedName: plugin.name) }
        if let other = plugins.first(where: { $0.name == plugin.name }) {
            throw PluginError(
                "is not used, because \(other.path) comes first and has a filter '\(plugin.name)', too; remove one of them, or "
                    + "ignore this while you try the first")
        }
    }
}

/// The plugins found so far, and the problems of the others.
private struct Found {
    var candidates: [Candidate] = []
    private(set) var plugins: [LoadedPlugin] = []
    var problems: [String] = []
    private(set) var unpinned: [UnpinnedPlugin] = []

    /// The candidates that may be opened, each once.
    mutating func permitted(_ policy: PluginPolicy) -> [Candidate] {
        var seen: Set<String> = []
        var permitted: [Candidate] = []
        for candidate in candidates where seen.insert(candidate.path).inserted {
            do {
                switch try candidate.permission(by: policy) {
                case .given(let candidate): permitted.append(candidate)
                case .noPin(let library): unpinned.append(library)
                }
            } catch {
                problems.append("plugin \(candidate.path) \(error)")
            }
        }
        return permitted
    }

    mutating func add(_ path: String, _ load: ([LoadedPlugin]) throws(PluginError) -> LoadedPlugin?) {
        do {
            if let plugin = try load(plugins) { plugins.append(plugin) }
        } catch {
            problems.append("plugin \(path) \(error)")
        }
    }
}

/// Opens shared libraries and reads their descriptions.
enum PluginLibrary {
    /// The content of a library.
    enum Content {
        case plugin(UnsafePointer<penumbra_plugin>)
        /// A library without the entry function.
        case somethingElse
    }

    /// The one function that a plugin exports.
    static let entryName = "penumbra_plugin_entry"

    /// Opens a library for the rest of the process's life. Filters use its code and constants, and its registrations with its
    /// language's runtime cannot be undone.
    ///
    /// Opening runs the library's initialisers, so the caller must first check who may write the file.
    static func open(_ candidate: Candidate) throws(PluginError) -> Content {
        guard let handle = FloatingPointMode.kept({ dlopen(candidate.openName, RTLD_NOW | RTLD_LOCAL) }) else {
            let words = dlerror().map { String(cString: $0) } ?? "no reason given"
            let reason = words.replacing(candidate.openName, with: candidate.path)
            throw PluginError(
                "cannot be opened (\(reason)); build it on this machine, with its libraries installed"
                    + (reason.hasSuffix(String(cString: strerror(EACCES)))
                        ? ", or name the folder of a library that the sandbox refuses in 'sandbox_read'" : ""))
        }
        guard let symbol = dlsym(handle, entryName) else { return .somethingElse }
        let entry = unsafe(bitCast: symbol)
        guard let plugin = FloatingPointMode.kept({ entry?(PENUMBRA_PLUGIN_ABI) }) else {
            throw PluginError(
                "needs a newer plugin interface than \(PENUMBRA_PLUGIN_ABI); use a newer Penumbra or an older plugin")
        }
        return .plugin(plugin)
    }

    /// The header declares the type of a function with that name.
    private static func unsafe(bitCast symbol: UnsafeMutableRawPointer) -> penumbra_plugin_entry_function? {
        unsafeBitCast(symbol, to: penumbra_plugin_entry_function?.self)
    }
}

/// The reason why a library is not used as a plugin: a sentence that follows the file's name and includes the remedy.
struct PluginError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    init(reservedName name: String) {
        self.init("names its filter '\(name)', which is Penumbra's own; rename it")
    }
}

/// A violation of the plugin interface. The text follows the filter's name.
struct PluginFaultError: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
