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
    /// Others go on with the run. Nobody here tells of its end.
    case handedOver(RunSummary)
    /// The run is in a cluster's hands, and can be followed by its folder.
    case detached(RunRecord, RunFolder)
}

/// One job's run has ended.
package struct RunEnd: Sendable {
    package let job: JobSpec
    package let summary: RunSummary
    /// Of the outputs that stay as they are those that no earlier run has told of.
    package let newlyKept: [KeptOutput]
    /// The run is stored, so that a ``RunArchive`` knows its frames.
    package let isRecorded: Bool
}

/// Something that the farm says in words.
package struct RunNotice: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// How something went. Nobody has to act on it.
        case result
        /// A person should know it once.
        case remark
        /// Something that was asked for has no effect.
        case warning
        /// Something in a manifest, which is named.
        case manifestWarning(String)
        /// Files that have something in common. Nobody has to act on them.
        case files
        /// Files on which somebody has to act.
        case troubledFiles
        /// Something that was asked for was not done.
        case trouble
    }

    /// As ``all``.
    static let plan = "'penumbra plan --json'"

    package let kind: Kind
    package let message: String
    package let paths: [String]
    /// One for each path; nil if the message gives the reason.
    package let reasons: [String]?
    /// What names all of the paths, for a listener that shows only some; nil where nothing does.
    package let all: String?

    package init(
        _ kind: Kind, _ message: String, paths: [String] = [], reasons: [String]? = nil, all: String? = nil
    ) {
        self.all = all
        self.kind = kind
        self.message = message
        self.paths = paths
        self.reasons = reasons
    }
}

/// Is told what happens. Called from any thread, one event of a job after the other.
///
/// A listener that is slow slows the run down: see ``RunEventQueue``.
package protocol RunListener: Sendable {
    func receive(_ event: RunEvent)

    /// So much was not listened to yet that runs begin no further frames.
    var isBehind: Bool { get }
}

extension RunListener {
    package var isBehind: Bool { false }

    package func say(_ message: String) { receive(.notice(RunNotice(.result, message))) }
    package func note(_ message: String) { receive(.notice(RunNotice(.remark, message))) }
    package func warn(_ message: String) { receive(.notice(RunNotice(.warning, message))) }
    package func complain(_ message: String) { receive(.notice(RunNotice(.trouble, message))) }

    package func list(_ message: String, _ paths: [String], all: String? = nil) {
        receive(.notice(RunNotice(.files, message, paths: paths, all: all)))
    }

    package func complain(_ message: String, _ paths: [String], reasons: [String]?, all: String? = nil) {
        receive(.notice(RunNotice(.troubledFiles, message, paths: paths, reasons: reasons, all: all)))
    }

    /// For the run of one job.
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
