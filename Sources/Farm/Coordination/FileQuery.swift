import JobModel
import Scheduling
import Synchronization
import WorkerProtocol

/// Asks workers about files, and publishes nothing.
final class FileQuery: Sendable {
    private struct State {
        var next = 0
        var outcomes: [FrameID: FrameOutcome] = [:]
        var facts: [FrameID: [FileFacts?]] = [:]
    }

    /// What came of the orders. Those that a stopped inquiry did not reach are missing.
    struct Answers {
        let outcomes: [FrameID: FrameOutcome]
        /// Of files that were compared.
        let facts: [FrameID: [FileFacts?]]
        let stop: StopReason?
    }

    private let count: Int
    private let order: @Sendable (Int) -> FrameOrder
    /// Is shown how far it is; nil for what is done by the way.
    private let observer: (any RunObserver)?
    private let state = Mutex(State())

    private init(_ count: Int, _ observer: (any RunObserver)?, _ order: @escaping @Sendable (Int) -> FrameOrder) {
        self.count = count
        self.observer = observer
        self.order = order
    }

    /// - Parameters:
    ///   - job: whose chain and limits are asked with.
    ///   - order: from a place below `count`.
    static func run(
        _ job: JobSpec, count: Int, settings: RunSettings, loop: RunLoop,
        observer: (any RunObserver)? = nil, order: @escaping @Sendable (Int) -> FrameOrder
    ) async -> Answers {
        let inquiry = FileQuery(count, observer, order)
        let factory = TaskFactory(
            job: job, runName: "inquiry", scratchFolder: "", tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory)
        let policy = settings.schedulingPolicy(job, frames: count)
        let stop = await loop.run(Scheduler(policy: policy, factory: factory), inquiry)
        return inquiry.state.withLock { Answers(outcomes: $0.outcomes, facts: $0.facts, stop: stop) }
    }
}

extension FileQuery: RunLoop.Delegate {
    func nextFrames(_ wanted: Int) -> RunLoop.Frames {
        let range = state.withLock { state in
            let range = state.next..<min(state.next + wanted, count)
            state.next = range.upperBound
            return range
        }
        return range.isEmpty ? .none : .some(range.map(order))
    }

    func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision {
        state.withLock { $0.facts[frame] = facts }
        return .settle
    }

    func concluded(_ frame: FrameID, _ outcome: FrameOutcome) { state.withLock { $0.outcomes[frame] = outcome } }

    func willStart(_ lease: Lease) {}
    func publish(_ frame: FrameID, _ outputs: [Publication]) -> PublishProblem? {
        .refused("an inquiry publishes nothing")
    }
    func workerLost() {}

    func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {
        guard let observer else { return }
        var summary = RunSummary()
        summary.frames = count
        summary.skipped = state.withLock { $0.outcomes.count }
        observer.progressed(RunProgress(summary, elapsed: time.elapsed, scheduler: progress))
    }
}
