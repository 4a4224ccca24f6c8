import Coordination
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Reports
import Runs
import Scheduling
import Terminals

extension RunLine: JSONLine {}
extension StoredFrameLine: JSONLine {}
extension MapLine: JSONLine {}
extension BrokenLine: JSONLine {}
extension AttemptLine: JSONLine {}

enum RunText {
    static func table(_ lines: [RunLine]) -> [String] {
        var table = Table(["run", "job", "state", "started", "frames", "of these", "because"])
        for line in lines {
            table.add(
                PathText.visible(line.run), PathText.visible(line.job), line.state, LocalTime.text(utc: line.started),
                progress(line),
                kinds(line), firstLine(line.reason ?? ""))
        }
        return table.lines
    }

    /// The progress of a run that a coordinator has, as the run itself shows it on a terminal.
    static func progressBar(_ line: RunLine, width: Int) -> String? {
        line.live.map { ProgressBar.line($0, width: width) }
    }

    /// `show` also prints the other lines, with the remedy.
    private static func firstLine(_ text: String) -> String {
        text.split(maxSplits: 1, whereSeparator: \.isNewline).first.map { PathText.visible(String($0)) } ?? ""
    }

    /// `photos: done; 64 frames: 62 published, 2 failed`, as `wait` prints it.
    static func ending(_ line: RunLine) -> String {
        let reason = line.reason.map { ": \(firstLine($0))" } ?? ""
        return "\(PathText.visible(line.job)): \(line.state)\(reason); \(counts(line, of: "frame"))"
    }

    private static func progress(_ line: RunLine) -> String {
        guard line.exitCode == nil else { return Figures.count(line.counts.frames) }
        return "\(Figures.count(line.concluded))/\(Figures.count(line.work))"
    }

    /// `2 frames: output was edited or damaged; …`. The most frequent reason comes first.
    static func reasons(_ counts: [String: Int]) -> [String] {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { reason, count in
            "\(Figures.plural(count, "frame")): \(PathText.visible(reason))"
        }
    }

    /// - Parameter failed: the frames that failed.
    static func details(_ line: RunLine, failed: [StoredFrameLine], _ counts: TaskCounts) -> [String] {
        var lines = [
            "run       \(PathText.visible(line.run))", "job       \(PathText.visible(line.job))",
            "manifest  \(PathText.shown(line.manifest, from: currentFolder()))",
            "state     \(line.state)\(line.reason.map { ": \(VisibleText.message($0))" } ?? "")",
            "started   \(LocalTime.text(utc: line.started))\(ended(line))\(epochs(line))",
            "frames    \(Self.counts(line))",
        ]
        if let live = line.live {
            lines.append("now       \(ProgressBar.line(live, width: .max))")
            if let limit = live.workerLimit { lines.append("limit     \(Figures.plural(limit, "task")) at a time") }
        }
        lines += reasons(line.counts.keptByReason ?? [:]).map { "kept      \($0)" }
        lines += (line.counts.notes ?? []).map { "note      \(PathText.visible($0))" }
        lines += tasks(counts, isCutOff: line.state == RunStatus.Condition.interrupted.rawValue)
        if !failed.isEmpty { lines.append("failed") }
        for frame in failed {
            let input = SummaryText.picture(frame.input, page: frame.page, currentFolder())
            let (cause, message) = (
                frame.cause ?? "", VisibleText.message(SummaryText.words(frame.message ?? "", of: frame.input))
            )
            lines.append("  \(frame.name)  \(input): \(cause): \(message)")
        }
        return lines
    }

    /// The outputs that the run kept.
    static func kept(_ trouble: RunTrouble?) -> [String] {
        guard let trouble, let kept = trouble.kept else { return [] }
        let rest = (trouble.keptCount ?? kept.count) - kept.count
        return ["kept"] + named(kept)
            + (rest > 0 ? ["  … and \(Figures.count(rest)) more; \(SummaryText.planOfAll) names all"] : [])
    }

    private static func named(_ files: [FileReason]) -> [String] {
        files.map { "  \(SummaryText.line($0.path, $0.reason, currentFolder()))" }
    }

