import Geometry
import JobModel
import Scheduling
import WorkerProtocol

/// Watches events and directives, and knows nothing else of the scheduler. It records a complaint about everything that
/// must not happen.
struct Referee {
    enum Standing: Equatable {
        case idle
        case holding(LeaseID)
        /// The worker was told to end.
        case doomed(LeaseID?, Dismissal)
    }

    /// The facts about a frame, according to its events.
    struct Record {
        var round = 0
        /// Tasks whose results were accepted in this round. Probes and comparisons count for all rounds.
        var done: Set<TaskKind> = []
        /// Workers that rendered pixels of this round.
        var renderers: Set<WorkerID> = []
        var histories: [TaskKind: AttemptHistory] = [:]
        var tiles = 0
        var decision: FrameDecision?
        var isPublishing = false
        var wasPublished = false
        var conclusions = 0
        var isOpen: Bool { conclusions == 0 && !isPublishing }
    }

    let policy: SchedulingPolicy
    var complaints: [String] = []
    var standings: [WorkerID: Standing] = [:]
    var leases: [LeaseID: Lease] = [:]
    var frames: [FrameID: Record] = [:]
    var openFrames = 0
    var asked = 0
    var slots = 1
    var retired: Set<SlotID> = []
    /// For each slot the number of failures since its last success.
    var slotFaults: [SlotID: Int] = [:]
    /// The times of workers' last messages. Times in which the coordinator did not listen do not count.
    var heard: [WorkerID: Timestamp] = [:]
    /// The time since a lease was given in which the coordinator did not listen.
    var stalls: [LeaseID: Duration] = [:]
    var lastLease = 0
    var published: Set<String> = []
    /// Stopped by an event. The scheduler may also stop by itself.
    var isStopped = false
    var isDraining = false
    var planEnded = false
    var isFinished = false
    /// The frame and task whose result came with the last event. Nil if it was not accepted.
    var accepted: TaskID?
    /// The worker whose last answer does not fit its task.
    var liar: WorkerID?
    var now = Timestamp.start

    init(_ policy: SchedulingPolicy) { self.policy = policy }

    mutating func see(_ event: Event, _ directives: [Directive], at now: Timestamp) {
        self.now = now
        if isFinished {
            if !directives.isEmpty { complaints.append("directives after the end") }
            return
        }
        (accepted, liar) = (nil, nil)
        if case .report(let worker, _) = event, standings[worker] != nil { heard[worker] = now }
        hear(event)
        for directive in directives { judge(directive) }
    }

    /// Whether a report is about a lease that its sender does not hold, or no longer.
    func isStale(_ report: Report, from worker: WorkerID) -> Bool {
        switch report {
        case .ready, .alive: true
        case .inPlugins(let id, _), .worn(let id), .finished(let id, _), .failed(let id, _):
            standings[worker] != .holding(id)
        }
    }

    private mutating func hear(_ event: Event) {
        switch event {
        case .frames(let orders, let wanted):
            asked -= wanted
            openFrames += orders.count
            for order in orders { frames[order.id] = Record(order) }
        case .planEnded:
            planEnded = true
            asked = 0
        case .workerReady(let worker):
            let isNew = standings[worker] == nil
            standings[worker] =
                standings[worker] ?? (retired.contains(worker.slot) ? .doomed(nil, .retired) : .idle)
            if isNew { heard[worker] = now }
        case .stalled(let gap):
            heard = heard.mapValues { $0 + gap }
            for id in leases.keys { stalls[id, default: .zero] += gap }
        case .workerLost(let worker, let death): bury(worker, death)
        case .report(let worker, .finished(let id, let receipt)):
            if leases[id]?.spec.objection(to: receipt) == nil {
                accept(id, receipt, from: worker)
            } else {
                liar = worker
            }
        case .report(let worker, .failed(let id, let failure)):
            if leases[id]?.spec.objection(to: failure) == nil {
                note(failure, of: id, from: worker)
            } else {
                liar = worker
            }
        case .report(let worker, .inPlugins(let id, let names)):
            if leases[id]?.spec.objection(toPlugins: names, nil) != nil { liar = worker }
        case .adopted(let worker, let id, let receipt): accept(id, receipt, from: worker)
        case .report, .tick, .words, .pause, .holdTiling, .limitWorkers: break
        case .published(let frame): frames[frame]?.wasPublished = true
        case .publishFailed: break
        case .decided(let frame, let decision): frames[frame]?.decision = decision
        case .stop: isStopped = true
        case .drain: isDraining = true
        }
    }

