package import Coordination
package import JobModel
package import Runs

/// What happens while the farm carries out a request.
package enum RunEvent: Sendable {
    /// The manifests were read, before anything else is done with them.
    case manifests(ManifestFiles.Outcome)
    /// The frames of a job are known, and the first of them is begun.
    case began(job: String, frames: Int)
    case progress(job: String, RunProgress)
    /// A frame has ended.
    case frame(job: String, FrameReport)
    case notice(RunNotice)
    case ended(RunEnd)
    /// Another process continues the run, and reports its end.
    case handedOver(job: String, RunSummary)
    /// A cluster has the run. Its folder says how far it has come. Follows ``handedOver(job:_:)``.
    case detached(RunRecord, RunFolder)
}

/// One job's run has ended.
package struct RunEnd: Sendable {
    package let job: JobSpec
    package let summary: RunSummary
    /// Outputs that stay as they are, and that no earlier run has reported.
    package let newlyKept: [KeptOutput]
    /// The run is stored, so that a ``RunArchive`` knows its frames.
    package let isRecorded: Bool
}

/// Receives events, on any thread. Events of one job come one after the other.
///
/// A listener that is slow slows the run down: see ``RunEventQueue``.
package protocol RunListener: Sendable {
    func receive(_ event: RunEvent)

    /// The listener has so many unread events that runs begin no further frames.
    var isBehind: Bool { get }
}

extension RunListener {
    package var isBehind: Bool { false }

    /// Passes on what happens in the run of one job.
    package func observer(of job: String) -> any RunObserver { ListeningObserver(job: job, listener: self) }
}

private struct ListeningObserver: RunObserver {
    package let job: String
    let listener: any RunListener

    var isBehind: Bool { listener.isBehind }

    func began(frames: Int) { listener.receive(.began(job: job, frames: frames)) }
    func progressed(_ progress: RunProgress) { listener.receive(.progress(job: job, progress)) }
    func concluded(_ report: FrameReport) { listener.receive(.frame(job: job, report)) }
}
