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
