package import Catalogs
import Coordination
package import Engines
import Glibc
package import JobModel
import JobStorage
package import Runs
import SafeFiles
package import Settings
import Synchronization
package import WorkerProtocol

/// A render farm: settings and a worker program. Any program can run jobs with it, several at once.
public struct Farm: Sendable {
    package let settings: Settings
    package let worker: WorkerCommand
    /// How its workers are kept from the rest of the machine.
    package let sandbox: SandboxMode
    /// Identifies the workers of a run; nil if the farm is not for a run.
    private var token: CoordinatorToken?
    /// The folder of the run's canvases and tiles. Nil if the farm is not for a run.
    private var scratch: String?
    /// The name of the run; nil for a new one.
    var runName: RunName?
    private let firstWorker = FirstWorker()

    /// - Parameters:
    ///   - plugins: replaces the plugins of the settings.
    ///   - sandbox: replaces the setting.
    package init(_ settings: Settings, plugins: PluginConditions? = nil, sandbox: SandboxMode? = nil) {
        self.settings = settings
        self.sandbox = sandbox ?? settings.sandbox.value
        var environment = [
            SandboxMode.variable: self.sandbox.rawValue, VideoProgramPath.variable: settings.ffmpeg.value,
        ]
        let share = settings.memory.value / settings.workers.value
        environment["PENUMBRA_WORKER_MEMORY"] = String(share)
        // This thread may have another niceness than the process.
        let nice = max(settings.nice.value, Int(getpriority(Int32(PRIO_PROCESS.rawValue), id_t(getpid()))))
        if nice > 0 { environment["PENUMBRA_NICE"] = String(nice) }
        if settings.ionice.value != .none { environment["PENUMBRA_IONICE"] = settings.ionice.value.rawValue }
        var worker = WorkerCommand(
            executable: settings.worker.value, environment: environment,
            inheritedVariables: settings.workerEnvironment.value, plugins: plugins ?? Self.plugins(settings))
        worker.readable = settings.sandboxRead.value
        worker.programs = ProgramConditions(
            programs: settings.programs.value, readable: settings.sandboxRead.value)
        worker.limits =
            self.sandbox == .off
            ? nil
            : WorkerLimits(
                share: min(share, settings.memory.value / 4), isRequired: self.sandbox == .require)
        self.worker = worker
    }

    package static func plugins(_ settings: Settings) -> PluginConditions {
        var plugins = PluginConditions()
        plugins.folders = settings.pluginFolders.value
        plugins.pins = settings.pluginPins.value.map { PluginConditions.Pin(file: $0.file, sha256: $0.sha256) }
        plugins.isPinnedOnly = settings.plugins.value == .pinnedOnly
        return plugins
    }

    private final class FirstWorker: Sendable {
        /// The engine that reported the catalog, until a run uses it, and its worker's token.
        let engine = Mutex<(engine: LocalEngine, token: CoordinatorToken)?>(nil)
        /// The same token, until a run takes it.
        let token = Mutex<CoordinatorToken?>(nil)

        /// A run that never began leaves the worker behind.
        deinit { engine.withLock { $0.take()?.engine.dismiss() } }
    }

    /// The catalog, from a worker that ``engine()`` then uses.
    ///
    /// - Throws: the errors of ``catalog()``.
    package func catalogOfFirstWorker() async throws -> Catalog {
        try secureDescriptors()
        let token = CoordinatorToken(run: (runName ?? .new()).text)
        let engine = LocalEngine(command: command(token))
        // If the worker does not start, the other way reports why.
        guard let catalog = await engine.introduce() else { return try await catalog() }
        firstWorker.engine.withLock { $0 = (engine, token) }
        firstWorker.token.withLock { $0 = token }
        return catalog
    }

    /// A token for a new run. The first run gets the token of the worker that reported the catalog.
    func newToken() -> CoordinatorToken {
        firstWorker.token.withLock { $0.take() } ?? CoordinatorToken(run: (runName ?? .new()).text)
    }

    /// A copy whose workers belong to a run.
    package func working(for claim: RunClaim) -> Farm {
        var farm = self
        farm.token = claim.token
        farm.scratch = claim.scratch
        return farm
    }

