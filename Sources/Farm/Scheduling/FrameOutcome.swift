package import WorkerProtocol

/// How a frame ended.
package enum FrameOutcome: Hashable, Sendable {
    case surveyed(ProbeReceipt)
    /// The comparison of files showed that nothing had to be done.
    case settled
    case published([Publication], probe: ProbeReceipt)
    case failed(FrameFailure)
    /// The run was stopped before this frame was done. Nothing of it was published.
    case left
}

/// Why a frame failed. Every failure has a named cause.
package struct FrameFailure: Error, Hashable, Sendable {
    package enum Cause: String, Hashable, Sendable, CaseIterable {
        case data = "broken or unreadable picture"
        case value = "value wrong for this picture"
        case input = "input missing or not readable"
        case permission = "not permitted"
        case limit = "larger than allowed"
        case crash = "worker crashed"
        case plugin = "plugin fault"
        case outOfMemory = "out of memory"
        case timeout = "time limit reached"
        case silent = "worker silent"
        case killed = "worker killed from outside"
        case verification = "verification failed"
        case output = "output refused"
        case trouble = "input or output trouble"
    }

    package let cause: Cause
    /// One or a few sentences: the problem and the remedy.
    package let message: String

    package init(_ cause: Cause, _ message: String) {
        self.cause = cause
        self.message = message
    }
}

/// Why a run ends before its plan does.
package enum StopReason: Hashable, Sendable {
    /// By SIGINT, SIGTERM or SIGHUP.
    case interrupted(signal: Int32)
    /// By `penumbra cancel`.
    case cancelled
    /// Another coordinator has taken the run over.
    case superseded
    /// The disk is full or read-only, or a quota is reached.
    case storage(String)
    /// A plugin crashed on several pictures.
    case pluginFault(plugin: String, pictures: Int)
    /// The coordinator has handed the run over, and the work continues without it.
    case detached
    /// A cluster does not accept the work, or cannot do it. Contains the reason and the remedy.
    case cluster(String)
    /// No worker can be started.
    case engine(String)
    /// This machine gives its processes no more threads, open files or memory. Contains which, and the remedy.
    case resourceLimit(String)
    /// The only remaining slot fails, and its pictures are not to blame.
    case lastSlot(Retirement)
    /// The run's time is over.
    case deadline
    /// More frames failed than the job allows.
    case failures(count: Int, limit: Int)
}
