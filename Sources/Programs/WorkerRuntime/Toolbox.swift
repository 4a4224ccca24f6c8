import Catalogs
import Confinement
import FileAccess
import Filters
import Geometry
import Glibc
import ImageFiles
import JobModel
import Kernels
import PluginLoading
import Raster
import Synchronization
import Typesetting
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
    /// Starts programs. Nil if the settings allow none, or if this process renders nothing.
    let launcher: ProgramConnection?
    /// Nil if there is no ffmpeg, or if this process renders nothing.
    let video: VideoProgram?

    /// The versions in the catalog beside those of filters: plugins, and the libraries that `text` needs.
    static let ownVersions = ["penumbra", "rendering", "libvips", "cpu"]

    /// - Parameters:
    ///   - installed: The plugins, loaded before any library was started.
    ///   - programs: The programs that the catalog offers.
    ///   - missingVideo: Why there is no ffmpeg. Nil if there is one.
    init(
        _ installed: InstalledPlugins, cancellation: TaskCancellation, programs: [AllowedProgram] = [],
        _ launcher: ProgramConnection? = nil, missingVideo: String?, _ video: VideoProgram?
    ) throws {
        self.cancellation = cancellation
        self.launcher = launcher
        self.video = video
        refused = installed.refused
        entries = BuiltInFilters.all + installed.plugins.map(\.entry)
        registry = FilterRegistry(entries)
        var versions = [
            "penumbra": Version.penumbra, "rendering": Version.rendering, "libvips": VipsRuntime.version,
            "cpu": CPULevel.current.rawValue, TextFilter.entry.descriptor.name: FontFile.versions,
        ]
        for plugin in installed.plugins { versions[plugin.name] = plugin.version }
        let formats = try ImageFormats.descriptors()
        catalog = Catalog(
            versions: versions, filters: registry.descriptors.map { $0.allowing(programs) },
            formats: formats.filter { missingVideo == nil || !$0.isVideo },
            missingFormats: formats.compactMap { format in
                guard let missingVideo, format.isVideo, format.canWrite else { return nil }
                return MissingFormat(
                    extensions: format.extensions, reason: missingVideo, remedy: VideoProgram.remedy)
            }, pluginProblems: installed.problems, unpinnedPlugins: installed.unpinned, sandbox: installed.sandbox)
    }

    /// Also refuses a CPU level that this CPU lacks, before a pixel is computed.
    static func startLibraries() throws {
        _ = try CPULevel.chosen(by: getenv(CPULevel.variable).map { String(cString: $0) }, of: CPULevel.supported)
        FontFile.forgetLanguages()
        try VipsRuntime.start()
    }

    /// The registry with a dot in place of every picture, for questions that do not depend on pictures.
    ///
    /// - Parameter opener: Opens fonts. A font that it cannot open has all letters.
    func registryWithoutPictures(_ opener: FileOpener) -> FilterRegistry {
        FilterRegistry(
            entries,
            pictures: PictureSource(
                picture: { _, _ in GrayPicture(width: 1, height: 1) },
                layer: { _, _ in
                    Layer(AnyRaster(zeroed: PixelRect(x: 0, y: 0, width: 1, height: 1), layout: .gray, format: .u8))
                },
                table: { _, _ in ColorCube.inverting },
                font: { [pictures] reference, filter in
                    let limits = DecodeLimits(maxPixels: .max, scratchFolder: nil)
                    // Somebody else reports the font.
                    return (try? pictures.picture(reference, for: filter, opener, limits))
                        ?? Typeface(BlankTypesetter())
                }))
    }

    /// The registry with plugins that report to `watch` when their code runs.
    ///
    /// - Parameters:
    ///   - opener: Opens the pictures that filters read.
    ///   - limits: For these pictures.
    ///   - tally: Counts them.
    ///   - programs: Runs the programs of filters.
    func registry(
        watchedBy watch: PluginWatch, _ opener: FileOpener, _ limits: DecodeLimits, _ tally: PictureTally,
        _ programs: ProgramSource
    ) -> FilterRegistry {
        let source = PictureSource(
            picture: { [pictures] reference, filter in
                let picture: GrayPicture = try pictures.picture(reference, for: filter, opener, limits)
                tally.note(picture, reference)
                return picture
            },
            layer: { [pictures] reference, filter in
                let picture: Layer = try pictures.picture(reference, for: filter, opener, limits)
                tally.note(picture, reference)
                return picture
            },
            table: { [pictures] reference, filter in
                let table: ColorCube = try pictures.picture(reference, for: filter, opener, limits)
                tally.note(table, reference)
                return table
            },
            font: { [pictures] reference, filter in
                let font: Typeface = try pictures.picture(reference, for: filter, opener, limits)
                tally.note(font, reference)
                return font
            })
        return FilterRegistry(
            entries.map { entry in
                guard case .plugin = entry.descriptor.origin else { return entry }
                let name = entry.descriptor.name
                return entry.wrapping { make in
                    WatchedFilter(filter: try watch.within(name, make), name: name, watch: watch)
                }
            }, pictures: source, programs: programs)
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
    /// What keeps this process from the rest of the machine since before the first plugin was opened.
    let sandbox: SandboxReport

    /// The names that no plugin may have.
    static var reservedNames: [String] { BuiltInFilters.all.map(\.descriptor.name) + Toolbox.ownVersions }

    struct UnknownConditionsError: Error, CustomStringConvertible {
        let description =
            "\(PluginConditions.variable) is not as this penumbra-worker knows it; reinstall both programs together"
    }

    /// Loads plugins from the folders that the coordinator names, the standard folder, and the folder of this program. Confines this
    /// process before it opens one.
    ///
    /// - Precondition: This process has one thread.
    init(cancellation: TaskCancellation, _ sandbox: WorkerSandbox) throws {
        let conditions = try Self.conditions()
        let foreign = Set(conditions.foreignFolders.map(PathKey.init))
        let folders =
            conditions.folders.map { PluginFolder($0, isForeign: foreign.contains(PathKey($0))) } + Self.standardFolders
            + [PluginFolder(Self.programFolder, isImplicit: true)]
        let sandbox = sandbox.reading(folders.map(\.path))
        let prepared = PreparedSandbox(sandbox)
        let loader = PluginLoader(
            reservedNames: Self.reservedNames,
            policy: PluginPolicy(
                pins: conditions.pins.map { PluginPolicy.Pin(file: $0.file, sha256: $0.sha256) },
                isPinnedOnly: conditions.isPinnedOnly),
            isCancelled: CancellationQuestion { cancellation.isCancelled },
            trial: PluginTrial(
                known: conditions.refused,
                confine: { prepared.enterTrial(opening: $0) }))
        var report = SandboxReport.off
        let loaded = try loader.load(folders) { (libraries) throws(WorkerSandboxError) in
            report = try prepared.enter(opening: libraries)
        }
        self.sandbox = report
        (plugins, problems) = (loaded.plugins, sandbox.unreadable + loaded.problems)
        (refused, unpinned) = (loaded.refused, loaded.unpinned)
    }

    private static func conditions() throws(UnknownConditionsError) -> PluginConditions {
        guard let text = getenv(PluginConditions.variable) else { return PluginConditions() }
        guard let conditions = PluginConditions(text: String(cString: text)) else { throw UnknownConditionsError() }
        return conditions
    }

    /// Most machines have no such folder.
    private static var standardFolders: [PluginFolder] {
        let path = PluginConditions.standardFolder
        return access(path, F_OK) == 0 ? [PluginFolder(path)] : []
    }

    private static var programFolder: String {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &bytes, bytes.count)
        let path = String(decoding: bytes.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return PathNames.folder(of: path) ?? "."
    }
}

