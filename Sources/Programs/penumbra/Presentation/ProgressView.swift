import Coordination
import Planning
import Scheduling
import Synchronization
import WorkerProtocol

/// Shows a run to a person: a progress bar on a terminal, nothing until the end elsewhere.
final class ProgressView: Sendable {
    private struct State {
        var bar = ProgressBar()
        var megapixels = 0.0
    }

    private let showsBar: Bool
    private let state = Mutex(State())

    init(showsBar: Bool) { self.showsBar = showsBar }

    func show(_ progress: RunProgress) {
        guard showsBar else { return }
        state.withLock { $0.bar.show(progress, megapixels: $0.megapixels) }
    }

    func count(_ report: FrameReport) {
        guard let probe = report.probe else { return }
        state.withLock { $0.megapixels += probe.megapixels }
    }

    /// Takes the bar away before anything else is printed.
    func clear() { state.withLock { $0.bar.clear() } }
}

/// Prints how far the run is, as a scheduler of Open Job Description wants it told.
final class OpenJDProgress: Sendable {
    /// The percent that were told last.
    private let told = Mutex(-1)

    func show(_ progress: RunProgress) {
        let percent = 100 * progress.done / max(1, progress.total)
        let isNews = told.withLock { told in
            defer { told = percent }
            return percent != told
        }
        guard isNews else { return }
        OpenJDTeller(isOn: true).tell(progress: percent, "\(progress.done) of \(progress.total) frames")
    }
}
