import CPenumbraPlugin
import Glibc

/// Opens shared libraries and finds what they describe.
enum PluginLibrary {
    /// What a library turned out to be.
    enum Content {
        case plugin(UnsafePointer<penumbra_plugin>)
        /// It does not export the entry function.
        case somethingElse
    }

    /// The one function that a plugin exports.
    static let entryName = "penumbra_plugin_entry"

    /// Opens a library for the rest of the process's life: its code and its constants are used by filters, and what it
    /// registered with its language's run time cannot be taken back.
    ///
    /// Opening runs the library's initialisers, so the caller checks first who may write the file.
    static func open(_ candidate: Candidate) throws(PluginProblem) -> Content {
        guard let handle = FloatingPointMode.kept({ dlopen(candidate.openName, RTLD_NOW | RTLD_LOCAL) }) else {
            let words = dlerror().map { String(cString: $0) } ?? "no reason given"
            let reason = words.replacing(candidate.openName, with: candidate.path)
            throw PluginProblem("cannot be opened (\(reason)); build it on this machine, with its libraries installed")
        }
        guard let symbol = dlsym(handle, entryName) else { return .somethingElse }
        let entry = unsafe(bitCast: symbol)
        guard let plugin = FloatingPointMode.kept({ entry?(PENUMBRA_PLUGIN_ABI) }) else {
            throw PluginProblem(
                "needs a newer plugin interface than \(PENUMBRA_PLUGIN_ABI); use a newer Penumbra or an older plugin")
        }
        return .plugin(plugin)
    }

    /// The header declares what a function of that name is.
    private static func unsafe(bitCast symbol: UnsafeMutableRawPointer) -> penumbra_plugin_entry_function? {
        unsafeBitCast(symbol, to: penumbra_plugin_entry_function?.self)
    }
}
