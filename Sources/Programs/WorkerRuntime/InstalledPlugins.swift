import Catalogs
import Filters
import Glibc
import JobModel
import PluginLoading
import WorkerProtocol

/// The plugins of this worker.
struct InstalledPlugins: Sendable {
    let plugins: [LoadedPlugin]
    /// One sentence for each library or folder that could not be used.
    let problems: [String]
    /// Those that have no pin, where that keeps them out.
    let unpinned: [UnpinnedPlugin]
    /// Those that would have taken this process down.
    let refused: [RefusedLibrary]

    struct UnknownConditions: Error, CustomStringConvertible {
        let description =
            "\(PluginConditions.variable) is not as this penumbra-worker knows it; reinstall both programs together"
    }

    /// From the folders that the coordinator names, and from beside this program.
    ///
    /// - Precondition: this process has one thread.
    init(cancellation: TaskCancellation) throws(UnknownConditions) {
        let conditions = try Self.conditions()
        let loader = PluginLoader(
            reservedNames: BuiltInFilters.all.map(\.descriptor.name) + Toolbox.ownVersions,
            policy: PluginPolicy(
                pins: conditions.pins.map { PluginPolicy.Pin(file: $0.file, sha256: $0.sha256) },
                isPinnedOnly: conditions.isPinnedOnly),
            isCancelled: CancellationQuestion { cancellation.isCancelled },
            trial: PluginTrial(known: conditions.refused))
        let strange = Set(conditions.strangeFolders.map(PathKey.init))
        let loaded = loader.load(
            conditions.folders.map { PluginFolder($0, isStrange: strange.contains(PathKey($0))) } + [
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
