import Coordination
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Reports
import Runs
import Scheduling

/// The JSON line of a run. `status`, `show` and `wait` print it, or a text made of it.
struct RunLine: JSONLine {
    let event = "run"
    let run: String
    let job: String
    let manifest: String
    /// `running`, `paused`, `interrupted`, `detached`, `done`, `failed` or `stopped`.
    let state: String
    var reason: String?
    var exitCode: Int?
    /// UTC, `2026-11-21T21:30:00Z`.
    let started: String
    var ended: String?
    /// The number of coordinators that have worked on the run.
    let epoch: Int
    let workers: Int
    /// The number of frames with work, and how many of them have ended.
    let work: Int
    let concluded: Int
    let counts: RunCounts
    /// The argument of `--run-dir`; nil for a run of one machine.
    var runDir: String?
    /// What it is doing; nil if no coordinator has it.
    var live: LiveRun?

    init(_ run: RunStatus, in archive: RunArchive) throws {
        self.init(run, concluded: try archive.concluded(of: run))
        guard var live = archive.live(of: run) else { return }
        // The database knows of frames that ended since it was written.
        live.done = min(max(live.done, concluded), live.frames)
        self.live = live
    }

    init(_ run: RunStatus, concluded: Int) {
        runDir = run.sharedFolder
        self.run = run.stored.name
        job = run.stored.job
        manifest = run.stored.manifest
        state = run.condition.rawValue
        reason = run.reason
        exitCode = run.exitCode
        started = RunText.time(run.stored.started)
        ended = run.ended.map(RunText.time)
        epoch = run.stored.epoch
        workers = run.stored.workers
        work = run.counts.work
        self.concluded = concluded
        counts = run.counts
    }
}

struct StoredFrameLine: JSONLine {
    let event = "frame"
    let frame: Int
    let page: Int
    let input: String
    let outputs: [String]
    let state: String
    var cause: String?
    var message: String?
    var seconds: Double?
    /// When the last of its outputs was published; UTC.
    var published: String?

    init(_ frame: StoredFrame, published: Int64?) {
        self.published = published.map(RunText.time)
        self.frame = frame.number
        page = frame.page
        input = frame.input
        outputs = frame.outputs.filter { !$0.isEmpty }
        state = frame.state.kind.rawValue
        seconds = frame.seconds
        if case .failed(let cause, let message) = frame.state { (self.cause, self.message) = (cause, message) }
    }
}

/// The JSON line of the states of all frames.
struct MapLine: JSONLine {
    let event = "map"
    /// `[first, count]` for inputs, and `[input, first page, count]` for pages of one input.
    let frames: [[Int]]
    /// A letter for each frame.
    let states: String

    init(_ map: FrameMap) {
        frames = map.frames
        states = String(decoding: map.letters(0..<map.count), as: UTF8.self)
    }
}

/// The JSON line of a picture that was broken before the run, and that the run did not try.
struct BrokenLine: JSONLine {
    let event = "broken"
    let input: String
    let page: Int
    let message: String
    /// UTC.
    let since: String

    init(_ record: BrokenRecord) {
        input = record.input
        page = record.page
        message = record.message
        since = Date(timeIntervalSince1970: Double(record.since)).formatted(.iso8601)
    }
}

struct AttemptLine: JSONLine {
    let event = "attempt"
    let task: String
    let attempt: Int
    let epoch: Int
    let worker: Int
    let state: String
    let started: String
    var ended: String?
    var message: String?
    var log: String?

    init(_ attempt: StoredAttempt) {
        task = attempt.task
        self.attempt = attempt.attempt
        epoch = attempt.epoch
        worker = attempt.worker
        started = RunText.time(attempt.started)
        log = attempt.log
        switch attempt.state {
        case .running: state = "running"
        case .done(let time, _): (state, ended) = ("done", RunText.time(time))
        case .failed(let time, let why): (state, ended, message) = ("failed", RunText.time(time), why)
        case .lost(let time, let why): (state, ended, message) = ("lost", RunText.time(time), why)
        case .dropped(let time): (state, ended) = ("dropped", RunText.time(time))
        }
    }
}

