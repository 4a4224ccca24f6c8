package import JobModel
package import Scheduling
import Synchronization
package import WorkerProtocol

/// Reads the headers of picture files.
package final class HeaderSurvey: Sendable {
    private struct State {
        var next = 0
        var found: [String: ImageFacts] = [:]
    }

    private let paths: [String]
    private let state = Mutex(State())

    private init(_ paths: [String]) { self.paths = paths }

    /// By path. Files that are no pictures, and those that a stopped survey did not reach, are missing.
    package static func run(
        _ paths: [String], job: JobSpec, settings: RunSettings, loop: RunLoop
    ) async -> (found: [String: ImageFacts], stop: StopReason?) {
        let survey = HeaderSurvey(paths)
        var plain = job
        plain.chain = []
        plain.outputs = [JobOutput(template: OutputTemplate(source: "", pieces: []))]
        let factory = TaskFactory(
            job: plain, runName: "headers", scratchFolder: "", tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory)
        let policy = settings.wholeFrames(plain, count: paths.count)
        let stop = await loop.run(Scheduler(policy: policy, factory: factory), survey)
        return (survey.state.withLock { $0.found }, stop)
    }
}

extension HeaderSurvey: RunLoop.Delegate {
    package func nextFrames(_ count: Int) -> RunLoop.Frames {
        state.withLock { state in
            let range = state.next..<min(state.next + count, paths.count)
            state.next = range.upperBound
            guard !range.isEmpty else { return .none }
            return .some(
                range.map { FrameOrder(id: FrameID($0), input: paths[$0], formats: ["png"], goal: .survey) })
        }
    }

    package func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {
        guard case .surveyed(let probe) = outcome else { return }
        state.withLock { $0.found[paths[frame.number]] = probe.source }
    }

    package func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision { .settle }
    package func willStart(_ lease: Lease) {}
    package func publish(_ frame: FrameID, _ outputs: [Publication]) -> PublishProblem? {
        .refused("a survey publishes nothing")
    }
    package func workerLost() {}
    package func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {}
}
