import JobModel
package import Scheduling
import Synchronization
package import WorkerProtocol

/// Starts workers and carries orders to them: local processes now, a cluster's scheduler later.
package protocol Engine: Sendable {
    /// Keeps a worker running, and as many as commands ask for, until `commands` ends; then lets them leave and
    /// returns.
    ///
    /// Every worker that was announced by ``Event/workerReady(_:)`` is also reported by ``Event/workerLost(_:_:)``
    /// when it ends, unless the commands have ended before.
    ///
    /// - Parameter onEvent: called from any task; must return quickly.
    func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async
}

package enum EngineCommand: Sendable {
    case start(Lease)
    /// Opens so many slots in all, those that were retired counted too, and keeps a worker running in each.
    case widen(to: Int)
    /// Starts no more workers in the slot, and lets the one that is there leave.
    case retire(SlotID)
    /// Ends the process at once.
    case kill(WorkerID)
    /// Lets an idle process leave, and starts another.
    case recycle(WorkerID)
    /// What the coordinator had heard when it last looked at the time has been answered.
    case pulse
    /// Another coordinator goes on with the run. What a cluster does goes on; processes here are ended.
    case handOver
}

/// How a worker process is started.
package struct WorkerCommand: Sendable {
    /// Absolute path of `penumbra-worker`.
    package let executable: String
    package let arguments: [String]
    /// Added to what of the coordinator's own environment reaches workers (``WorkerEnvironment``).
    package var environment: [String: String]
    /// Names of further variables of the coordinator's own environment that reach workers.
    package let inheritedVariables: [String]
    /// Which plugins it may use.
    package let plugins: PluginConditions
    /// Told to every worker that is started later.
    let refusals = RefusedLibraries()

    package init(
        executable: String, arguments: [String] = [], environment: [String: String] = [:],
        inheritedVariables: [String] = [], plugins: PluginConditions = PluginConditions()
    ) {
        self.executable = executable
        self.arguments = arguments
        self.environment = environment
        self.inheritedVariables = inheritedVariables
        self.plugins = plugins
    }
}

/// The libraries that workers refused to open, as the latest one that said so had it.
final class RefusedLibraries: Sendable {
    private let libraries = Mutex<[RefusedLibrary]>([])

    var all: [RefusedLibrary] { libraries.withLock { $0 } }

    func note(_ refused: [RefusedLibrary]) { libraries.withLock { $0 = refused } }
}

/// Why an engine gave no answer.
package enum EngineError: Error, Sendable {
    case failed(TaskFailure)
    case died(Death)
    /// No worker can be had.
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
    /// Has a single task done, by the first worker that is ready.
    ///
    /// - Parameters:
    ///   - signals: the first one ends the worker.
    ///   - limit: for all of it, the start of the worker too.
    package func ask(
        _ spec: TaskSpec, signals: AsyncStream<Int32>, limit: Duration
    ) async throws(EngineError) -> TaskReceipt {
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.run(commands) { if $0.mayAnswer { continuation.yield(.event($0)) } } }
            group.addTask { for await signal in signals { continuation.yield(.signal(signal)) } }
            group.addTask {
                // Sleeping fails when the answer is there.
                if (try? await Task.sleep(for: limit)) != nil { continuation.yield(.timeIsUp) }
            }
            defer {
                command.finish()
                group.cancelAll()
            }
            return await Self.answer(spec, inputs, command)
        }
        return try result.get()
    }

    private static func answer(
        _ spec: TaskSpec, _ inputs: AsyncStream<Input>, _ command: AsyncStream<EngineCommand>.Continuation
    ) async -> Result<TaskReceipt, EngineError> {
        var worker: WorkerID?
        for await item in inputs {
            switch item {
            case .event(.workerReady(let ready)) where worker == nil:
                worker = ready
                let lease = Lease(
                    id: LeaseID(1), task: TaskID(FrameID(1), .frame), attempt: 1, round: 0, worker: ready,
                    deadline: Timestamp(.zero), timeLimit: .zero, spec: spec)
                command.yield(.start(lease))
            case .event(.report(let sender, .finished(_, let receipt))) where sender == worker:
                guard let objection = spec.objection(to: receipt) else { return .success(receipt) }
                command.yield(.kill(sender))
                return .failure(.died(Death(.brokeProtocol(objection))))
            case .event(.report(_, .failed(_, let failure))): return .failure(.failed(failure))
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
    /// False for events that a worker can cause in any number, and that answer nothing.
    fileprivate var mayAnswer: Bool {
        switch self {
        case .words, .report(_, .alive), .report(_, .inPlugins), .report(_, .worn): false
        default: true
        }
    }
}

/// The environment variables that reach workers.
///
/// A worker decodes pictures of strangers and runs plugins. The coordinator's environment often holds what neither must
/// see: tokens of a CI job, keys of an object store. So a variable is handed on only if something in a worker reads it.
package enum WorkerEnvironment {
    /// Read by the C library, the loader, the time zone and locale functions, fonts, and compilers' run-time libraries.
    static let names: Set<String> = [
        "PATH", "HOME", "TMPDIR", "TZ", "TZDIR", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "LD_PRELOAD", "GLIBC_TUNABLES",
        "GCONV_PATH", "LOCPATH", "MALLOC_ARENA_MAX", "ASAN_OPTIONS", "LLVM_PROFILE_FILE",
    ]

    /// Of a cluster's job beside them: who it runs for, as a login says.
    private static let jobNames: Set<String> = ["USER", "LOGNAME", "SHELL"]

    /// Of families of variables: Penumbra's own, locale, libvips and its libraries, and threads of plugins.
    static let prefixes = ["PENUMBRA_", "LC_", "VIPS_", "G_", "ORC_", "XDG_", "FONTCONFIG_", "OMP_", "KMP_"]

    /// What of `variables` a worker gets.
    ///
    /// - Parameter more: names that the user's settings add. One that ends with `*` is the beginning of names.
    package static func allowed(of variables: [String: String], more: [String]) -> [String: String] {
        let others = Set(more.filter { !$0.hasSuffix("*") })
        let beginnings = prefixes + more.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) }
        return variables.filter { name, _ in
            names.contains(name) || others.contains(name) || beginnings.contains { name.hasPrefix($0) }
        }
    }

    /// The names of what a cluster's job gets, which starts workers: the same, and who it runs for. Sorted.
    package static func namesForJobs(of variables: [String: String], more: [String]) -> [String] {
        Set(allowed(of: variables, more: more).keys).union(jobNames.intersection(variables.keys))
            .filter(isPlain)
            .sorted()
    }

    /// Others could not be named to `sbatch`.
    private static func isPlain(_ name: String) -> Bool {
        name.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "_") || [48...57, 65...90, 97...122].contains { $0.contains(byte) }
        }
    }
}
