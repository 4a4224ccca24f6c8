package import Scheduling
package import WorkerProtocol

/// Which lease is with whom, as a pure value. To the scheduler a Slurm is many workers, each with one lease at a time; none of
/// them is a process. What leaves a worker without its lease and without a report is told as its death, and another takes
/// its slot at once.
package struct VirtualWorkers: Sendable {
    private var workers: [SlotID: WorkerID] = [:]
    private var held: [WorkerID: Lease] = [:]
    private var holders: [LeaseID: WorkerID] = [:]
    private var latest = 0
    private var slots = 0

    package init() {}

    /// Opens so many slots in all.
    package mutating func open(to count: Int) -> [Event] {
        guard count > slots else { return [] }
        defer { slots = count }
        return (slots..<count).map { enlist(in: SlotID($0 + 1)) }
    }

    /// - Returns: false for a worker that is gone: nobody answers the lease.
    @discardableResult package mutating func start(_ lease: Lease) -> Bool {
        guard workers[lease.worker.slot] == lease.worker else { return false }
        held[lease.worker] = lease
        holders[lease.id] = lease.worker
        return true
    }

    package func holds(_ lease: LeaseID) -> Bool { holders[lease] != nil }

    package func lease(of worker: WorkerID) -> LeaseID? { held[worker]?.id }

    /// The run wants the worker to end; another takes its slot.
    package mutating func dismiss(_ worker: WorkerID) -> [Event] {
        guard workers[worker.slot] == worker else { return [] }
        return lose(worker, Death(.byOrder)) + [enlist(in: worker.slot)]
    }

    /// The slot is used no more.
    package mutating func retire(_ slot: SlotID) -> [Event] {
        guard let worker = workers.removeValue(forKey: slot) else { return [] }
        return lose(worker, Death(.byOrder))
    }

    /// Leases that are held no more, since the run has given them up, are left out.
    ///
    /// - Parameter location: where it was done, for whoever reads of a death: `element 12_3 on n2, see FILE`.
    package mutating func end(_ end: TaskEnd, location: String) -> [Event] {
        guard let worker = holders[end.lease], let spec = held[worker]?.spec else { return [] }
        switch end.outcome {
        case .done(let receipt):
            // What was there before, and was only looked at, has the names of who made it.
            return spec.objection(to: receipt) != nil && spec.objection(to: receipt, by: .earlierWorker) == nil
                ? adopt(end.lease, receipt) : report(.finished(end.lease, receipt), worker)
        case .failed(let failure): return report(.failed(end.lease, failure), worker)
        case .died(let death, let plugins):
            let words = death.lastWords.isEmpty ? "none" : death.lastWords
            let placed = Death(death.manner, lastWords: "\(words); \(location)")
            let code = plugins.isEmpty ? [] : [Event.report(worker, .inPlugins(end.lease, plugins))]
            return code + die(worker, placed)
        }
    }

    /// It was done before, by whoever had the run then.
    package mutating func adopt(_ lease: LeaseID, _ receipt: TaskReceipt) -> [Event] {
        guard let worker = holders.removeValue(forKey: lease) else { return [] }
        held[worker] = nil
        return [.adopted(worker, lease, receipt)]
    }

    /// Nobody will report of it.
    package mutating func lose(_ lease: LeaseID, _ death: Death) -> [Event] {
        holders[lease].map { die($0, death) } ?? []
    }

    private mutating func report(_ report: Report, _ worker: WorkerID) -> [Event] {
        if let lease = held.removeValue(forKey: worker) { holders[lease.id] = nil }
        return [.report(worker, report)]
    }

    private mutating func die(_ worker: WorkerID, _ death: Death) -> [Event] {
        lose(worker, death) + [enlist(in: worker.slot)]
    }

    private mutating func lose(_ worker: WorkerID, _ death: Death) -> [Event] {
        if let lease = held.removeValue(forKey: worker) { holders[lease.id] = nil }
        return [.workerLost(worker, death)]
    }

    private mutating func enlist(in slot: SlotID) -> Event {
        latest += 1
        workers[slot] = WorkerID(latest, slot: slot)
        return .workerReady(WorkerID(latest, slot: slot))
    }
}

/// Gathers tasks into shards, by their estimates: pure, so that sizes can be tried without a cluster.
///
/// A shard is closed when its tasks take an element as long as is wanted, or there are too many, or when nothing has come for
/// a moment: then nothing will, before something is done.
package struct ShardBatcher: Sendable {
    /// A result of so many tasks is still written and read in a moment.
    package static let mostTasks = 1000
    /// Long enough for the coordinator to hand out what it has, short beside a cluster's queue.
    package static let idleDelay = Duration.milliseconds(300)

    private let coreSeconds: Double
    private let cores: Int
    private var open: [Lease] = []
    private var gathered = 0.0
    private var latest = Timestamp.start
    private var closed: [[Lease]] = []

    /// - Parameters:
    ///   - seconds: how long an element is to work.
    ///   - cores: that it has.
    package init(seconds: Double, cores: Int) {
        coreSeconds = seconds * Double(cores)
        self.cores = cores
    }

    package mutating func add(_ lease: Lease, at now: Timestamp) {
        // A single task that is too much has a shard of its own.
        if !open.isEmpty, gathered + lease.estimate > coreSeconds, open.count >= cores { close() }
        open.append(lease)
        gathered += lease.estimate
        latest = now
        if gathered >= coreSeconds && open.count >= cores || open.count >= Self.mostTasks { close() }
    }

    /// The run wants it no more.
    package mutating func remove(_ lease: LeaseID) -> Bool {
        let before = open.count + closed.reduce(0) { $0 + $1.count }
        open.removeAll { $0.id == lease }
        closed = closed.map { $0.filter { $0.id != lease } }.filter { !$0.isEmpty }
        return open.count + closed.reduce(0) { $0 + $1.count } < before
    }

    /// The shards that are ready to be handed on, at most `count`. None while tasks still come, which may make more: one
    /// submission is better than several.
    package mutating func take(_ count: Int, at now: Timestamp) -> [[Lease]] {
        guard now.elapsed - latest.elapsed >= Self.idleDelay || closed.count >= count else { return [] }
        if now.elapsed - latest.elapsed >= Self.idleDelay { close() }
        let taken = Array(closed.prefix(count))
        closed.removeFirst(taken.count)
        return taken
    }

    private mutating func close() {
        if !open.isEmpty { closed.append(open) }
        open = []
        gathered = 0
    }
}
