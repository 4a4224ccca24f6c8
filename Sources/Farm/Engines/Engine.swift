import Catalogs
import JobModel
package import Scheduling
import Synchronization
package import WorkerProtocol

/// Starts workers and gives them orders: as processes on this machine, or as jobs of a cluster.
package protocol Engine: Sendable {
    /// Keeps as many workers running as the commands ask for, and at least one. When `commands` ends, it lets them exit and
    /// returns.
    ///
    /// Each worker that ``Event/workerReady(_:)`` announced is reported by ``Event/workerLost(_:_:)`` when it ends, unless
    /// `commands` has ended before.
    ///
    /// - Parameter onEvent: is called from any task, and must return quickly.
    func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async
}

package enum EngineCommand: Sendable {
    case start(Lease)
    /// Opens slots up to this number, including retired ones, and keeps a worker running in each.
    case widen(to: Int)
    /// Starts no more workers in the slot. Its present worker exits.
    case retire(SlotID)
    /// Kills the process.
    case kill(WorkerID)
    /// Lets an idle process exit, and starts another one.
    case recycle(WorkerID)
    /// The coordinator has handled all events that came before its last tick.
    case pulse
    /// Another coordinator resumes the run. Jobs of a cluster continue; processes on this machine are killed.
    case handOver
}

/// How a worker process is started.
package struct WorkerCommand: Sendable {
    /// Absolute path of `penumbra-worker`.
    package let executable: String
    package let arguments: [String]
    /// Is added to the variables of the coordinator that reach workers (``WorkerEnvironment``).
    package var environment: [String: String]
    /// Names of further variables of the coordinator that reach workers.
    package let inheritedVariables: [String]
    /// The plugins that it may use.
    package let plugins: PluginConditions
    /// Keeps the thread that opens the files of tasks within the same bounds as its worker. Nil if the worker has all
    /// rights of this process.
    let restrictThread: (@Sendable () throws -> Void)?
    /// Folders that exist, in which it creates those of its outputs that are folders. Empty if it creates none.
    package var folders: [String] = []
    /// Files and folders that it may read in the sandbox, beside those that each worker needs.
    package var readable: [String] = []
    /// The programs that it may run.
    package var programs = ProgramConditions()
    /// The folder of the run's canvases and tiles, which it reads by their paths. Nil if there is none yet, or none at all.
    package var scratch: String?
    /// How its process is limited during its tasks. Nil for no limits.
    package var limits: WorkerLimits?

    /// The folder of canvases and tiles, if a worker can read it only when it was started with it.
    var scratchInSandbox: String? {
        environment[SandboxMode.variable] == SandboxMode.off.rawValue ? nil : scratch
    }

    /// All workers that start later get them.
    let refusals = RefusedLibraries()

    package init(
        executable: String, arguments: [String] = [], environment: [String: String] = [:],
        inheritedVariables: [String] = [], plugins: PluginConditions = PluginConditions(),
        restrictThread: (@Sendable () throws -> Void)? = nil
    ) {
        self.executable = executable
        self.restrictThread = restrictThread
        self.arguments = arguments
        self.environment = environment
        self.inheritedVariables = inheritedVariables
        self.plugins = plugins
    }
}

/// The libraries that workers refused to open, as the latest worker reported them.
final class RefusedLibraries: Sendable {
    private let libraries = Mutex<[RefusedLibrary]>([])

    /// In bytes of JSON. Workers get the list in one variable of their environment, and the kernel takes at most 128 KiB. The
    /// folders and pins of plugins are in it, too.
    private static let most = 64 << 10

    var all: [RefusedLibrary] { libraries.withLock { $0 } }

    /// Libraries that find no room are tried again by each worker.
    func note(_ refused: [RefusedLibrary]) {
        var bytes = 0
        let fitting = refused.prefix { library in
            // Texts and numbers can always be encoded.
            bytes += (try? FrameCodec.json(library).count) ?? 0
            return bytes <= Self.most
        }
        libraries.withLock { $0 = Array(fitting) }
    }
}

/// Why an engine did not carry out a task.
package enum EngineError: Error, Sendable {
    case failed(TaskFailure)
    case died(Death)
    /// No worker can be started.
    case refused(StopReason)
    case interrupted(signal: Int32)
    case tookTooLong
}

private enum Input: Sendable {
    case event(Event)
    case signal(Int32)
    case timeIsUp
}

