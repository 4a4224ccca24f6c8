import Catalogs
import Coordination
import Dispatching
import Glibc
import Settings
import Synchronization
import WorkerProtocol

/// The programs and settings that a command works with.
struct Installation {
    let settings: Settings
    let worker: WorkerCommand
    /// The engine that told the catalog, until somebody runs it.
    private let introduced = Introduced()

    /// - Parameter plugins: in place of what the settings say.
    init(_ settings: Settings, plugins: PluginConditions? = nil) {
        self.settings = settings
        var environment: [String: String] = [:]
        environment["PENUMBRA_WORKER_MEMORY"] = String(settings.memory.value / settings.workers.value)
        if settings.nice.value > 0 { environment["PENUMBRA_NICE"] = String(settings.nice.value) }
        if settings.ionice.value != .none { environment["PENUMBRA_IONICE"] = settings.ionice.value.rawValue }
        worker = WorkerCommand(
            executable: settings.worker.value, environment: environment,
            inheritedVariables: settings.workerEnvironment.value, plugins: plugins ?? Self.plugins(settings))
    }

    static func plugins(_ settings: Settings) -> PluginConditions {
        var plugins = PluginConditions()
        plugins.folders = settings.pluginFolders.value
        plugins.pins = settings.pluginPins.value.map { PluginConditions.Pin(file: $0.file, sha256: $0.sha256) }
        plugins.isPinnedOnly = settings.plugins.value == .pinnedOnly
        return plugins
    }

    private final class Introduced: Sendable {
        let engine = Mutex<LocalEngine?>(nil)
    }

    /// What the workers offer, from the first one that ``engine()`` will run.
    ///
    /// - Throws: as ``catalog()``.
    func introducedCatalog() async throws -> Catalog {
        try secureDescriptors()
        let engine = LocalEngine(command: workerOfRun)
        // One that does not start is asked in the way that tells why.
        guard let catalog = await engine.introduce() else { return try await catalog() }
        introduced.engine.withLock { $0 = engine }
        return catalog
    }

    /// Before the first process starts.
    ///
    /// - Parameter workers: nil for as many as the settings say.
    func secureDescriptors(workers: Int? = nil, jobs: Int = 1) throws(Shortage) {
        let here = settings.engine.value == .slurm ? 1 : settings.workers.value
        try DescriptorLimit.secure(workers: workers ?? here, jobs: jobs)
    }

    /// An engine for one run.
    func engine() -> LocalEngine {
        introduced.engine.withLock { $0.take() } ?? LocalEngine(command: workerOfRun)
    }

    /// Known as a worker of the run that this process does now, or does next.
    var workerOfRun: WorkerCommand {
        var command = worker
        command.environment[CoordinatorClaim.variable] = CoordinatorClaim.token
        return command
    }

    /// - Throws: ``CommandError`` with the exit code of a missing component.
    func catalog() async throws -> Catalog {
        try secureDescriptors(workers: 1)
        do {
            return try await CatalogReader.read(worker)
        } catch {
            guard error.isMissing else { throw CommandError(.unavailable, error.message) }
            throw CommandError(
                .unavailable,
                "\(error.message)\n   = penumbra-worker belongs beside penumbra; 'worker' in the config file or "
                    + "PENUMBRA_WORKER names another path")
        }
    }
}
