package import Engines
package import Scheduling
package import WorkerProtocol

/// The pure state of a handover: which tasks are carried out here, and when the others are handed over.
package struct HandoffState: Sendable {
    package enum Input: Sendable {
        /// - Parameter prior: for a started lease, the receipt of an earlier attempt at its task.
        case command(EngineCommand, prior: TaskReceipt? = nil)
        /// The run is over.
        case ended
        case done([GatheredTask], Result<[TaskEnd], HandoffError>)
        case handedOver(HandoffError?)
    }

    package enum Effect: Sendable {
        case event(Event)
        /// Answered by ``Input/done(_:_:)``.
        case carryOut([GatheredTask], as: Int)
        /// Answered by ``Input/handedOver(_:)``.
        case handOver([GatheredTask], from: Int)
    }

    private let takes: @Sendable (TaskSpec) -> Bool
    private var workers = VirtualWorkers()
    /// The tasks that are carried out here first.
    private var first: [GatheredTask] = []
    private var gathered: [GatheredTask] = []
    private var lastShard: Int
    private var isBusy = false
    package private(set) var isHandingOver = false
    package private(set) var wasReceived = false
    /// The coordinator has left the run to the recipient.
    package private(set) var isHandedOver = false
    private var hasEnded = false
    /// The number of pulses since the last input.
    private var quietPulses = 0

    package var isOver: Bool { hasEnded && !isHandingOver }

    /// - Parameters:
    ///   - lastShard: the number of the run's last shard so far.
    ///   - takes: whether a task is handed over.
    package init(lastShard: Int, takes: @escaping @Sendable (TaskSpec) -> Bool) {
        self.lastShard = lastShard
        self.takes = takes
    }

    /// Opens the first slot.
    package mutating func begin() -> [Event] { workers.open(to: 1) }

    package mutating func handle(_ input: Input) -> [Effect] {
        switch input {
        case .command(.pulse, _):
            quietPulses += 1
            return next().map { [$0] } ?? []
        case .command(let command, let prior):
            quietPulses = 0
            return carryOut(command, prior).map(Effect.event)
        case .done(let tasks, let result):
            (isBusy, quietPulses) = (false, 0)
            return note(tasks, result).map(Effect.event)
        case .handedOver(let error):
            (isHandingOver, wasReceived) = (false, error == nil)
            return [.event(.stop(error?.reason ?? .detached))]
        case .ended:
            hasEnded = true
            return []
        }
    }

    private mutating func carryOut(_ command: EngineCommand, _ prior: TaskReceipt?) -> [Event] {
        switch command {
        case .start(let lease):
            guard workers.start(lease) else { break }
            switch prior {
            // Whoever carries it out checks the files' digests first.
            case .outputs?, nil: add(GatheredTask(lease, earlier: prior))
            case let receipt?: return workers.adopt(lease.id, receipt)
            }
        case .widen(let count): return workers.open(to: count)
        case .retire(let slot): return workers.retire(slot)
        case .kill(let worker), .recycle(let worker):
            if let lease = workers.lease(of: worker) {
                first.removeAll { $0.lease.id == lease }
                gathered.removeAll { $0.lease.id == lease }
            }
            return workers.dismiss(worker)
        case .handOver: isHandedOver = true
        case .pulse: break
        }
        return []
    }

    /// A report leads to a request for frames, and the frames lead to a start. After so many pulses without input, none
    /// will come before something is done.
    package static let quietPulsesBeforeWork = 4

    private mutating func next() -> Effect? {
        guard !isBusy, quietPulses >= Self.quietPulsesBeforeWork else { return nil }
        if !first.isEmpty {
            defer { first = [] }
            isBusy = true
            lastShard += 1
            return .carryOut(first, as: lastShard)
        }
        guard !gathered.isEmpty else { return nil }
        (isBusy, isHandingOver) = (true, true)
        return .handOver(gathered, from: lastShard + 1)
    }

    private mutating func add(_ task: GatheredTask) {
        if takes(task.lease.spec) { gathered.append(task) } else { first.append(task) }
    }

    private mutating func note(_ tasks: [GatheredTask], _ result: Result<[TaskEnd], HandoffError>) -> [Event] {
        switch result {
        case .success(let ends):
            var events = ends.flatMap { workers.end($0, location: "here") }
            for lease in tasks.map(\.lease) where workers.holds(lease.id) {
                events += workers.lose(lease.id, Death(.killed))
            }
            return events
        case .failure(let error): return [.stop(error.reason)]
        }
    }
}
