import JobModel
import Scheduling

/// How far a command is that goes through its pictures part by part.
struct InPlaceProgress: Sendable {
    let observer: any RunObserver
    let total: Int
    /// In earlier parts.
    let done: Int

    func show(_ progress: Scheduler.Progress, at time: Timestamp, ended: Int) {
        var summary = RunSummary()
        summary.frames = total
        summary.skipped = done + ended
        observer.progressed(RunProgress(summary, elapsed: time.elapsed, scheduler: progress))
    }
}
