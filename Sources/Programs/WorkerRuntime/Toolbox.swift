import Catalogs
import Filters
import Geometry
import Glibc
import ImageFiles
import JobModel
import Kernels
import PluginLoading
import Raster
import WorkerProtocol

/// Everything that this worker offers: built-in filters, plugins, image formats.
struct Toolbox: Sendable {
    let registry: FilterRegistry
    let catalog: Catalog
    /// Tells plugins that ask whether they may stop.
    let cancellation: TaskCancellation
    private let entries: [FilterEntry]
    /// Libraries that this worker did not open as plugins.
    let refused: [RefusedLibrary]
    let pictures = PictureCache()

    /// The versions in the catalog beside those of plugins.
    static let ownVersions = ["penumbra", "rendering", "libvips", "cpu"]

    /// - Parameter installed: The plugins, loaded before any library was started.
    init(_ installed: InstalledPlugins, cancellation: TaskCancellation) throws {
        self.cancellation = cancellation
        refused = installed.refused
        entries = BuiltInFilters.all + installed.plugins.map(\.entry)
        registry = FilterRegistry(entries)
        var versions = [
            "penumbra": Version.penumbra, "rendering": Version.rendering, "libvips": VipsRuntime.version,
            "cpu": CPULevel.current.rawValue,
        ]
        for plugin in installed.plugins { versions[plugin.name] = plugin.version }
        catalog = Catalog(
            versions: versions, filters: registry.descriptors, formats: try ImageFormats.descriptors(),
            pluginProblems: installed.problems, unpinnedPlugins: installed.unpinned)
    }

    /// Also refuses a CPU level that this CPU lacks, before a pixel is computed.
    static func startLibraries() throws {
        _ = try CPULevel.chosen(by: getenv(CPULevel.variable).map { String(cString: $0) }, of: CPULevel.supported)
        try VipsRuntime.start(threads: 1)
    }

    /// The registry with a dot in place of every picture, for questions that do not depend on pictures.
    var registryWithoutPictures: FilterRegistry {
        FilterRegistry(
            entries,
            pictures: PictureSource(
                picture: { _, _ in GrayPicture(width: 1, height: 1) },
                layer: { _, _ in
                    Layer(AnyRaster(zeroed: PixelRect(x: 0, y: 0, width: 1, height: 1), layout: .gray, format: .u8))
                }))
    }

    /// The registry with plugins that tell `watch` when their code runs.
    ///
    /// - Parameters:
    ///   - limits: For pictures that filters read.
    ///   - tally: Counts these pictures.
    func registry(watchedBy watch: PluginWatch, _ limits: DecodeLimits, _ tally: PictureTally) -> FilterRegistry {
        let source = PictureSource(
            picture: { [pictures] reference, filter in
                let picture: GrayPicture = try pictures.picture(reference, for: filter, limits)
                tally.note(picture, reference)
                return picture
            },
            layer: { [pictures] reference, filter in
                let picture: Layer = try pictures.picture(reference, for: filter, limits)
                tally.note(picture, reference)
                return picture
            })
        return FilterRegistry(
            entries.map { entry in
                guard case .plugin = entry.descriptor.origin else { return entry }
                let name = entry.descriptor.name
                return entry.wrapping { make in
                    WatchedFilter(filter: try watch.within(name, make), name: name, watch: watch)
                }
            }, pictures: source)
    }
}

/// The plugins of this worker.
struct InstalledPlugins: Sendable {
    let plugins: [LoadedPlugin]
    /// One sentence for each library or folder that could not be used.
    let problems: [String]
    /// Plugins that are not used because they have no pin.
    let unpinned: [UnpinnedPlugin]
    /// Libraries that would have crashed this process.
    let refused: [RefusedLibrary]

    struct UnknownConditions: Error, CustomStringConvertible {
        let description =
            "\(PluginConditions.variable) is not as this penumbra-worker knows it; reinstall both programs together"
    }

    /// Loads plugins from the folders that the coordinator names, and from the folder of this program.
    ///
    /// - Precondition: This process has one thread.
    init(cancellation: TaskCancellation) throws(UnknownConditions) {
        let conditions = try Self.conditions()
        let loader = PluginLoader(
            reservedNames: BuiltInFilters.all.map(\.descriptor.name) + Toolbox.ownVersions,
            policy: PluginPolicy(
                pins: conditions.pins.map { PluginPolicy.Pin(file: $0.file, sha256: $0.sha256) },
                isPinnedOnly: conditions.isPinnedOnly),
            isCancelled: CancellationQuestion { cancellation.isCancelled },
            trial: PluginTrial(known: conditions.refused))
        let foreign = Set(conditions.foreignFolders.map(PathKey.init))
        let loaded = loader.load(
            conditions.folders.map { PluginFolder($0, isForeign: foreign.contains(PathKey($0))) } + [
                PluginFolder(Self.programFolder, isImplicit: true)
            ])
        (plugins, problems) = (loaded.plugins, loaded.problems)
        (refused, unpinned) = (loaded.refused, loaded.unpinned)
    }

    private static func conditions() throws(UnknownConditions) -> PluginConditions {
        guard let text = getenv(PluginConditions.variable) else { return PluginConditions() }
        guard let conditions = PluginConditions(text: String(cString: text)) else { throw UnknownConditions() }
        return conditions
    }

    private static var programFolder: String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        let path = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return PathNames.folder(of: path) ?? "."
    }
}
