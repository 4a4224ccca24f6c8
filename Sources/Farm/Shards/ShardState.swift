package import Scheduling
package import WorkerProtocol

/// The pure state of an element: decides what its workers do next. It knows one shard and nothing of the run, so the
/// coordinator decides about further attempts. It tries a task again once if its worker died, because a new worker is there
/// at once and a cluster's queue is long.
package struct ShardState: Sendable {
    package enum Action: Hashable, Sendable {
        case start(Lease)
        case kill(WorkerID)
        case recycle(WorkerID)
        case begun(LeaseID)
        case ended(TaskEnd)
        /// No worker can be started here.
        case abandon(String)
    }

    private struct Running {
        let task: Shard.Task
        var deadline: Timestamp
        var plugins: [String] = []
        var isWorn = false
        var isOverdue = false
        /// Why the worker's answer was rejected.
        var objection: String?
    }

    private var waiting: [Shard.Task]
    private var running: [WorkerID: Running] = [:]
    private var idle: [WorkerID] = []
    private var lastReports: [WorkerID: Timestamp] = [:]
    private var tried: Set<LeaseID> = []
    private var failedStarts = 0
    private let mostFailedStarts: Int
    private let silence: Duration
    private let plugins: Set<String>?
    private var watch = StallWatch()

    /// - Parameters:
    ///   - workers: the intended number of workers.
    ///   - plugins: the names of the filters that are plugins; nil if they are not known.
    package init(_ tasks: [Shard.Task], workers: Int, silence: Duration, plugins: Set<String>? = nil) {
        self.plugins = plugins
        waiting = tasks.reversed()
        mostFailedStarts = 3 * workers
        self.silence = silence
    }

    package var isDone: Bool { waiting.isEmpty && running.isEmpty }

    package mutating func handle(_ event: Event, at now: Timestamp) -> [Action] {
        if let gap = watch.gap(at: now) { forgive(gap) }
        var actions: [Action] = []
        switch event {
        case .workerReady(let worker):
            // A second greeting changes nothing.
            guard lastReports[worker] == nil else { break }
            failedStarts = 0
            lastReports[worker] = now
            idle.append(worker)
        case .workerLost(let worker, let death): actions = lose(worker, death)
        case .report(let worker, let report):
            // A worker that has not greeted gets no work.
            guard lastReports[worker] != nil else { break }
            lastReports[worker] = now
            actions = handle(report, from: worker)
        case .tick: actions = endLate(at: now)
        case .frames, .planEnded, .words, .adopted, .published, .publishFailed, .decided, .stop, .pause, .holdTiling,
            .limitWorkers, .drain, .stalled:
            break
        }
        return actions + startWaiting(at: now)
    }

    private mutating func handle(_ report: Report, from worker: WorkerID) -> [Action] {
        switch report {
        case .ready, .alive: return []
        case .inPlugins(_, let names):
            if let objection = running[worker]?.task.order.objection(toPlugins: names, plugins) {
                return reject(worker, objection)
            }
            running[worker]?.plugins = names
        case .worn: running[worker]?.isWorn = true
        case .finished(let lease, let receipt):
            guard let current = running[worker], current.task.lease == lease, current.objection == nil else {
                return []
            }
            if let objection = current.task.order.objection(to: receipt) { return reject(worker, objection) }
            guard let earlier = current.task.earlier else { return end(lease, .done(receipt), of: worker) }
            return current.task.isAsBefore(receipt)
                ? end(lease, .done(earlier), of: worker) : redo(lease, of: worker)
        case .failed(let lease, let failure):
            if running[worker]?.task.earlier != nil { return redo(lease, of: worker) }
            if let current = running[worker], current.task.lease == lease,
                let objection = current.task.spec.objection(to: failure, plugins: plugins)
            {
                return reject(worker, objection)
            }
            return end(lease, .failed(failure), of: worker)
        }
        return []
    }

    /// All later reports of the worker are ignored.
    private mutating func reject(_ worker: WorkerID, _ objection: String) -> [Action] {
        guard running[worker]?.objection == nil else { return [] }
        running[worker]?.objection = objection
        return [.kill(worker)]
    }

    private mutating func end(_ lease: LeaseID, _ outcome: TaskEnd.Outcome, of worker: WorkerID) -> [Action] {
        guard let ended = release(worker, of: lease) else { return [] }
        return [.ended(TaskEnd(lease, outcome))] + (ended.isWorn ? [.recycle(worker)] : [])
    }

    /// Nil if the worker does not have the lease, or its answer does not count any more.
    private mutating func release(_ worker: WorkerID, of lease: LeaseID) -> Running? {
        guard let ended = running[worker], ended.task.lease == lease, !ended.isOverdue, ended.objection == nil else {
            return nil
        }
        running[worker] = nil
        if !ended.isWorn { idle.append(worker) }
        return ended
    }

    /// The files of an earlier attempt have changed, so the task is carried out again.
    private mutating func redo(_ lease: LeaseID, of worker: WorkerID) -> [Action] {
        guard let ended = release(worker, of: lease) else { return [] }
        waiting.append(ended.task.adopting(nil))
        return ended.isWorn ? [.recycle(worker)] : []
    }

    private mutating func lose(_ worker: WorkerID, _ death: Death) -> [Action] {
        let wasReady = lastReports.removeValue(forKey: worker) != nil
        idle.removeAll { $0 == worker }
        guard let lost = running.removeValue(forKey: worker) else {
            guard !wasReady, death.manner != .byOrder else { return [] }
            failedStarts += 1
            return failedStarts >= mostFailedStarts ? [.abandon(Self.words(death))] : []
        }
        let isFirst = tried.insert(lost.task.lease).inserted
        if isFirst, !lost.isOverdue {
            waiting.append(lost.task)
            return []
        }
        let manner = lost.objection.map { Death(.brokeProtocol($0), lastWords: death.lastWords) }
        return [.ended(TaskEnd(lost.task.lease, .died(manner ?? Self.blameless(death), inPlugins: lost.plugins)))]
    }

    /// No worker sends itself SIGTERM, but a cluster sends it to all processes of an element.
    private static func blameless(_ death: Death) -> Death {
        death.manner == .signal(15) ? Death(.killed, lastWords: death.lastWords) : death
    }

    private static func words(_ death: Death) -> String {
        switch death.manner {
        case .failedToStart(let words), .brokeProtocol(let words): words
        case .signal(let signal): "the worker crashes with signal \(signal) before it is ready"
        case .exited(let code): "the worker leaves with exit code \(code) before it is ready"
        case .killed, .outOfMemory: "the worker is killed before it is ready; is there memory enough for one?"
        case .byOrder, .silent, .elementLost, .elementFailed: "no worker becomes ready"
        }
    }

    /// Kills workers that are over their time, and workers that are stopped.
    private mutating func endLate(at now: Timestamp) -> [Action] {
        var actions: [Action] = []
        for worker in running.keys.sorted() {
            guard let current = running[worker], !current.isOverdue, current.objection == nil else { continue }
            let isSilent = lastReports[worker].map { $0 + silence <= now } ?? false
            guard current.deadline <= now || isSilent else { continue }
            // A task that reached its time limit is not tried again. The task of a stopped process is.
            running[worker]?.isOverdue = current.deadline <= now
            if isSilent { lastReports[worker] = now }
            actions.append(.kill(worker))
        }
        return actions
    }

    /// Extends all deadlines by the time for which the element was stopped.
    private mutating func forgive(_ gap: Duration) {
        running = running.mapValues { current in
            var current = current
            current.deadline = current.deadline + gap
            return current
        }
        lastReports = lastReports.mapValues { $0 + gap }
    }

    private mutating func startWaiting(at now: Timestamp) -> [Action] {
        var actions: [Action] = []
        while let worker = idle.first, let task = waiting.popLast() {
            idle.removeFirst()
            running[worker] = Running(task: task, deadline: now + task.timeLimit)
            let lease = Lease(
                id: task.lease, task: TaskID(FrameID(1), .frame), attempt: tried.contains(task.lease) ? 2 : 1, round: 0,
                worker: worker,
                deadline: now + task.timeLimit, timeLimit: task.timeLimit, pixelBytes: task.pixelBytes, spec: task.order
            )
            actions += [.begun(task.lease), .start(lease)]
        }
        return actions
    }
}
