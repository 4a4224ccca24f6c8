package import Engines
package import Scheduling
package import WorkerProtocol

/// Begins a run that another coordinator resumes: gathers all tasks that are ready, hands them over, and stops this
/// coordinator.
///
/// The scheduler sees many workers with one lease each.
package struct HandoffEngine: Engine {
    /// Receives the tasks.
    package protocol Recipient: Sendable {
        /// Whether a task is handed over. Other tasks are carried out here first, because their results decide what
        /// follows.
        func takes(_ spec: TaskSpec) -> Bool
        /// Carries out tasks on this machine.
        ///
        /// - Parameter number: the number of the shard that they become.
        func carryOut(_ tasks: [GatheredTask], as number: Int) async -> Result<[TaskEnd], HandoffError>
        /// - Parameter first: the first free shard number.
        func receive(_ tasks: [GatheredTask], from first: Int) async -> HandoffError?
        /// The run was cancelled after all.
        func withdraw() async
    }

    private let folder: ShardFolder
    private let recipient: any Recipient

    package init(folder: ShardFolder, recipient: any Recipient) {
        self.folder = folder
        self.recipient = recipient
    }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        let (inputs, continuation) = AsyncStream.makeStream(of: HandoffState.Input.self)
        do {
            try folder.create()
        } catch {
            return onEvent(.stop(.storage(error.message)))
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await command in commands { continuation.yield(.command(command)) }
                continuation.yield(.ended)
            }
            var past = PriorResults(of: folder)
            var state = HandoffState(lastShard: past.lastShard, takes: recipient.takes)
            for event in state.begin() { onEvent(event) }
            for await input in inputs {
                if case .ended = input {
                    // The handover in progress is cancelled and undone.
                    group.cancelAll()
                    if !state.isHandingOver { break }
                }
                var input = input
                if case .command(.start(let lease), _) = input {
                    input = .command(.start(lease), prior: past.take(lease.spec))
                }
                for effect in state.handle(input) {
                    if case .event(let event) = effect {
                        onEvent(event)
                    } else {
                        group.addTask { if let answer = await carryOut(effect) { continuation.yield(answer) } }
                    }
                }
                if state.isOver { break }
            }
            if state.wasReceived, !state.isHandedOver { await Task { await recipient.withdraw() }.value }
            group.cancelAll()
        }
    }

    private func carryOut(_ effect: HandoffState.Effect) async -> HandoffState.Input? {
        switch effect {
        case .event: nil
        case .carryOut(let tasks, let number): .done(tasks, await recipient.carryOut(tasks, as: number))
        case .handOver(let tasks, let first): .handedOver(await recipient.receive(tasks, from: first))
        }
    }
}

/// A task that is ready.
package struct GatheredTask: Sendable {
    package let lease: Lease
    /// As ``Shard/Task/earlier``.
    package let earlier: TaskReceipt?

    package init(_ lease: Lease, earlier: TaskReceipt? = nil) {
        self.lease = lease
        self.earlier = earlier
    }

    var ofShard: Shard.Task { Shard.Task(lease, earlier: earlier) }
}

/// Why work could not be handed over.
package struct HandoffError: Error, Hashable, Sendable {
    package let reason: StopReason

    package init(_ reason: StopReason) { self.reason = reason }
}

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
