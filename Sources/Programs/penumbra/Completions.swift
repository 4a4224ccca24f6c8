import ArgumentParser
import Catalogs
import FoundationEssentials
import Glibc
import JobModel
import Planning
import Reference
import RenderFarm
import Runs
import SafeFiles
import Settings
import WorkerProtocol

/// Proposals for shells. If something is wrong there are none, because a message would disturb the line that is being
/// written.
enum Completions {
    /// The name of a filter, which is also the beginning of a chain.
    static let filters = CompletionKind.custom { _, _, prefix in await words()?.filters(from: prefix) ?? [] }

    static let formats = CompletionKind.custom { _, _, prefix in await words()?.formats(from: prefix) ?? [] }

    /// Parameters of filters, for `--sweep`.
    static let sweeps = CompletionKind.custom { _, _, prefix in await words()?.sweeps(from: prefix) ?? [] }

    /// Keys of manifests, for `--set`.
    static let keys = CompletionKind.custom { _, _, prefix in CompletionWords.keys(from: prefix) }

    /// The names of runs, and of their jobs. Older runs are not proposed.
    static let runs = CompletionKind.custom { words, cursor, prefix in
        let line = TypedCommandLine(words, cursor: cursor)
        var seen: Set<String> = []
        return await runs(line, ended: 50).filter { $0.hasPrefix(prefix) && seen.insert($0).inserted }
    }

    /// The runs of the service, the run folder or the state folder in the command line.
    private static func runs(_ line: TypedCommandLine, ended: Int) async -> [String] {
        if line.value(of: "--server") != nil { return await ServiceCompletions.runs(line, ended: ended) }
        let archive: RunArchive
        do {
            if let folder = line.value(of: "--run-dir") {
                archive = try RunArchive(runFolder: PathText.normalized(folder, in: currentFolder()))
            } else {
                var location = LocationOptions.none
                (location.stateDir, location.configFile) = (line.value(of: "--state-dir"), line.value(of: "--config"))
                archive = try RunArchive(state: Settings.load(location).stateFolder.value)
            }
            let runs = try archive.runs(ended: ended)
            return runs.map(\.stored.name) + runs.map(\.stored.job)
        } catch {
            return []
        }
    }

    static let manifests = CompletionKind.file(extensions: ["yaml", "yml"])

    // MARK: Words of the catalog

    /// The words of the file, if it still fits, or of a worker that starts for it. Nil if none starts.
    private static func words() async -> CompletionWords? {
        // Whoever presses Tab gets no words, and no message in the middle of the line.
        guard let settings = try? Settings.load(.none) else { return nil }
        let (path, stamp) = (file(), stamp(settings))
        if let path, let bytes = SafeFolder.trustedContents(path, limit: 1 << 20),
            let words = try? JSONDecoder().decode(CompletionWords.self, from: Data(bytes)), words.stamp == stamp
        {
            return words
        }
        guard let catalog = try? await Farm(settings).catalog() else { return nil }
        let words = CompletionWords(catalog, stamp: stamp)
        if let path { keep(words, at: path) }
        return words
    }

    /// Without the file, the next proposal takes as long as this one. Therefore errors are ignored.
    private static func keep(_ words: CompletionWords, at path: String) {
        guard let data = try? JSONEncoder().encode(words) else { return }
        _ = try? FileSystem.createFolders(FileSystem.folder(of: path), mode: 0o700)
        try? AtomicFile.writeUnsynced(Array(data), to: path, by: "\(path).\(getpid())")
    }

    /// Nil if there is no home folder.
    private static func file() -> String? {
        let environment = ProcessInfo.processInfo.environment
        if let folder = environment["XDG_CACHE_HOME"], PathNames.isAbsolute(folder) {
            return "\(folder)/penumbra/completion.json"
        }
        return environment["HOME"].map { "\($0)/.cache/penumbra/completion.json" }
    }

    /// Changes with the worker program, with the plugins in its folders, and with the settings that choose among them.
    private static func stamp(_ settings: Settings) -> String {
        let places =
            [settings.worker.value, FileSystem.folder(of: settings.worker.value), PluginConditions.standardFolder]
            + settings.pluginFolders.value
        let stamps = places.map { "\($0) \(FileSystem.changed($0) ?? 0)" }
        let pins = settings.pluginPins.value.map { "\($0.file) \($0.sha256)" }
        return (stamps + [settings.plugins.value.rawValue] + pins).joined(separator: "\n")
    }
}
