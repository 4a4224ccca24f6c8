import JobModel
import Scheduling
import WorkerProtocol

/// Drives a scheduler by hand: keeps its directives, and answers for workers.
struct Farm {
    var scheduler: Scheduler
    var probe: ProbeReceipt
    var now = Timestamp.start
    /// Leases that a worker holds.
    var running: [Lease] = []
    var outcomes: [FrameID: FrameOutcome] = [:]
    var published: [String] = []
    var killed: [WorkerID] = []
    var retired: [Retirement] = []
    var flagged: [ImplausibleSpeed] = []
    var recycled: [WorkerID] = []
    /// The number of slots that the scheduler has opened.
    var slots = 1
    var wanted = 0
    /// The facts of files that were compared.
    var compared: [FrameID: [FileFacts?]] = [:]
    /// The answer to a comparison. Nil to wait.
    var decision: FrameDecision? = .settle
    var finished: StopReason??
    /// All leases that were ever given.
    var leases: [Lease] = []
    /// The ends of attempts, in the order of their records.
    var ends: [(LeaseID, String)] = []

    init(_ scheduler: Scheduler = .make(), probe: ProbeReceipt = .make()) {
        self.scheduler = scheduler
        self.probe = probe
    }

    mutating func send(_ event: Event, at time: Timestamp? = nil) {
        if let time { now = time }
        for directive in scheduler.handle(event, at: now) {
            switch directive {
            case .wantFrames(let count): wanted += count
            case .start(let lease):
                running.append(lease)
                leases.append(lease)
            case .widen(let count): slots = count
            case .kill(let worker, _): killed.append(worker)
            case .retire(let retirement): retired.append(retirement)
            case .flag(_, let haste): flagged.append(haste)
            case .recycle(let worker): recycled.append(worker)
            case .publish(let frame, let outputs):
                published += outputs.map(\.path)
                send(.published(frame))
            case .decide(let frame, let facts):
                compared[frame] = facts
                if let decision { send(.decided(frame, decision)) }
            case .conclude(let frame, let outcome): outcomes[frame] = outcome
            case .ended(let lease, let end): ends.append((lease.id, Self.word(end)))
            case .finish(let reason): finished = .some(reason)
            }
        }
    }

    private static func word(_ end: AttemptEnd) -> String {
        switch end {
        case .done: "done"
        case .failed: "failed"
        case .lost: "lost"
        case .dropped: "dropped"
        }
    }

    /// Workers 1…count become ready, and the plan's frames are offered.
    mutating func begin(workers: Int = 2, frames: Int = 1) {
        begin(workers: workers, (1...max(1, frames)).prefix(frames).map { FrameOrder.make($0) })
    }

    mutating func begin(workers: Int = 2, _ orders: [FrameOrder]) {
        send(.tick)
        for number in 0..<workers { send(.workerReady(WorkerID(number + 1))) }
        offer(orders)
    }

    mutating func offer(_ orders: [FrameOrder]) {
        send(.frames(orders, wanted: wanted))
        wanted = 0
        send(.planEnded)
    }

    mutating func take(_ lease: Lease) { running.removeAll { $0.id == lease.id } }

    mutating func finish(_ lease: Lease) {
        take(lease)
        send(.report(lease.worker, .finished(lease.id, receipt(for: lease.spec, probe: probe))))
    }

    mutating func fail(_ lease: Lease, _ kind: TaskFailure.Kind, _ message: String = "it failed") {
        take(lease)
        send(.report(lease.worker, .failed(lease.id, TaskFailure(kind, message))))
    }

    /// The worker of a lease dies, and a new process takes its place.
    mutating func die(
        _ lease: Lease, _ manner: Death.Manner, replacement: Int? = nil, lastWords: String = ""
    ) {
        take(lease)
        send(.workerLost(lease.worker, Death(manner, lastWords: lastWords)))
        if let replacement { send(.workerReady(WorkerID(replacement))) }
    }

    struct NothingRuns: Error {}

    /// Finishes everything that runs until a lease of this kind is given, and returns it.
    mutating func advance(to kind: TaskKind) throws -> Lease {
        while let lease = running.first {
            if let wanted = running.first(where: { $0.task.kind == kind }) { return wanted }
            finish(lease)
        }
        throw NothingRuns()
    }

    mutating func finishAll() {
        while let lease = running.first { finish(lease) }
    }
}