    /// A slot in which a worker may be started.
    var emptySlot: SlotID? {
        let taken = Set(standings.keys.map(\.slot)).union(retired)
        return (1...slots).lazy.map { SlotID($0) }.first { !taken.contains($0) }
    }

    /// Frees the worker. Nil if the report was not accepted.
    private mutating func release(_ id: LeaseID, from worker: WorkerID) -> Lease? {
        guard standings[worker] == .holding(id), let lease = leases.removeValue(forKey: id) else { return nil }
        standings[worker] = .idle
        stalls[id] = nil
        return isCurrent(lease) ? lease : nil
    }

    private func isCurrent(_ lease: Lease) -> Bool {
        guard let frame = frames[lease.task.frame] else { return false }
        return frame.isOpen && frame.round == lease.round
    }

    private mutating func accept(_ id: LeaseID, _ receipt: TaskReceipt, from worker: WorkerID) {
        switch receipt {
        case .probe, .compare: break
        default: if standings[worker] == .holding(id) { slotFaults[worker.slot] = 0 }
        }
        guard let lease = release(id, from: worker), var frame = frames[lease.task.frame] else { return }
        accepted = lease.task
        switch receipt {
        case .probe(let probe):
            frame.done.insert(.probe)
            if lease.task.kind == .frame {
                var history = AttemptHistory()
                history.attempts = lease.attempt
                frame.histories[.frame] = history
            }
            frame.tiles = probe.grid.count
        case .opened: frame.done.formUnion([.probe, .frame])
        default: frame.done.insert(lease.task.kind)
        }
        switch receipt {
        case .opened, .tile: frame.renderers.insert(worker)
        case .outputs: if lease.task.kind == .frame { frame.renderers.insert(worker) }
        case .compare, .probe, .canvas, .audit, .check, .preview: break
        }
        frames[lease.task.frame] = frame
    }

    private mutating func note(_ failure: TaskFailure, of id: LeaseID, from worker: WorkerID) {
        guard let lease = release(id, from: worker), var frame = frames[lease.task.frame] else { return }
        switch failure.kind {
        case .resourceLimit: frame.histories[lease.task.kind]?.failures += 1
        case .transient:
            frame.histories[lease.task.kind]?.failures += 1
            slotFaults[worker.slot, default: 0] += 1
        case .damagedTile(let index):
            frame.histories[.tile(index)]?.failures += 1
            frame.done.remove(.tile(index))
        case .damagedCanvas, .mismatch:
            frame.round += 1
            frame.renderers = []
            frame.done.formIntersection([.compare, .probe])
        case .data, .value, .plugin, .input, .permission, .limit, .output, .storage: break
        }
        frames[lease.task.frame] = frame
    }

    private mutating func bury(_ worker: WorkerID, _ death: Death) {
        let standing = standings.removeValue(forKey: worker)
        heard[worker] = nil
        if standing != nil, death.manner != .killed { slotFaults[worker.slot, default: 0] += 1 }
        guard standing?.isRetired != true else {
            standing?.lease.map { leases[$0] = nil }
            return
        }
        guard let id = standing?.lease, let lease = leases.removeValue(forKey: id), isCurrent(lease) else { return }
        if death.manner == .killed {
            frames[lease.task.frame]?.histories[lease.task.kind]?.kills += 1
        } else {
            frames[lease.task.frame]?.histories[lease.task.kind]?.crashes += 1
        }
    }
}

extension Referee.Standing {
    var lease: LeaseID? {
        switch self {
        case .holding(let id): id
        case .doomed(let id, _): id
        case .idle: nil
        }
    }

    var isRetired: Bool {
        if case .doomed(_, .retired) = self { true } else { false }
    }
}

extension Referee.Record {
    /// The result of an earlier survey is not needed again.
    init(_ order: FrameOrder) {
        if case .publish(_, let probe?) = order.goal {
            done = [.probe]
            tiles = probe.grid.count
        }
    }
}
