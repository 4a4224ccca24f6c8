package import JobModel
package import Planning
package import Scheduling
import Synchronization
package import WorkerProtocol

/// Probes every frame of a plan and renders none.
package final class Survey: Sendable {
    /// What is known of each frame's picture, or why nothing is.
    package typealias Findings = [FrameID: Result<ProbeReceipt, FrameFailure>]

    private struct State {
        var next = 0
        var findings: Findings = [:]
    }

    private let plan: JobPlan
    private let frames: [PlannedFrame]
    private let variants: @Sendable (PlannedFrame) -> FrameVariant?
    private let state = Mutex(State())

    private init(
        _ plan: JobPlan, _ frames: [PlannedFrame], _ variants: @escaping @Sendable (PlannedFrame) -> FrameVariant?
    ) {
        self.plan = plan
        self.frames = frames
        self.variants = variants
    }

    /// Frames that a stopped survey did not reach are missing.
    ///
    /// - Parameters:
    ///   - frames: those of the plan that are looked at.
    ///   - variants: what is done with a frame in place of what the job says.
    package static func run(
        _ plan: JobPlan, frames: [PlannedFrame], variants: @escaping @Sendable (PlannedFrame) -> FrameVariant?,
        settings: RunSettings, loop: RunLoop
    ) async -> (findings: Findings, stop: StopReason?) {
        let survey = Survey(plan, frames, variants)
        let factory = TaskFactory(
            job: plan.job, runName: "survey", scratchFolder: "", tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory)
        let policy = settings.schedulingPolicy(plan.job, frames: frames.count)
        let stop = await loop.run(Scheduler(policy: policy, factory: factory), survey)
        return (survey.state.withLock { $0.findings }, stop)
    }
}

extension PlannedFrame {
    package var id: FrameID { FrameID(index, page: page) }
}

extension Survey: RunLoop.Delegate {
    package func nextFrames(_ count: Int) -> RunLoop.Frames {
        state.withLock { state in
            let batch = frames[state.next...].prefix(count)
            state.next += batch.count
            guard !batch.isEmpty else { return .none }
            return .some(
                batch.map {
                    FrameOrder(
                        id: $0.id, input: $0.input.path, inputBytes: $0.input.bytes, variant: variants($0),
                        pages: $0.pages, formats: $0.formats, goal: .survey)
                })
        }
    }

    package func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {
        state.withLock { state in
            switch outcome {
            case .surveyed(let probe): state.findings[frame] = .success(probe)
            case .failed(let failure): state.findings[frame] = .failure(failure)
            case .published, .left, .settled: break
            }
        }
    }

    package func willStart(_ lease: Lease) {}
    package func publish(_ frame: FrameID, _ outputs: [Publication]) -> PublishProblem? {
        .refused("a survey publishes nothing")
    }
    package func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision { .settle }
    package func workerLost() {}
    package func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {}
}
