package import JobModel
package import WorkerProtocol

/// Everything that the scheduler learns about the world.
package enum Event: Sendable {
    /// The answer to ``Directive/wantFrames(_:)`` with the number `wanted`. It may have fewer frames.
    case frames([FrameOrder], wanted: Int)
    /// The plan has no more frames.
    case planEnded
    case workerReady(WorkerID)
    case workerLost(WorkerID, Death)
    case report(WorkerID, Report)
    /// An earlier coordinator of the run had this lease's task done already.
    case adopted(WorkerID, LeaseID, TaskReceipt)
    /// A worker's standard error. The scheduler does nothing with it.
    case words(WorkerID, String)
    case published(FrameID)
    case publishFailed(FrameID, PublishFailure)
    /// The answer to ``Directive/decide(_:_:)``.
    case decided(FrameID, FrameDecision)
    case stop(StopReason)
    /// While true, no new leases are given.
    case pause(Bool)
    /// While true, no further frame begins to fill a canvas, because the tiles of ended frames still take their space.
    case holdTiling(Bool)
    /// At most so many attempts run at once from now on; nil for as many as there are workers. What runs comes to its end.
    case limitWorkers(Int?)
    /// Finish the frames that are being rendered, and begin no others.
    case drain
    /// The coordinator itself did not listen for this time, see ``StallWatch``. Comes before the events of that time.
    case stalled(Duration)
    /// Time has passed: leases may have expired, delayed tasks may be due.
    case tick
}

/// Why an output could not be moved to its final path.
package enum PublishFailure: Hashable, Sendable {
    /// Only this output is affected.
    case refused(String)
    /// No output can be published any more.
    case stop(StopReason)
}

/// What the coordinator does next. It carries directives out in order.
package enum Directive: Hashable, Sendable {
    /// The scheduler can take this many more frames.
    case wantFrames(Int)
    case start(Lease)
    /// An attempt has ended. For the record only.
    case ended(Lease, AttemptEnd)
    /// An attempt that will be accepted came too soon, so its frame is audited. For the record only.
    case flag(Lease, ImplausibleSpeed)
    /// Open slots up to this number, including retired ones. One is open from the start.
    case widen(to: Int)
    /// Stop using the slot: its worker exits and gets no successor.
    case retire(Retirement)
    /// Kill the process. A ``Event/workerLost(_:_:)`` follows.
    case kill(WorkerID, Dismissal)
    /// Replace an idle worker by a fresh process. A ``Event/workerLost(_:_:)`` by order follows.
    case recycle(WorkerID)
    /// Publish outputs one after the other. The first failure ends it.
    case publish(FrameID, [Publication])
    /// The present facts of the files that the frame's order named. Nil for a missing file. A ``Event/decided(_:_:)``
    /// follows.
    case decide(FrameID, [FileFacts?])
    /// The frame has ended. Its scratch files and unpublished temporary files can be removed.
    case conclude(FrameID, FrameOutcome)
    /// Nothing is left to do, or the run must stop.
    case finish(StopReason?)
}

/// How an attempt ended.
package enum AttemptEnd: Hashable, Sendable {
    case done(TaskReceipt)
    case failed(TaskFailure)
    /// The worker died.
    case lost(Death)
    /// Its result came late, or its frame had ended.
    case dropped
}

/// A verified output and its final path.
package struct Publication: Hashable, Sendable {
    package let receipt: OutputReceipt
    package let path: String
    /// The output's index in the job.
    package let part: Int
    /// The input as the worker read it.
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
    /// Counted from 1.
    package let attempt: Int
    /// The number of times that the frame's rendering has begun again. Results of earlier rounds are dropped.
    package let round: Int
    package let worker: WorkerID
    package let deadline: Timestamp
    package let timeLimit: Duration
    /// An estimate of one core's time, in seconds. Engines use it to group tasks.
    package let estimate: Double
    /// ``ProbeReceipt/pixelBytes`` of the frame. Nil before its probe. Engines limit the worker by it.
    package let pixelBytes: Int?
    package var spec: TaskSpec { boxedSpec.value }
    private let boxedSpec: Boxed<TaskSpec>

    package init(
        id: LeaseID, task: TaskID, attempt: Int, round: Int, worker: WorkerID, deadline: Timestamp,
        timeLimit: Duration, estimate: Double = 0, pixelBytes: Int? = nil, spec: TaskSpec
    ) {
        self.id = id
        self.task = task
        self.attempt = attempt
        self.round = round
        self.worker = worker
        self.deadline = deadline
        self.timeLimit = timeLimit
        self.estimate = estimate
        self.pixelBytes = pixelBytes
        boxedSpec = .of(spec)
    }

    /// The time at which the lease was given.
    package var start: Timestamp { Timestamp(deadline.elapsed - timeLimit) }
}