extension Engine {
    /// Carries out a single task on the first worker that is ready.
    ///
    /// - Parameters:
    ///   - signals: the first signal ends the worker.
    ///   - limit: the time for everything, including the start of the worker.
    package func ask(
        _ spec: TaskSpec, signals: AsyncStream<Int32>, limit: Duration
    ) async throws(EngineError) -> TaskReceipt {
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.run(commands) { if $0.mayAnswer { continuation.yield(.event($0)) } } }
            group.addTask { for await signal in signals { continuation.yield(.signal(signal)) } }
            group.addTask {
                // The sleep is cancelled when the answer has come.
                if (try? await Task.sleep(for: limit)) != nil { continuation.yield(.timeIsUp) }
            }
            defer {
                command.finish()
                group.cancelAll()
            }
            return await Self.answer(spec, inputs, command, limit)
        }
        return try result.get()
    }

    private static func answer(
        _ spec: TaskSpec, _ inputs: AsyncStream<Input>, _ command: AsyncStream<EngineCommand>.Continuation,
        _ limit: Duration
    ) async -> Result<TaskReceipt, EngineError> {
        var worker: WorkerID?
        for await item in inputs {
            switch item {
            case .event(.workerReady(let ready)) where worker == nil:
                worker = ready
                let lease = Lease(
                    id: LeaseID(1), task: TaskID(FrameID(1), .frame), attempt: 1, round: 0, worker: ready,
                    deadline: Timestamp(limit), timeLimit: limit, spec: spec)
                command.yield(.start(lease))
            case .event(.report(let sender, .finished(_, let receipt))) where sender == worker:
                guard let objection = spec.objection(to: receipt) else { return .success(receipt) }
                command.yield(.kill(sender))
                return .failure(.died(Death(.brokeProtocol(objection))))
            case .event(.report(let sender, .failed(_, let failure))) where sender == worker:
                guard let objection = spec.objection(to: failure) else { return .failure(.failed(failure)) }
                command.yield(.kill(sender))
                return .failure(.died(Death(.brokeProtocol(objection))))
            case .event(.workerLost(_, let death)): return .failure(.died(death))
            case .event(.stop(let reason)): return .failure(.refused(reason))
            case .event: break
            case .signal(let signal):
                if let worker { command.yield(.kill(worker)) }
                return .failure(.interrupted(signal: signal))
            case .timeIsUp:
                if let worker { command.yield(.kill(worker)) }
                return .failure(.tookTooLong)
            }
        }
        return .failure(.tookTooLong)
    }
}

extension Event {
    /// False for events that answer nothing, and that a worker can cause in any number.
    fileprivate var mayAnswer: Bool {
        switch self {
        case .words, .report(_, .alive), .report(_, .inPlugins), .report(_, .worn): false
        default: true
        }
    }
}

/// The environment variables that reach workers.
///
/// A worker decodes foreign pictures and runs plugins. The coordinator's environment may hold secrets, such as tokens of a
/// CI job or keys of an object store. So only variables that a worker needs are passed on.
package enum WorkerEnvironment {
    /// Read by the C library, the loader, the time zone and locale functions, fonts, and compilers' run-time libraries.
    static let names: Set<String> = [
        "PATH", "HOME", "TMPDIR", "TZ", "TZDIR", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "GLIBC_TUNABLES",
        "GCONV_PATH", "LOCPATH", "MALLOC_ARENA_MAX", "ASAN_OPTIONS", "TSAN_OPTIONS",
        "LLVM_PROFILE_FILE",
    ]

    /// Further variables for jobs of a cluster: the user, as a login sets them.
    private static let jobNames: Set<String> = ["USER", "LOGNAME", "SHELL"]

    /// Prefixes of variables: Penumbra's own, locale, libvips and its libraries, and threads of plugins.
    static let prefixes = ["PENUMBRA_", "LC_", "VIPS_", "G_", "ORC_", "XDG_", "FONTCONFIG_", "OMP_", "KMP_"]

    /// The variables that a worker gets.
    ///
    /// - Parameter more: names from the user's settings. A name that ends with `*` is a prefix.
    package static func allowed(of variables: [String: String], more: [String]) -> [String: String] {
        let others = Set(more.filter { !$0.hasSuffix("*") })
        let beginnings = prefixes + more.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) }
        return variables.filter { name, _ in
            names.contains(name) || others.contains(name) || beginnings.contains { name.hasPrefix($0) }
        }
    }

    /// The names of the variables that a job of a cluster gets, sorted: those of workers and those of the user.
    package static func namesForJobs(of variables: [String: String], more: [String]) -> [String] {
        Set(allowed(of: variables, more: more).keys).union(jobNames.intersection(variables.keys))
            .filter(isPlain)
            .sorted()
    }

    /// `sbatch` cannot take other names.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || [48...57, 65...90, 97...122].contains { $0.contains(byte) }
        }
    }
}