/// A cache of the decoded pictures that filters read, because every tile of a frame builds its chain anew.
final class PictureCache: Sendable {
    private struct Entry {
        let path: String
        let facts: FileFacts
        let picture: any CachedPicture
    }

    /// In the order of their last use. The oldest are removed if they do not fit the budget together with the latest.
    private let entries = Mutex<[Entry]>([])

    private static let budget = 128 << 20

    /// The bytes of all cached pictures.
    var bytes: Int { entries.withLock { $0.reduce(0) { $0 + $1.picture.bytes } } }

    /// - Parameter filter: The user of the picture, as messages name it.
    /// - Throws: A failure that names the picture. The input is not to blame, and another attempt would fail, too.
    func picture<Picture: CachedPicture>(
        _ reference: PictureReference, for filter: String, _ opener: FileOpener, _ limits: DecodeLimits
    ) throws -> Picture {
        let name = "\(reference.path), the \(Picture.noun) of \(filter)"
        var names = [name, reference.path]
        do {
            let source = try SourceFile(reference.path, bytes: nil, openedBy: opener)
            names.append(source.openName)
            let facts = try facts(of: source, reference)
            if let digest = reference.digest, digest != facts.digest.description { throw Self.changed }
            if let known: Picture = known(reference.path, facts) { return known }
            let picture = try Picture(decoding: source, name: name, opener, limits)
            if source.hasChanged { throw Self.changed }
            keep(Entry(path: reference.path, facts: facts, picture: picture))
            return picture
        } catch {
            let failure = TaskFailure(classing: error)
            let words = Self.reason(failure.message, names)
            throw TaskFailure(failure.kind == .data ? .value : failure.kind, "\(name): \(words)")
        }
    }

