package import Engines
package import Scheduling
package import WorkerProtocol

/// What is known while tasks are gathered, as a pure value: which are done here, and when the rest is handed over.
package struct HandoffState: Sendable {
    package enum Input: Sendable {
        /// - Parameter prior: what an earlier attempt at the task of a lease that is started came to.
        case command(EngineCommand, prior: TaskReceipt? = nil)
        /// The run is over.
        case ended
        case done([GatheredTask], Result<[TaskEnd], HandingOverTrouble>)
        case handedOver(HandingOverTrouble?)
    }

    package enum Effect: Sendable {
        case event(Event)
        /// By processes here; answered by ``Input/done(_:_:)``.
        case carryOut([GatheredTask], as: Int)
        /// Answered by ``Input/handedOver(_:)``.
        case handOver([GatheredTask], from: Int)
    }

    private let takes: @Sendable (TaskSpec) -> Bool
    private var book = VirtualWorkers()
    /// Done here, first.
    private var early: [GatheredTask] = []
    private var gathered: [GatheredTask] = []
    private var lastShard: Int
    private var isBusy = false
    package private(set) var isHandingOver = false
    package private(set) var wasReceived = false
    /// The coordinator has left the run to whoever has received it.
    package private(set) var isHandedOver = false
    private var hasEnded = false
    /// Since anything came or was told.
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
    package mutating func begin() -> [Event] { book.open(to: 1) }

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
        case .handedOver(let trouble):
            (isHandingOver, wasReceived) = (false, trouble == nil)
            return [.event(.stop(trouble?.reason ?? .detached))]
        case .ended:
            hasEnded = true
            return []
        }
    }

    private mutating func carryOut(_ command: EngineCommand, _ prior: TaskReceipt?) -> [Event] {
        switch command {
        case .start(let lease):
            guard book.start(lease) else { break }
            switch prior {
            // Whoever gets it looks at the files' bytes first.
            case .outputs?, nil: add(GatheredTask(lease, earlier: prior))
            case let receipt?: return book.adopt(lease.id, receipt)
            }
        case .widen(let count): return book.open(to: count)
        case .retire(let slot): return book.retire(slot)
        case .kill(let worker), .recycle(let worker):
            if let lease = book.lease(of: worker) {
                early.removeAll { $0.lease.id == lease }
                gathered.removeAll { $0.lease.id == lease }
            }
            return book.dismiss(worker)
        case .handOver: isHandedOver = true
        case .pulse: break
        }
        return []
    }

    /// A report leads to a question for frames, its answer to a start: when so many pulses bring nothing, nothing will come
    /// before something is done.
    package static let quietPulsesBeforeWork = 4

    private mutating func next() -> Effect? {
        guard !isBusy, quietPulses >= Self.quietPulsesBeforeWork else { return nil }
        if !early.isEmpty {
            defer { early = [] }
            isBusy = true
            lastShard += 1
            return .carryOut(early, as: lastShard)
        }
        guard !gathered.isEmpty else { return nil }
        (isBusy, isHandingOver) = (true, true)
        return .handOver(gathered, from: lastShard + 1)
    }

    private mutating func add(_ task: GatheredTask) {
        if takes(task.lease.spec) { gathered.append(task) } else { early.append(task) }
    }

    private mutating func note(_ tasks: [GatheredTask], _ result: Result<[TaskEnd], HandingOverTrouble>) -> [Event] {
        switch result {
        case .success(let ends):
            var events = ends.flatMap { book.end($0, place: "here") }
            for lease in tasks.map(\.lease) where book.holds(lease.id) {
                events += book.lose(lease.id, Death(.killed))
            }
            return events
        case .failure(let trouble): return [.stop(trouble.reason)]
        }
    }
}
