package import Catalogs
import Coordination
package import Engines
import FoundationEssentials
import Glibc
package import JobModel
import JobStorage
package import Runs
import SafeFiles
package import Settings
import Synchronization
package import WorkerProtocol

/// A render farm: settings, and the worker program. Any program can run jobs with it, several at once.
public struct Farm: Sendable {
    package let settings: Settings
    package let worker: WorkerCommand
    /// Tells workers of the run that this is for from others; nil for what is no run's.
    private var token: CoordinatorToken?
    private let introduced = Introduced()

    /// - Parameter plugins: in place of what the settings say.
    package init(_ settings: Settings, plugins: PluginConditions? = nil) {
        self.settings = settings
        var environment: [String: String] = [:]
        environment["PENUMBRA_WORKER_MEMORY"] = String(settings.memory.value / settings.workers.value)
        // Threads of the library that hands out work may have another niceness than this process was started with.
        let nice = max(settings.nice.value, Int(getpriority(Int32(PRIO_PROCESS.rawValue), id_t(getpid()))))
        if nice > 0 { environment["PENUMBRA_NICE"] = String(nice) }
        if settings.ionice.value != .none { environment["PENUMBRA_IONICE"] = settings.ionice.value.rawValue }
        worker = WorkerCommand(
            executable: settings.worker.value, environment: environment,
            inheritedVariables: settings.workerEnvironment.value, plugins: plugins ?? Self.plugins(settings))
    }

    package static func plugins(_ settings: Settings) -> PluginConditions {
        var plugins = PluginConditions()
        plugins.folders = settings.pluginFolders.value
        plugins.pins = settings.pluginPins.value.map { PluginConditions.Pin(file: $0.file, sha256: $0.sha256) }
        plugins.isPinnedOnly = settings.plugins.value == .pinnedOnly
        return plugins
    }

    private final class Introduced: Sendable {
        /// The engine that told the catalog, until somebody runs it, and its worker's token.
        let engine = Mutex<(engine: LocalEngine, token: CoordinatorToken)?>(nil)
        /// The same token, until a run has it.
        let token = Mutex<CoordinatorToken?>(nil)
    }

    /// What the workers offer, from the first one that ``engine()`` will run.
    ///
    /// - Throws: as ``catalog()``.
    package func introducedCatalog() async throws -> Catalog {
        try secureDescriptors()
        let token = CoordinatorToken(run: RunName.new())
        let engine = LocalEngine(command: command(token))
        // One that does not start is asked in the way that tells why.
        guard let catalog = await engine.introduce() else { return try await catalog() }
        introduced.engine.withLock { $0 = (engine, token) }
        introduced.token.withLock { $0 = token }
        return catalog
    }

    /// For a new run. The first one gets the token of the worker that told the catalog.
    func newToken() -> CoordinatorToken {
        introduced.token.withLock { $0.take() } ?? CoordinatorToken(run: RunName.new())
    }

    /// The same installation, whose workers are known as those of a run.
    package func working(for directory: RunClaim) -> Farm {
        var installation = self
        installation.token = directory.token
        return installation
    }

    /// Before the first process starts.
    ///
    /// - Parameter workers: nil for as many as the settings say.
    package func secureDescriptors(workers: Int? = nil, jobs: Int = 1) throws(Shortage) {
        let here = settings.engine.value.isCluster ? 1 : settings.workers.value
        try DescriptorLimit.secure(workers: workers ?? here, jobs: jobs)
    }

    /// An engine for one run.
    package func engine() -> LocalEngine {
        if let first = introduced.engine.withLock({ $0.take() }) {
            if token == nil || token == first.token { return first.engine }
            // A later coordinator of its own run could not tell its worker from others.
            first.engine.dismiss()
        }
        return LocalEngine(command: workerOfRun)
    }

    var workerOfRun: WorkerCommand { command(token ?? CoordinatorToken(run: RunName.new())) }

    private func command(_ token: CoordinatorToken) -> WorkerCommand {
        var command = worker
        command.environment[CoordinatorToken.variable] = token.text
        return command
    }

    /// - Throws: ``FarmError`` with the exit code of a missing component.
    package func catalog() async throws -> Catalog {
        try secureDescriptors(workers: 1)
        do {
            return try await CatalogReader.read(worker)
        } catch {
            guard error.isMissing else { throw FarmError(.unavailable, error.message) }
            throw FarmError(
                .unavailable,
                "\(error.message)\n   = penumbra-worker belongs beside penumbra; 'worker' in the config file or "
                    + "PENUMBRA_WORKER names another path")
        }
    }
}

extension FarmError {
    /// The form in which callers of the farm see an error.
    package init(_ error: any Error) {
        switch error {
        case let error as FarmError: self = error
        case let shortage as Shortage: self.init(.unavailable, "\(shortage)")
        case let problem as StoreProblem: self.init(problem.shortage, or: problem.message)
        case let trouble as FileTrouble: self.init(trouble.shortage, or: trouble.message)
        default: self.init(.storage, "\(error)")
        }
    }

    /// A job has no inputs. With `--allow-empty` it is left out.
    package var isEmptyJob: Bool { outcome == .missingInput && !isLoss }

    /// Whether an error has a message for users.
    package static func knows(_ error: any Error) -> Bool {
        error is FarmError || error is Shortage || error is StoreProblem || error is FileTrouble
    }

    private init(_ shortage: Shortage?, or message: String) {
        self.init(shortage == nil ? .storage : .unavailable, shortage.map { "\($0)" } ?? message)
    }
}

/// Names of runs.
enum RunName {
    /// `20261121T213000Z-1a2b3c`
    package static func new() -> String {
        let time = Date().formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        return "\(time)-\(String(UInt32.random(in: 0x100000...0xffffff), radix: 16))"
    }
}