enum RunText {
    /// To the second, UTC.
    static func time(_ nanoseconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(nanoseconds / 1_000_000_000)).formatted(.iso8601)
    }

    static func table(_ lines: [RunLine]) -> [String] {
        var table = Table(["run", "job", "state", "started", "frames", "of these", "because"])
        for line in lines {
            table.add(
                PathText.visible(line.run), PathText.visible(line.job), line.state, line.started, progress(line),
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

    static func details(
        _ line: RunLine, _ run: RunStatus, _ frames: [StoredFrame], _ attempts: [StoredAttempt]
    ) -> [String] {
        var lines = [
            "run       \(PathText.visible(line.run))", "job       \(PathText.visible(line.job))",
            "manifest  \(PathText.shown(line.manifest, from: currentFolder()))",
            "state     \(line.state)\(line.reason.map { ": \(VisibleText.message($0))" } ?? "")",
            "started   \(line.started)\(line.ended.map { ", ended \($0)" } ?? "")\(epochs(line))",
            "frames    \(counts(line))",
        ]
        if let live = line.live {
            lines.append("now       \(ProgressBar.line(live, width: .max))")
            if let limit = live.workerLimit { lines.append("limit     \(Figures.plural(limit, "task")) at a time") }
        }
        lines += (line.counts.notes ?? []).map { "note      \(PathText.visible($0))" }
        lines += tasks(attempts)
        let failed = frames.filter { $0.state.kind == .failed }
        if !failed.isEmpty { lines.append("failed") }
        for case (let frame, .failed(let cause, let message)) in failed.map({ ($0, $0.state) }) {
            let input = PathText.shown(frame.input, from: currentFolder())
            lines.append("  \(frame.name)  \(input): \(cause): \(VisibleText.message(message))")
        }
        return lines
    }

    /// - Parameter count: the number of broken pictures in the run.
    static func stillBroken(_ records: [BrokenRecord], of count: Int) -> [String] {
        guard count > 0 else { return [] }
        guard !records.isEmpty else { return ["still broken  none any more: changed, or tried again since"] }
        let title = records.count == count ? "still broken" : "still broken now, in the whole job"
        return [title]
            + records.map { record in
                let words = SummaryText.line(record.input, record.message, currentFolder())
                return "  \(words) (since \(Figures.day(record.since)))"
            }
    }

    /// Rows of a hundred frames, each with the number of its first one.
    static func map(_ map: FrameMap?) -> [String] {
        guard let map else { return ["map       not known: an earlier version began the run, or it has left no trace"] }
        var (lines, cells) = (["map"], map.cells[...])
        while let first = cells.first {
            let row = cells.prefix(100)
            let name = first.frame.page == 0 ? "\(first.frame.number)" : "\(first.frame.number)p\(first.frame.page + 1)"
            lines.append("  \(name)  " + String(decoding: row.map(\.cell.rawValue), as: UTF8.self))
            cells = cells.dropFirst(100)
        }
        return lines
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
    private static func tasks(_ attempts: [StoredAttempt]) -> [String] {
        var counts: [String: [String: Int]] = [:]
        for attempt in attempts { counts[attempt.kind, default: [:]][AttemptLine(attempt).state, default: 0] += 1 }
        return counts.sorted { $0.key < $1.key }.map { kind, states in
            let words = states.sorted { $0.key < $1.key }.map { "\(Figures.count($0.value)) \($0.key)" }
            return "  \(kind): \(words.joined(separator: ", "))"
        }
    }

    static func lines(of attempt: StoredAttempt) -> [String] {
        let line = AttemptLine(attempt)
        let beginning = "\(line.started)  \(line.task)  attempt \(line.attempt), worker \(line.worker)"
        let end = "\(line.state)\(line.message.map { ": \(VisibleText.message($0))" } ?? "")"
        // A worker's log is indented, so that its lines do not look like Penumbra's own.
        let log = (line.log ?? "").split(whereSeparator: \.isNewline).map { "    \(PathText.visible(String($0)))" }
        return ["\(beginning): \(end)"] + log
    }
}

extension StoredFrame {
    /// `37`, and `37p2` for the second page of a picture whose pages are frames.
    var name: String { page == 0 ? "\(number)" : "\(number)p\(page + 1)" }
}

extension StoredAttempt {
    /// `37/probe`, `37/tile-12`.
    var task: String {
        let frame = page == 0 ? "\(number)" : "\(number)p\(page + 1)"
        return "\(frame)/\(kind)" + (tile.map { "-\($0)" } ?? "")
    }
}
