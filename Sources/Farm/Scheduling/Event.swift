package import JobModel
package import WorkerProtocol

/// What happened. The scheduler learns of the world through these alone.
package enum Event: Sendable {
    /// Answers one ``Directive/wantFrames(_:)``, which had asked for `wanted`; fewer may come.
    case frames([FrameOrder], wanted: Int)
    /// The plan has no more frames.
    case planEnded
    case workerReady(WorkerID)
    case workerLost(WorkerID, Death)
    case report(WorkerID, Report)
    /// What a lease asks for was done before, by whoever had the run then.
    case adopted(WorkerID, LeaseID, TaskReceipt)
    /// What a worker wrote to its standard error; nothing follows from it.
    case words(WorkerID, String)
    case published(FrameID)
    case publishFailed(FrameID, PublishProblem)
    /// Answers a ``Directive/decide(_:_:)``.
    case decided(FrameID, FrameDecision)
    case stop(StopReason)
    /// Nothing new is leased while it is true.
    case pause(Bool)
    /// At most so many attempts run at once from now on, at least one; nil for as many as there are workers. What runs comes to its end.
    case limitWorkers(Int?)
    /// Frames that are being rendered come to their end, and no others are begun.
    case drain
    /// The coordinator itself did not listen for so long: see ``StallWatch``. Comes before what was heard then.
    case stalled(Duration)
    /// Time has passed: leases may have expired, delayed tasks may be due.
    case tick
}

/// Why an output could not be put at its final path.
package enum PublishProblem: Hashable, Sendable {
    /// The whole place is unfit: the run stops.
    case place(String)
    /// This machine gives the coordinator no more of what it needs: the run stops.
    case machine(String)
    /// Only this output is concerned.
    case refused(String)
    /// Another coordinator has the run: it stops.
    case superseded
}

/// What is to be done now. The coordinator carries directives out in order.
package enum Directive: Hashable, Sendable {
    /// The scheduler can take this many more frames.
    case wantFrames(Int)
    case start(Lease)
    /// An attempt is over. For whoever writes down what happened; nothing has to be done.
    case ended(Lease, AttemptEnd)
    /// An attempt that is about to be accepted came too soon; its frame is audited. For whoever writes that down.
    case flag(Lease, ImplausibleSpeed)
    /// Open so many slots in all, those that were retired counted too; one is open from the start.
    case widen(to: Int)
    /// Use the slot no more: its worker leaves and gets no successor.
    case retire(Retirement)
    /// End the process; a ``Event/workerLost(_:_:)`` follows.
    case kill(WorkerID, Dismissal)
    /// Replace an idle worker by a fresh process; a ``Event/workerLost(_:_:)`` by order follows.
    case recycle(WorkerID)
    /// One after the other; the first failure ends it.
    case publish(FrameID, [Publication])
    /// The files that the frame's order named, as they are now; nil for what is not there. A
    /// ``Event/decided(_:_:)`` follows.
    case decide(FrameID, [FileFacts?])
    /// The frame is over. Its scratch files and unpublished temporaries can go.
    case conclude(FrameID, FrameOutcome)
    /// Nothing is left to do, or nothing may be done any more.
    case finish(StopReason?)
}

/// How an attempt ended.
package enum AttemptEnd: Hashable, Sendable {
    case done(TaskReceipt)
    case failed(TaskFailure)
    /// With its worker.
    case lost(Death)
    /// Its result came late, or its frame was over.
    case dropped
}

/// A verified output and its final path.
package struct Publication: Hashable, Sendable {
    package let receipt: OutputReceipt
    package let path: String
    /// Its place among the job's outputs.
    package let part: Int
    /// The input as it was read.
    package let source: FileFacts

    package init(_ receipt: OutputReceipt, path: String, part: Int, source: FileFacts) {
        self.receipt = receipt
        self.path = path
        self.part = part
        self.source = source
    }
}

/// The time-bound exclusive right of one worker to one attempt of one task.
package struct Lease: Hashable, Sendable {
    package let id: LeaseID
    package let task: TaskID
    /// From 1.
    package let attempt: Int
    /// How often the frame's rendering had begun again; what an earlier round still sends is dropped.
    package let round: Int
    package let worker: WorkerID
    package let deadline: Timestamp
    package let timeLimit: Duration
    /// Of one core's time, in seconds, roughly: engines gather tasks by it.
    package let estimate: Double
    package var spec: TaskSpec { specApart.value }
    private let specApart: Boxed<TaskSpec>

    package init(
        id: LeaseID, task: TaskID, attempt: Int, round: Int, worker: WorkerID, deadline: Timestamp,
        timeLimit: Duration, estimate: Double = 0, spec: TaskSpec
    ) {
        self.id = id
        self.task = task
        self.attempt = attempt
        self.round = round
        self.worker = worker
        self.deadline = deadline
        self.timeLimit = timeLimit
        self.estimate = estimate
        specApart = .of(spec)
    }

    /// When it was given.
    var start: Timestamp { Timestamp(deadline.elapsed - timeLimit) }
}
