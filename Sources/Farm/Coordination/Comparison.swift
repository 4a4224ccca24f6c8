package import JobModel
package import Scheduling
import Synchronization
package import WorkerProtocol

/// Reads files from end to end, on all workers, and renders nothing.
package final class Comparison: Sendable {
    private struct State {
        var next = 0
        var findings: Freshness.Findings = [:]
    }

    private let groups: [[CompareTask.File]]
    private let state = Mutex(State())

    private init(_ groups: [[CompareTask.File]]) { self.groups = groups }

    /// Files that could not be read, and those that a stopped comparison did not reach, are missing.
    package static func run(
        _ files: [CompareTask.File], job: JobSpec, settings: RunSettings, loop: RunLoop
    ) async -> (findings: Freshness.Findings, stop: StopReason?) {
        let comparison = Comparison(files.map { [$0] })
        let factory = TaskFactory(
            job: job, runName: "comparison", scratchFolder: "", tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory)
        let policy = settings.schedulingPolicy(job, frames: files.count)
        let stop = await loop.run(Scheduler(policy: policy, factory: factory), comparison)
        return (comparison.state.withLock { $0.findings }, stop)
    }
}

extension Comparison: RunLoop.Delegate {
    package func nextFrames(_ count: Int) -> RunLoop.Frames {
        state.withLock { state in
            let range = state.next..<min(state.next + count, groups.count)
            state.next = range.upperBound
            guard !range.isEmpty else { return .none }
            return .some(
                range.map {
                    FrameOrder(
                        id: FrameID($0), input: groups[$0][0].path, compared: groups[$0], formats: [],
                        goal: .comparison)
                })
        }
    }

    package func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision {
        state.withLock { state in
            for (file, facts) in zip(groups[frame.number], facts) { state.findings[file] = .some(facts) }
        }
        return .settle
    }

    package func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {}
    package func willStart(_ lease: Lease) {}
    package func publish(_ frame: FrameID, _ outputs: [Publication]) -> PublishProblem? {
        .refused("a comparison publishes nothing")
    }
    package func workerLost() {}
    package func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {}
}
