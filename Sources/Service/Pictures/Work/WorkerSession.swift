package import Engines
package import Scheduling
package import WorkerProtocol

/// One worker process after the other in one slot, watched while it works. Reads no clock and starts nothing.
///
///     starting ─► idle ─► working ─► idle ─► … ─► over (30 s without work, or no worker starts)
///        ▲         │         │
///        └─────────┴─────────┘  the process has ended, and the engine starts another one
package struct WorkerSession: Sendable {
    /// How the present task has ended.
    package enum Result: Sendable {
        case done(TaskReceipt)
        case failed(TaskFailure)
        /// The process has crashed. The words follow "the worker".
        case crashed(String)
        /// The process was ended, by this session or from outside. The words follow "the worker".
        case ended(String)
    }

    /// What the shell has to do.
    package enum Action: Sendable {
        case command(EngineCommand)
        case conclude(Result)
    }

    private struct Work: Sendable {
        let spec: TaskSpec
        let since: Timestamp
        /// Another process may do it once more, because the first one was killed from outside.
        var isLastTry: Bool
    }

    private enum Phase: Sendable {
        /// - Parameter work: what the next process does first.
        case starting(Work?)
        case idle(WorkerID, since: Timestamp)
        case working(WorkerID, LeaseID, Work)
        /// - Parameter reason: why no worker can be started. Nil if there was nothing to do.
        case over(reason: String?)
    }

    /// How long a worker without work is kept.
    static let patience = Duration.seconds(30)
    /// A worker that says nothing for so long is stuck. It has a lower priority than all others, so it is given more time.
    static let silence = Duration.seconds(60)
    /// No picture takes longer, except large ones of which all pixels are written.
    package static let usualTimeLimit = Duration.seconds(300)
    /// So many processes in a row that were never ready are no accident.
    static let mostFailedStarts = 3
    /// The same for starts that somebody has killed.
    static let mostKilledStarts = 20

    private var phase = Phase.starting(nil)
    private var lastMessage: Timestamp
    private var failedStarts = 0
    private var killedStarts = 0
    private var leases = 0
    /// Whether the worker wants to be replaced after its task.
    private var isWorn = false
    private var stalls: StallWatch
    private let timeLimit: Duration

    /// - Parameter timeLimit: For one task.
    package init(at now: Timestamp, timeLimit: Duration = usualTimeLimit) {
        self.timeLimit = timeLimit
        lastMessage = now
        stalls = StallWatch(since: now)
    }

    /// Whether a task can begin.
    package var isIdle: Bool { if case .idle = phase { true } else { false } }

    package var isOver: Bool { if case .over = phase { true } else { false } }

    /// Why no worker can be started. Nil while one can.
    package var failure: String? { if case .over(let reason) = phase { reason } else { nil } }

    // MARK: Work

    /// Begins a task. Only while the session is idle.
    package mutating func begin(_ spec: TaskSpec, at now: Timestamp) -> [Action] {
        guard case .idle(let worker, _) = phase else { return [] }
        return [start(Work(spec: spec, since: now, isLastTry: false), on: worker, at: now)]
    }

    private mutating func start(_ work: Work, on worker: WorkerID, at now: Timestamp) -> Action {
        leases += 1
        isWorn = false
        let lease = LeaseID(leases)
        phase = .working(worker, lease, Work(spec: work.spec, since: now, isLastTry: work.isLastTry))
        lastMessage = now
        return .command(
            .start(
                Lease(
                    id: lease, task: TaskID(FrameID(leases), .frame), attempt: work.isLastTry ? 2 : 1, round: 0,
                    worker: worker, deadline: now + timeLimit, timeLimit: timeLimit, spec: work.spec)))
    }

    // MARK: Events

    package mutating func handle(_ event: Event, at now: Timestamp) -> [Action] {
        switch event {
        case .workerReady(let worker): return ready(worker, at: now)
        case .workerLost(let worker, let death): return lost(worker, death, at: now)
        case .report(let worker, let report): return received(report, from: worker, at: now)
        case .stop:
            phase = .over(reason: "the engine has stopped")
            return []
        case .frames, .planEnded, .adopted, .words, .published, .publishFailed, .decided, .pause, .holdTiling,
            .limitWorkers, .drain, .stalled, .tick:
            return []
        }
    }

    private mutating func ready(_ worker: WorkerID, at now: Timestamp) -> [Action] {
        guard case .starting(let work) = phase else { return [] }
        (failedStarts, killedStarts, lastMessage) = (0, 0, now)
        guard let work else {
            phase = .idle(worker, since: now)
            return []
        }
        return [start(work, on: worker, at: now)]
    }

    private mutating func received(_ report: Report, from worker: WorkerID, at now: Timestamp) -> [Action] {
        guard case .working(worker, let lease, let work) = phase else { return [] }
        lastMessage = now
        switch report {
        case .ready, .alive, .inPlugins: return []
        case .worn(lease):
            // Its answer follows.
            isWorn = true
            return []
        case .finished(lease, let receipt):
            if let objection = work.spec.objection(to: receipt) { return end(worker, "sent \(objection)") }
            return rest(worker, at: now) + [.conclude(.done(receipt))]
        case .failed(lease, let failure):
            if let objection = work.spec.objection(to: failure) { return end(worker, "reported \(objection)") }
            return rest(worker, at: now) + [.conclude(.failed(failure))]
        case .worn, .finished, .failed: return end(worker, "answered what it was not asked")
        }
    }

    /// The task is over. A worn process is replaced by another one.
    private mutating func rest(_ worker: WorkerID, at now: Timestamp) -> [Action] {
        guard isWorn else {
            phase = .idle(worker, since: now)
            return []
        }
        phase = .starting(nil)
        return [.command(.recycle(worker))]
    }

    private mutating func lost(_ worker: WorkerID, _ death: Death, at now: Timestamp) -> [Action] {
        switch phase {
        case .over: return []
        case .starting(let work):
            switch death.manner {
            // This session has ended it, and the next process is starting.
            case .byOrder: return []
            case .killed: killedStarts += 1
            default: failedStarts += 1
            }
            guard failedStarts >= Self.mostFailedStarts || killedStarts >= Self.mostKilledStarts else { return [] }
            phase = .over(reason: death.words)
            return work == nil ? [] : [.conclude(.ended(death.words))]
        case .idle(worker, _):
            phase = .starting(nil)
            return []
        case .working(worker, _, var work):
            // A process that somebody has killed says nothing about the picture.
            if case .killed = death.manner, !work.isLastTry {
                work.isLastTry = true
                phase = .starting(work)
                return []
            }
            phase = .starting(nil)
            return [.conclude(death.isCrash ? .crashed(death.words) : .ended(death.words))]
        case .idle, .working: return []
        }
    }

    /// Ends a process, and its task with it.
    private mutating func end(_ worker: WorkerID, _ words: String) -> [Action] {
        phase = .starting(nil)
        return [.command(.kill(worker)), .conclude(.ended(words))]
    }

    // MARK: Time

    /// Time has passed.
    package mutating func tick(at now: Timestamp) -> [Action] {
        if let gap = stalls.gap(at: now) { forgive(gap) }
        switch phase {
        case .starting, .over: return []
        case .idle(_, let since):
            if since + Self.patience <= now { phase = .over(reason: nil) }
            return []
        case .working(let worker, _, let work):
            if work.since + timeLimit <= now { return end(worker, "was not done within \(timeLimit)") }
            if lastMessage + Self.silence <= now { return end(worker, "was silent for \(Self.silence)") }
            return []
        }
    }

    /// This process itself did not listen for so long, which is not the worker's fault.
    private mutating func forgive(_ gap: Duration) {
        lastMessage = lastMessage + gap
        switch phase {
        case .starting, .over: return
        case .idle(let worker, let since): phase = .idle(worker, since: since + gap)
        case .working(let worker, let lease, let work):
            phase = .working(worker, lease, Work(spec: work.spec, since: work.since + gap, isLastTry: work.isLastTry))
        }
    }
}

extension Death {
    /// Whether the process ended by what it did.
    fileprivate var isCrash: Bool {
        switch manner {
        case .signal, .exited, .outOfMemory, .brokeProtocol: true
        case .killed, .byOrder, .silent, .failedToStart, .elementLost, .elementFailed: false
        }
    }

    /// How the process has ended, after "the worker".
    fileprivate var words: String {
        switch manner {
        case .signal(let signal): "died of signal \(signal)"
        case .exited(let code): "left with exit code \(code)"
        case .killed: "was killed"
        case .outOfMemory: "needed more memory than there is"
        case .byOrder: "was ended"
        case .silent(let time): "was silent for \(time)"
        case .brokeProtocol(let words): "sent \(words)"
        case .failedToStart(let words): "could not be started: \(words)"
        case .elementLost(let words), .elementFailed(let words): "ended: \(words)"
        }
    }
}
