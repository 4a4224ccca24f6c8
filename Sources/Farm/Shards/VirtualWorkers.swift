package import Scheduling
package import WorkerProtocol

/// The pure state of a cluster's slots: which lease is with which worker. The scheduler sees a cluster as many workers with
/// one lease each. None of them is a process. If a worker loses its lease without a report, it is reported as dead, and
/// another worker takes its slot at once.
package struct VirtualWorkers: Sendable {
    private var workers: [SlotID: WorkerID] = [:]
    private var held: [WorkerID: Lease] = [:]
    private var holders: [LeaseID: WorkerID] = [:]
    private var latest = 0
    private var slots = 0

    package init() {}

    /// Opens slots up to this number.
    package mutating func open(to count: Int) -> [Event] {
        guard count > slots else { return [] }
        defer { slots = count }
        return (slots..<count).map { enlist(in: SlotID($0 + 1)) }
    }

    /// - Returns: false if the worker is gone. Then nothing answers the lease.
    @discardableResult package mutating func start(_ lease: Lease) -> Bool {
        guard workers[lease.worker.slot] == lease.worker else { return false }
        held[lease.worker] = lease
        holders[lease.id] = lease.worker
        return true
    }

    package func holds(_ lease: LeaseID) -> Bool { holders[lease] != nil }

    package func lease(of worker: WorkerID) -> LeaseID? { held[worker]?.id }

    /// The run ends the worker. Another worker takes its slot.
    package mutating func dismiss(_ worker: WorkerID) -> [Event] {
        guard workers[worker.slot] == worker else { return [] }
        return lose(worker, Death(.byOrder)) + [enlist(in: worker.slot)]
    }

    /// Closes the slot.
    package mutating func retire(_ slot: SlotID) -> [Event] {
        guard let worker = workers.removeValue(forKey: slot) else { return [] }
        return lose(worker, Death(.byOrder))
    }

    /// Ignores leases that the run has given up.
    ///
    /// - Parameter location: the element, for messages about a death: `element 12_3 on n2, see FILE`.
    package mutating func end(_ end: TaskEnd, location: String) -> [Event] {
        guard let worker = holders[end.lease], let spec = held[worker]?.spec else { return [] }
        switch end.outcome {
        case .done(let receipt):
            // The files of an earlier attempt have the earlier names.
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

    /// An earlier coordinator has the result.
    package mutating func adopt(_ lease: LeaseID, _ receipt: TaskReceipt) -> [Event] {
        guard let worker = holders.removeValue(forKey: lease) else { return [] }
        held[worker] = nil
        return [.adopted(worker, lease, receipt)]
    }

    /// No report of the lease will come.
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

/// Gathers tasks into shards by their estimated time. It is pure, so that sizes can be tested without a cluster.
///
/// A shard is closed when its tasks take the wanted time of an element, when it has too many tasks, or when no task has
/// come for a moment. In the last case, none will come before something is done.
package struct ShardBatcher: Sendable {
    /// A result of so many tasks is still written and read quickly.
    package static let mostTasks = 1000
    /// Long enough for the coordinator to hand out its tasks, and short compared with a cluster's queue.
    package static let idleDelay = Duration.milliseconds(300)

    private let coreSeconds: Double
    private let cores: Int
    private var open: [Lease] = []
    private var gathered = 0.0
    private var latest = Timestamp.start
    private var closed: [[Lease]] = []

    /// - Parameters:
    ///   - seconds: the wanted time of an element.
    ///   - cores: the cores of an element.
    package init(seconds: Double, cores: Int) {
        coreSeconds = seconds * Double(cores)
        self.cores = cores
    }

    package mutating func add(_ lease: Lease, at now: Timestamp) {
        // A single task that exceeds the time gets a shard of its own.
        if !open.isEmpty, gathered + lease.estimate > coreSeconds, open.count >= cores { close() }
        open.append(lease)
        gathered += lease.estimate
        latest = now
        if gathered >= coreSeconds && open.count >= cores || open.count >= Self.mostTasks { close() }
    }

    /// The run has withdrawn the lease.
    package mutating func remove(_ lease: LeaseID) -> Bool {
        let before = open.count + closed.reduce(0) { $0 + $1.count }
        open.removeAll { $0.id == lease }
        closed = closed.map { $0.filter { $0.id != lease } }.filter { !$0.isEmpty }
        return open.count + closed.reduce(0) { $0 + $1.count } < before
    }

    /// The shards that are ready, at most `count`. None while tasks still come, because one submission is better than
    /// several.
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
