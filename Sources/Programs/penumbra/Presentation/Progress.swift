import Coordination
import JobModel
import Planning
import Reports
import Runs
import Synchronization

/// Shows a run to a person: a progress bar on a terminal, nothing until the end elsewhere.
final class ProgressView: Sendable {
    private let showsBar: Bool
    private let bar = Mutex(ProgressBar())

    init(showsBar: Bool) { self.showsBar = showsBar }

    func show(_ progress: RunProgress) {
        guard showsBar else { return }
        bar.withLock { $0.show(LiveRun(progress, now: 0)) }
    }

    /// Removes the bar before anything else is printed.
    func clear() { bar.withLock { $0.clear() } }
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
    mutating func show(_ run: LiveRun) {
        let width = Console.width
        let line = Console.readable(VisibleText.line(Self.line(run, width: width))).prefix(columns: max(1, width - 1))
        guard line != lastLine else { return }
        lastLine = line
        Console.draw("\r\u{1b}[K" + line)
    }

    mutating func clear() {
        guard !lastLine.isEmpty else { return }
        lastLine = ""
        Console.draw("\r\u{1b}[K")
    }

    static func line(_ run: LiveRun, width: Int) -> String {
        var text = "[\(bar(run.fraction, cells: 20))] \(run.done)/\(run.frames)"
        if run.failed > 0 { text += " (\(run.failed) failed)" }
        text += "  \(Int(run.fraction * 100)) %"
        if let rate = run.megapixelsPerSecond { text += "  \(Figures.fixed(rate, 1)) MP/s" }
        if let left = run.secondsLeft { text += "  \(Figures.duration(.seconds(left))) left" }
        let names = currentNames(run)
        if !names.isEmpty { text += "  \(names.joined(separator: ", "))" }
        return text.prefix(columns: max(1, width - 1))
    }

    private static func bar(_ fraction: Double, cells: Int) -> String {
        let eighths = Int(fraction * Double(cells) * 8)
        let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        let bar = String(repeating: "█", count: eighths / 8) + partial
        return bar + String(repeating: " ", count: max(0, cells - bar.count))
    }

    /// The names of the tasks that workers have now, without repetitions.
    private static func currentNames(_ run: LiveRun) -> [String] {
        var names: [String] = []
        for task in run.running {
            let name = name(of: task, run)
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    private static func name(of task: LiveRun.Task, _ run: LiveRun) -> String {
        if let file = task.file { return PathText.visible(file) }
        return switch task.kind {
        case "tile": "tile \(run.tilesDone + 1) of \(run.tilesPlanned)"
        case "stitch": "stitching"
        case "audit": "auditing"
        case "preview": "previewing"
        case "check": "checking"
        default: PathText.visible(task.kind)
        }
    }
}
