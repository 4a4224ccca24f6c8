import Coordination
import Planning
import Scheduling
import Synchronization
import WorkerProtocol

/// Shows a run to a person: a progress bar on a terminal, nothing until the end elsewhere.
final class HumanObserver: RunObserver {
    private struct State {
        var bar = ProgressBar()
        var megapixels = 0.0
    }

    private let showsBar: Bool
    private let state = Mutex(State())

    init(showsBar: Bool) { self.showsBar = showsBar }

    func began(frames: Int) {}

    func progressed(_ progress: RunProgress) {
        guard showsBar else { return }
        state.withLock { $0.bar.show(progress, megapixels: $0.megapixels) }
    }

    func concluded(_ report: FrameReport) {
        if case .published(_, let probe) = report.state {
            state.withLock { $0.megapixels += probe.megapixels }
        }
    }

    /// Takes the bar away before anything else is printed.
    func clear() { state.withLock { $0.bar.clear() } }
}

/// Prints a line for each frame as it ends.
struct JSONObserver: RunObserver {
    let job: String

    func began(frames: Int) {}
    func progressed(_ progress: RunProgress) {}
    func concluded(_ report: FrameReport) { JSONLine.frame(FrameLine(report, job: job)).print() }
}

/// Prints how far the run is, as a scheduler of Open Job Description wants it told.
final class OpenJDObserver: RunObserver {
    /// The percent that were told last.
    private let told = Mutex(-1)

    func began(frames: Int) {}

    func progressed(_ progress: RunProgress) {
        let percent = 100 * progress.done / max(1, progress.total)
        let isNews = told.withLock { told in
            defer { told = percent }
            return percent != told
        }
        guard isNews else { return }
        OpenJDTeller(isOn: true).tell(progress: percent, "\(progress.done) of \(progress.total) frames")
    }

    func concluded(_ report: FrameReport) {}
}