    /// - Parameters:
    ///   - count: the number of broken pictures in the run.
    ///   - ended: the first of them, as the run's end recorded them.
    static func stillBroken(_ records: [BrokenLine], of count: Int, atEnd ended: [FileReason]) -> [String] {
        guard count > 0 else { return [] }
        guard !records.isEmpty else {
            let words = "none any more: changed, removed, or tried again since"
            guard !ended.isEmpty else { return ["still broken  \(words)"] }
            let rest = count - ended.count
            return ["still broken when the run ended; \(words)"] + named(ended)
                + (rest > 0 ? ["  … and \(Figures.count(rest)) more"] : [])
        }
        let title = records.count == count ? "still broken" : "still broken now, in the whole job"
        return [title]
            + records.map { record in
                let words = SummaryText.line(record.input, record.message, currentFolder())
                return "  \(words) (since \(LocalTime.text(utc: record.since).prefix(10)))"
            }
    }

    /// Rows of a hundred frames, each with the number of its first one.
    static func map(_ line: MapLine?) -> [String] {
        guard let map = line.flatMap(FrameMap.init) else {
            return ["map       not known: an earlier version began the run, or it has left no trace"]
        }
        var (lines, cells) = (["map"], map.cells[...])
        while let first = cells.first {
            let row = cells.prefix(100)
            let name = first.frame.page == 0 ? "\(first.frame.number)" : "\(first.frame.number)p\(first.frame.page + 1)"
            lines.append("  \(name)  " + String(decoding: row.map(\.cell.rawValue), as: UTF8.self))
            cells = cells.dropFirst(100)
        }
        return lines
    }

    private static func ended(_ line: RunLine) -> String {
        line.ended.map { ", ended \(LocalTime.text(utc: $0))" } ?? ""
    }

    private static func epochs(_ line: RunLine) -> String {
        line.epoch > 1 ? ", with \(line.epoch) coordinators one after the other" : ""
    }

    /// - Parameter noun: the noun behind the number; nil if a title names it.
    private static func counts(_ line: RunLine, of noun: String? = nil) -> String {
        guard line.exitCode != nil else { return "\(progress(line)) done" }
        let all = noun.map { Figures.plural(line.counts.frames, $0) } ?? Figures.count(line.counts.frames)
        return "\(all): \(kinds(line))"
    }

    /// The number of frames for each way to end; empty while it is unknown.
    private static func kinds(_ line: RunLine) -> String {
        let named = [
            ("published", line.counts.published), ("skipped", line.counts.skipped), ("kept", line.counts.kept),
            ("still broken", line.counts.stillBroken), ("failed", line.counts.failed), ("left", line.counts.left),
        ]
        return named.filter { $0.1 > 0 }.map { "\(Figures.count($0.1)) \($0.0)" }.joined(separator: ", ")
    }

    /// The number of attempts for each kind of task, by their states.
    ///
    /// - Parameter isCutOff: whether the coordinator has ended before its workers did, so that nothing is running.
    private static func tasks(_ counts: TaskCounts, isCutOff: Bool) -> [String] {
        counts.tasks.sorted { $0.key < $1.key }.map { kind, states in
            let words = states.sorted { $0.key < $1.key }.map { state, count in
                "\(Figures.count(count)) \(isCutOff && state == "running" ? "cut off" : state)"
            }
            return "  \(PathText.visible(kind)): \(words.joined(separator: ", "))"
        }
    }

    static func lines(of line: AttemptLine) -> [String] {
        let beginning =
            "\(LocalTime.text(utc: line.started))  \(line.task)  attempt \(line.attempt), worker \(line.worker)"
        let end = "\(line.state)\(line.message.map { ": \(VisibleText.message($0))" } ?? "")"
        // A worker's log is indented, so that its lines do not look like Penumbra's own.
        let log = (line.log ?? "").split(whereSeparator: \.isNewline).map { "    \(PathText.visible(String($0)))" }
        return ["\(beginning): \(end)"] + log
    }
}
