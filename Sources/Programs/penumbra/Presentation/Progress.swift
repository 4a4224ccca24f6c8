import Coordination
import JobModel
import Planning
import Reports
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

    /// Removes the bar before anything else is printed.
    func clear() { state.withLock { $0.bar.clear() } }
}

/// Prints the progress of a run for a scheduler of Open Job Description.
final class OpenJDProgress: Sendable {
    /// The percentage that was printed last.
    private let reported = Mutex(-1)

    func show(_ progress: RunProgress) {
        let percent = 100 * progress.done / max(1, progress.total)
        let isNews = reported.withLock { reported in
            defer { reported = percent }
            return percent != reported
        }
        guard isNews else { return }
        OpenJDOutput(isOn: true).report(progress: percent, "\(progress.done) of \(progress.total) frames")
    }
}

/// The line that a terminal shows while a run goes on: `[████▎      ] 41/120  34 %  61.2 MP/s  12 s left  IMG_1.jpg, IMG_2.jpg`.
struct ProgressBar {
    private var lastLine = ""

    /// Draws the bar if it has changed.
    mutating func show(_ progress: RunProgress, megapixels: Double) {
        let line = Self.line(progress, megapixels: megapixels, width: Console.width)
        guard line != lastLine else { return }
        lastLine = line
        Console.draw("\r\u{1b}[K" + VisibleText.line(line))
    }

    mutating func clear() {
        guard !lastLine.isEmpty else { return }
        lastLine = ""
        Console.draw("\r\u{1b}[K")
    }

    static func line(_ progress: RunProgress, megapixels: Double, width: Int) -> String {
        let fraction = fraction(progress)
        var text = "[\(bar(fraction, cells: 20))] \(progress.done)/\(progress.total)"
        if progress.failed > 0 { text += " (\(progress.failed) failed)" }
        text += "  \(Int(fraction * 100)) %"
        let seconds =
            Double(progress.elapsed.components.seconds) + Double(progress.elapsed.components.attoseconds) / 1e18
        if megapixels > 0, seconds > 0.5 { text += "  \(Figures.fixed(megapixels / seconds, 1)) MP/s" }
        if fraction > 0.02, seconds > 2 {
            text += "  \(Figures.duration(.seconds((seconds * (1 - fraction) / fraction).rounded()))) left"
        }
        let names = currentNames(progress.scheduler)
        if !names.isEmpty { text += "  \(names.joined(separator: ", "))" }
        return text.prefix(columns: max(1, width - 1))
    }

    /// The part of the work that is done. Finished tiles count as a part of their frame.
    private static func fraction(_ progress: RunProgress) -> Double {
        guard progress.total > 0 else { return 1 }
        let tiles = progress.scheduler
        let partial = tiles.tilesPlanned > 0 ? Double(tiles.tilesDone) / Double(tiles.tilesPlanned) : 0
        return min(1, (Double(progress.done) + 0.9 * partial) / Double(progress.total))
    }

    private static func bar(_ fraction: Double, cells: Int) -> String {
        let eighths = Int(fraction * Double(cells) * 8)
        let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        let bar = String(repeating: "█", count: eighths / 8) + partial
        return bar + String(repeating: " ", count: max(0, cells - bar.count))
    }

    /// The names of the tasks that workers have now, without repetitions.
    private static func currentNames(_ progress: Scheduler.Progress) -> [String] {
        var names: [String] = []
        for lease in progress.running {
            let name = name(of: lease.spec, progress)
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    private static func name(of task: TaskSpec, _ progress: Scheduler.Progress) -> String {
        switch task {
        case .probe(let task): fileName(task.input.path)
        case .frame(let task): fileName(task.input.path)
        case .canvas(let task): fileName(task.input.path)
        case .tile: "tile \(progress.tilesDone + 1) of \(progress.tilesPlanned)"
        case .stitch: "stitching"
        case .audit: "auditing"
        case .preview: "previewing"
        case .check: "checking"
        case .compare(let task): fileName(task.files.first?.path ?? "")
        }
    }

    private static func fileName(_ path: String) -> String {
        PathText.visible(PathNames.last(of: path))
    }
}