    /// Why a file cannot be used. Nil if it can. Only the header of a picture is read.
    static func problem(
        with path: String, _ kind: NamedFileKind, _ opener: FileOpener, _ limits: DecodeLimits
    ) -> String? {
        var names = [path]
        do {
            let source = try SourceFile(path, bytes: nil, openedBy: opener)
            names.append(source.openName)
            switch kind {
            case .picture: _ = try ImageDecoder(path: source.openName, openedBy: opener, limits: limits, color: .keep)
            case .table: _ = try ColorCube(decoding: source, name: path, opener, limits)
            case .font: _ = try Typeface(decoding: source, name: path, opener, limits)
            case .profile(let format):
                let profile = try OutputProfile(decoding: source, name: path, opener, limits)
                if let format = format.flatMap(ImageFormats.named), let objection = format.objection(to: profile) {
                    return objection
                }
                return profile.problem
            }
            return nil
        } catch {
            return reason(TaskFailure(classing: error).message, names)
        }
    }

    private static let changed = TaskFailure(.input, "was changed while the job ran; run it again")

    /// The message without the path that it may begin with.
    private static func reason(_ message: String, _ names: [String]) -> String {
        let name = names.first { message.hasPrefix("\($0): ") }
        return name.map { String(message.dropFirst($0.count + 2)) } ?? message
    }

    /// The facts of the cached picture if the file is unchanged. Otherwise the whole file is read.
    private func facts(of source: SourceFile, _ reference: PictureReference) throws -> FileFacts {
        let known = entries.withLock { $0.last { $0.path == reference.path }?.facts }
        if let known, source.isUntouched(since: known.stamp) { return known }
        return try source.facts()
    }

    private func known<Picture: CachedPicture>(_ path: String, _ facts: FileFacts) -> Picture? {
        entries.withLock { entries in
            guard let index = entries.lastIndex(where: { $0.facts.digest == facts.digest && $0.picture is Picture })
            else { return nil }
            let entry = entries.remove(at: index)
            entries.append(Entry(path: path, facts: facts, picture: entry.picture))
            return entry.picture as? Picture
        }
    }

    private func keep(_ entry: Entry) {
        entries.withLock { entries in
            entries.removeAll { $0.path == entry.path && type(of: $0.picture) == type(of: entry.picture) }
            entries.append(entry)
            while entries.count > 1, entries.reduce(0, { $0 + $1.picture.bytes }) > Self.budget {
                entries.removeFirst()
            }
        }
    }
}

