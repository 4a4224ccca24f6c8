package import JobModel
package import JobStorage
package import Scheduling

/// The JSON of a run. `status`, `show` and `wait` print it, or a text made of it, and the service answers with it.
package struct RunLine: Hashable, Sendable, Codable {
    package var event = "run"
    package let run: String
    package let job: String
    package let manifest: String
    /// `running`, `paused`, `interrupted`, `detached`, `done`, `failed` or `stopped`.
    package let state: String
    package private(set) var reason: String?
    package private(set) var exitCode: Int?
    /// UTC, `2026-11-21T21:30:00Z`.
    package let started: String
    package private(set) var ended: String?
    /// The number of coordinators that have worked on the run.
    package let epoch: Int
    package let workers: Int
    /// The number of frames with work, and how many of them have ended.
    package let work: Int
    package let concluded: Int
    package private(set) var counts: RunCounts
    /// The argument of `--run-dir`; nil for a run of one machine.
    package private(set) var runDir: String?
    /// What it is doing; nil if no coordinator has it.
    package private(set) var live: LiveRun?

    package init(_ run: RunStatus, in archive: RunArchive) throws {
        self.init(run, concluded: try archive.concluded(of: run))
        guard var live = archive.live(of: run) else { return }
        // The database knows of frames that ended since it was written.
        live.done = min(max(live.done, concluded), live.frames)
        self.live = live
    }

    package init(_ run: RunStatus, concluded: Int) {
        runDir = run.sharedFolder
        self.run = run.stored.name
        job = run.stored.job
        manifest = run.stored.manifest
        state = run.condition.rawValue
        reason = run.reason
        exitCode = run.exitCode
        started = RunLine.time(run.stored.started)
        ended = run.ended.map(RunLine.time)
        epoch = run.stored.epoch
        workers = run.stored.workers
        work = run.counts.work
        self.concluded = concluded
        counts = run.counts
    }

    /// The line without the names of pictures, for a list of many runs.
    package var inList: RunLine {
        var line = self
        line.counts.trouble = counts.trouble?.withoutNames
        return line
    }

    /// Nil for a word of a later version.
    package var condition: RunStatus.Condition? { RunStatus.Condition(rawValue: state) }

    /// To the second, UTC.
    ///
    /// - Parameter nanoseconds: since 1970.
    package static func time(_ nanoseconds: Int64) -> String {
        UTCTime(secondsSince1970: Int(nanoseconds / 1_000_000_000)).text
    }
}

/// The answer of a service that lists runs, the latest first.
package struct RunList: Hashable, Sendable, Codable {
    /// The most runs that have ended in a list. A thousand would take a quarter of a second.
    package static let mostEnded = 500

    package let runs: [RunLine]

    package init(_ runs: [RunLine]) { self.runs = runs.map(\.inList) }
}

/// The JSON of a frame of a run.
package struct StoredFrameLine: Hashable, Sendable, Codable {
    package var event = "frame"
    package let frame: Int
    package let page: Int
    package let input: String
    package let outputs: [String]
    package let state: String
    /// Why its outputs were kept. Nil if that is not known.
    package private(set) var reason: String?
    package private(set) var cause: String?
    package private(set) var message: String?
    package private(set) var seconds: Double?
    /// When the last of its outputs was published; UTC.
    package private(set) var published: String?

    package init(_ frame: StoredFrame, published: Int64?) {
        self.published = published.map(RunLine.time)
        self.frame = frame.number
        page = frame.page
        input = frame.input
        outputs = frame.outputs.filter { !$0.isEmpty }
        state = frame.state.kind.rawValue
        seconds = frame.seconds
        switch frame.state {
        case .failed(let cause, let message): (self.cause, self.message) = (cause, message)
        case .stillBroken(_, let message): self.message = message.isEmpty ? nil : message
        case .kept(let reason): self.reason = reason.isEmpty ? nil : reason
        case .open, .published, .skipped, .left: break
        }
    }
}

extension StoredFrameLine {
    /// `37`, and `37p2` for the second page of a picture whose pages are frames.
    package var name: String { page == 0 ? "\(frame)" : "\(frame)p\(page + 1)" }
}

/// The JSON of the states of all frames.
package struct MapLine: Hashable, Sendable, Codable {
    package var event = "map"
    /// `[first, count]` for inputs, and `[input, first page, count]` for pages of one input.
    package let frames: [[Int]]
    /// A letter for each frame.
    package let states: String

    package init(_ map: FrameMap) {
        frames = map.frames
        states = String(decoding: map.letters(0..<map.count), as: UTF8.self)
    }
}

/// The JSON of a picture that was broken before the run, and that the run did not try.
package struct BrokenLine: Hashable, Sendable, Codable {
    package var event = "broken"
    /// The number of the frame. Nil if it is not certain which one the picture was.
    package private(set) var frame: Int?
    package let input: String
    package let page: Int
    package let message: String
    /// UTC.
    package let since: String

    package init(_ record: BrokenRecord, frame: FrameID?) {
        self.frame = frame?.number
        input = record.input
        page = record.page
        message = record.message
        since = UTCTime(secondsSince1970: Int(record.since)).text
    }
}

/// The JSON of an attempt of a task.
package struct AttemptLine: Hashable, Sendable, Codable {
    package var event = "attempt"
    package let task: String
    package let attempt: Int
    package let epoch: Int
    package let worker: Int
    package let state: String
    package let started: String
    package private(set) var ended: String?
    package private(set) var message: String?
    package private(set) var log: String?

    package init(_ attempt: StoredAttempt) {
        task = attempt.task
        self.attempt = attempt.attempt
        epoch = attempt.epoch
        worker = attempt.worker
        started = RunLine.time(attempt.started)
        log = attempt.log
        switch attempt.state {
        case .running: state = "running"
        case .done(let time, _): (state, ended) = ("done", RunLine.time(time))
        case .failed(let time, let why): (state, ended, message) = ("failed", RunLine.time(time), why)
        case .lost(let time, let why): (state, ended, message) = ("lost", RunLine.time(time), why)
        case .dropped(let time): (state, ended) = ("dropped", RunLine.time(time))
        }
    }
}

extension StoredAttempt {
    /// `37/frame`, `37/tile-12`.
    package var task: String {
        let frame = page == 0 ? "\(number)" : "\(number)p\(page + 1)"
        return "\(frame)/\(kind)" + (tile.map { "-\($0)" } ?? "")
    }
}
