import Catalogs
import FilterKit
import Glibc
import ImageFiles
import JobModel
import Kernels
import PluginLoading
import WorkerProtocol

/// What this worker can do: built-in filters, plugins, image formats.
struct Toolbox: Sendable {
    let registry: FilterRegistry
    let catalog: Catalog
    private let entries: [FilterEntry]

    /// Plugins come from the folders in `PENUMBRA_PLUGIN_PATH` and from beside this program.
    init() throws {
        let folders = Self.pluginFolders().map { PluginFolder($0) }
        let (plugins, problems) = PluginLoader.load(
            folders: folders + [PluginFolder(Self.programFolder(), isImplicit: true)],
            reservedNames: BuiltInFilters.all.map(\.descriptor.name))
        entries = BuiltInFilters.all + plugins.map(\.entry)
        registry = FilterRegistry(entries)
        var versions = [
            "penumbra": Version.penumbra, "rendering": Version.rendering, "libvips": VipsRuntime.version,
            "cpu": CPULevel.current.rawValue,
        ]
        for plugin in plugins { versions[plugin.name] = plugin.version }
        catalog = Catalog(
            versions: versions, filters: registry.descriptors, formats: try ImageFormats.descriptors(),
            pluginProblems: problems)
    }

    /// Also refuses a CPU level that is not there, before a pixel is computed.
    static func startLibraries() throws {
        _ = try CPULevel.chosen(by: getenv(CPULevel.variable).map { String(cString: $0) }, of: CPULevel.supported)
        try VipsRuntime.start(threads: 1)
    }

    /// The registry, with plugins that tell `watch` when their code runs.
    func registry(watchedBy watch: PluginWatch) -> FilterRegistry {
        FilterRegistry(
            entries.map { entry in
                guard case .plugin = entry.descriptor.origin else { return entry }
                let name = entry.descriptor.name
                return entry.wrapping { make in
                    WatchedFilter(filter: try watch.within(name, make), name: name, watch: watch)
                }
            })
    }

    private static func pluginFolders() -> [String] {
        guard let path = getenv("PENUMBRA_PLUGIN_PATH") else { return [] }
        return String(cString: path).split(separator: ":").map(String.init)
    }

    private static func programFolder() -> String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        let path = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return PathNames.folder(of: path) ?? "."
    }
}