/// A picture in the form that filters need.
protocol CachedPicture: Sendable {
    /// - Parameter name: The picture's name in messages.
    init(decoding source: SourceFile, name: String, _ opener: FileOpener, _ limits: DecodeLimits) throws
    /// The memory that it occupies, in bytes.
    var bytes: Int { get }
    /// What messages call it.
    static var noun: String { get }
}

extension CachedPicture {
    static var noun: String { "picture" }
}

/// The brightness of a picture.
extension GrayPicture: CachedPicture {
    init(decoding source: SourceFile, name: String, _ opener: FileOpener, _ limits: DecodeLimits) throws {
        let decoder = try ImageDecoder(
            path: source.openName, name: name, openedBy: opener, limits: limits, color: .keep)
        self.init(width: decoder.header.width, height: decoder.header.height)
        try decoder.readRows(bandHeight: 64) { paste($0) }
    }

    var bytes: Int { samples.count * MemoryLayout<UInt16>.stride }
}

/// A picture with its colours, in sRGB or gray.
extension Layer: CachedPicture {
    convenience init(decoding source: SourceFile, name: String, _ opener: FileOpener, _ limits: DecodeLimits) throws {
        let decoder = try ImageDecoder(
            path: source.openName, name: name, openedBy: opener, limits: limits, color: .srgb)
        let header = decoder.header
        var raster = AnyRaster(zeroed: header.rect, layout: header.layout, format: header.sampleFormat)
        try decoder.readRows(bandHeight: 64) { raster.paste($0) }
        self.init(raster)
    }

    var bytes: Int { raster.rect.area * raster.layout.channels * raster.format.bytes }
}

/// A table of colours.
extension ColorCube: CachedPicture {
    init(decoding source: SourceFile, name: String, _ opener: FileOpener, _ limits: DecodeLimits) throws {
        let bytes = try source.contents(atMost: CubeFile.largest)
        do throws(CubeFile.Problem) {
            self = try CubeFile.table(bytes)
        } catch {
            throw TaskFailure(.value, "\(name): \(error)")
        }
    }

    static var noun: String { "table of colours" }
}

/// A font.
extension Typeface: CachedPicture {
    /// Fonts of all Chinese characters have up to 30 MB.
    private static let largest = 100 << 20

    convenience init(decoding source: SourceFile, name: String, _ opener: FileOpener, _ limits: DecodeLimits) throws {
        let bytes = try source.contents(atMost: Self.largest)
        do throws(TypesettingError) {
            self.init(try FontFile(bytes), bytes: bytes.count)
        } catch {
            throw TaskFailure(.value, "\(name): \(error)")
        }
    }

    static var noun: String { "font" }
}

/// Stands for a font that cannot be read.
private struct BlankTypesetter: Typesetter {
    func set(_ layout: TextLayout) -> SetText { SetText(letters: Outline(), size: .empty) }
}

/// The colour profile of an output.
extension OutputProfile: CachedPicture {
    /// Profiles of printers have some megabytes.
    private static let largest = 64 << 20

    init(decoding source: SourceFile, name: String, _ opener: FileOpener, _ limits: DecodeLimits) throws {
        let bytes = try source.contents(atMost: Self.largest)
        do throws(Problem) {
            try self.init(bytes)
        } catch {
            throw TaskFailure(.value, "\(name): \(error)")
        }
    }

    var bytes: Int { size }

    static var noun: String { "profile" }
}

/// Counts the memory of the pictures of a task's filters, each once. The filters hold them even if the cache drops
/// them.
final class PictureTally: Sendable {
    private let sizes = Mutex<[PictureReference: Int]>([:])

    var bytes: Int { sizes.withLock { $0.values.reduce(0, +) } }

    func note(_ picture: some CachedPicture, _ reference: PictureReference) {
        sizes.withLock { $0[reference] = picture.bytes }
    }
}