    /// Raises the limit of open files before the first process starts.
    ///
    /// - Parameters:
    ///   - workers: nil for the number in the settings.
    ///   - filesPerOrder: the most files that an order may have.
    package func secureDescriptors(
        workers: Int? = nil, jobs: Int = 1, filesPerOrder: Int = DescriptorLimit.perOrder
    ) throws(ResourceLimitError) {
        let here = settings.engine.value.isCluster ? 1 : settings.workers.value
        try DescriptorLimit.secure(workers: workers ?? here, jobs: jobs, filesPerOrder: filesPerOrder)
    }

    /// An engine for one run.
    ///
    /// - Parameters:
    ///   - folders: where workers create outputs that are folders.
    ///   - readable: further files and folders that they read by their paths.
    ///   - scratch: the folder of canvases and tiles; nil for the run's.
    package func engine(folders: [String] = [], readable: [String] = [], scratch: String? = nil) -> LocalEngine {
        if let first = firstWorker.engine.withLock({ $0.take() }) {
            if folders.isEmpty, readable.isEmpty, token == nil || token == first.token {
                first.engine.useScratch(scratch ?? self.scratch)
                return first.engine
            }
            // The worker has the sandbox of others, or another token, so that a later coordinator would not recognise it.
            first.engine.dismiss()
        }
        return LocalEngine(command: workerOfRun(folders: folders, readable: readable, scratch: scratch))
    }

    func workerOfRun(folders: [String], readable: [String] = [], scratch: String? = nil) -> WorkerCommand {
        var worker = command(token ?? CoordinatorToken(run: RunName.new().text))
        worker.folders = folders
        worker.readable += readable
        worker.scratch = scratch ?? self.scratch
        return worker
    }

    private func command(_ token: CoordinatorToken) -> WorkerCommand {
        var command = worker
        command.environment[CoordinatorToken.variable] = token.text
        return command
    }

    /// - Throws: ``FarmError`` with the outcome of a missing component.
    package func catalog() async throws -> Catalog {
        try secureDescriptors(workers: 1)
        do {
            return try await worker.describe()
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
        case let shortage as ResourceLimitError: self.init(.unavailable, "\(shortage)")
        case let problem as StoreError: self.init(problem.limitError, or: problem.message)
        case let error as FileError: self.init(error.limitError, or: error.message)
        default: self.init(.storage, "\(error)")
        }
    }

    /// A job has no inputs. With `--allow-empty` it is left out.
    package var isEmptyJob: Bool { outcome == .missingInput && !isLoss }

    /// Whether an error has a message for users.
    package static func knows(_ error: any Error) -> Bool {
        error is FarmError || error is ResourceLimitError || error is StoreError || error is FileError
    }

    private init(_ shortage: ResourceLimitError?, or message: String) {
        self.init(shortage == nil ? .storage : .unavailable, shortage.map { "\($0)" } ?? message)
    }
}

/// The name of a run, which is the name of its folder, too.
package struct RunName: Hashable, Sendable {
    package let text: String

    /// The longest name, in characters. Names of temporary files beside outputs contain it.
    package static let longest = 64

    /// For messages.
    package static let rule =
        "a run's name begins with a letter or a digit, and has letters (a-z, A-Z), digits, '-', '_' and '.', at most \(longest): night-7"

    /// Nil for a name that the ``rule`` excludes.
    package init?(_ text: String) {
        func isPlain(_ byte: UInt8) -> Bool {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: false
            }
        }
        let marks = "-_.".utf8
        guard let first = text.utf8.first, isPlain(first), text.utf8.count <= Self.longest,
            text.utf8.allSatisfy({ isPlain($0) || marks.contains($0) })
        else { return nil }
        self.text = text
    }

    private init(new text: String) { self.text = text }

    /// `20261121T213000Z-1a2b3c`
    package static func new() -> RunName {
        let now = UTCTime(secondsSince1970: time(nil)).compactText
        return RunName(new: "\(now)-\(String(UInt32.random(in: 0x100000...0xffffff), radix: 16))")
    }
}
