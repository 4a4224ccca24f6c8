import Catalogs
import Filters
import Glibc
import JobModel
import PluginLoading

/// The plugins of this worker.
struct InstalledPlugins: Sendable {
    let plugins: [LoadedPlugin]
    /// One sentence for each library or folder that could not be used.
    let problems: [String]
    /// Those that have no pin, where that keeps them out.
    let unpinned: [UnpinnedPlugin]

    /// From the folders in `PENUMBRA_PLUGIN_PATH` and from beside this program. What `PENUMBRA_PLUGINS` and
    /// `PENUMBRA_PLUGIN_PINS` say of them, as the coordinator writes it, holds.
    ///
    /// - Precondition: this process has one thread.
    init(cancellation: TaskCancellation) {
        let loader = PluginLoader(
            reservedNames: BuiltInFilters.all.map(\.descriptor.name) + Toolbox.ownVersions, policy: Self.policy,
            isCancelled: CancellationQuestion { cancellation.isCancelled }, triesFirst: true)
        (plugins, problems, unpinned) = loader.load(Self.folders)
    }

    static var folders: [PluginFolder] {
        let named = variable("PENUMBRA_PLUGIN_PATH").split(separator: ":").map { PluginFolder(String($0)) }
        return named + [PluginFolder(programFolder, isImplicit: true)]
    }

    /// `PENUMBRA_PLUGIN_PINS` has a file's name, a colon and its SHA-256 for each pin, with commas between.
    static var policy: PluginPolicy {
        let pins = variable("PENUMBRA_PLUGIN_PINS").split(separator: ",").compactMap { pin -> PluginPolicy.Pin? in
            guard let colon = pin.lastIndex(of: ":") else { return nil }
            return PluginPolicy.Pin(
                file: String(pin[..<colon]), sha256: pin[pin.index(after: colon)...].lowercased())
        }
        return PluginPolicy(pins: pins, isPinnedOnly: variable("PENUMBRA_PLUGINS") == "pinned-only")
    }

    private static func variable(_ name: String) -> String { getenv(name).map { String(cString: $0) } ?? "" }

    private static var programFolder: String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        let path = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return PathNames.folder(of: path) ?? "."
    }
}
