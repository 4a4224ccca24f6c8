import Geometry
import JobModel
import WorkerProtocol

/// Failures that workers report.
extension Scheduler {
    mutating func fail(_ lease: Lease, _ failure: TaskFailure, at now: Timestamp) {
        let id = lease.task.frame
        let failure = TaskFailure(failure.kind, namingOutputs(failure.message, lease))
        switch failure.kind {
        case .data: conclude(id, .failed(FrameFailure(.data, failure.message)))
        case .value: conclude(id, .failed(FrameFailure(.value, failure.message)))
        case .plugin(let plugin):
            conclude(id, .failed(FrameFailure(.plugin, failure.message)))
            blame(plugin, for: id)
        case .input: conclude(id, .failed(FrameFailure(.input, failure.message)))
        case .permission: conclude(id, .failed(FrameFailure(.permission, failure.message)))
        case .limit: conclude(id, .failed(FrameFailure(.limit, failure.message)))
        case .output: conclude(id, .failed(FrameFailure(.output, failure.message)))
        case .storage:
            conclude(id, .left)
            stop(.storage(failure.message))
        case .damagedTile(let index):
            renderTileAgain(id, index, failure.message)
        case .damagedCanvas, .mismatch:
            renderAgain(id, failure.message)
        case .transient:
            frames[id]?.histories[lease.task.kind]?.failures += 1
            noteFault(lease)
            retry(lease.task, at: now) { FrameFailure(.trouble, failure.message) }
        case .resourceLimit:
            frames[id]?.histories[lease.task.kind]?.failures += 1
            retryOnMachine(lease.task, failure.message, at: now)
        }
    }

    /// Other programs may release the missing resource. If they do not, no other picture can be rendered either.
    private mutating func retryOnMachine(_ task: TaskID, _ message: String, at now: Timestamp) {
        let history = frames[task.frame]?.histories[task.kind] ?? AttemptHistory()
        guard stopped == nil, policy.retry.decision(after: history, jitter: 0) == .abandon else {
            return retry(task, at: now) { FrameFailure(.trouble, message) }
        }
        conclude(task.frame, .left)
        stop(.resourceLimit(message))
    }

    /// Replaces the path of an attempt's temporary file by the output's path, which users know.
    private func namingOutputs(_ message: String, _ lease: Lease) -> String {
        guard let frame = frames[lease.task.frame], let paths = frame.outputPaths else { return message }
        let temporaries: [String?] =
            switch lease.spec {
            case .frame(let task): task.outputs.map(\.temporaryPath)
            case .stitch(let task): [task.temporaryPath]
            case .check(let task): task.outputs.map(\.expected.path)
            case .compare, .probe, .canvas, .tile, .audit, .preview: []
            }
        // A check has only the outputs that were written.
        let finals = temporaries.count == paths.count ? paths : paths.filter { $0 != nil }
        return zip(temporaries, finals).reduce(message) { text, pair in
            guard let temporary = pair.0, let final = pair.1 else { return text }
            return text.replacing(temporary, with: final)
        }
    }

    /// Schedules another attempt after a delay, or fails the frame if its attempts are used up.
    mutating func retry(_ task: TaskID, at now: Timestamp, orFailWith failure: () -> FrameFailure) {
        guard stopped == nil else {
            conclude(task.frame, .left)
            return
        }
        guard let history = frames[task.frame]?.histories[task.kind] else { return }
        switch policy.retry.decision(after: history, jitter: Double.random(in: 0...1, using: &random)) {
        case .retry(let pause) where pause > .zero: delayed.add(task, until: now + pause)
        case .retry: ready.append(task)
        case .abandon: conclude(task.frame, .failed(failure()))
        }
    }

    /// The stitch found that a tile's file does not hold the pixels of its receipt.
    private mutating func renderTileAgain(_ id: FrameID, _ index: Int, _ message: String) {
        guard case .stitching(var tiling) = frames[id]?.phase, tiling.receipts[index] != nil else {
            return conclude(id, .failed(FrameFailure(.trouble, "a worker reported a damaged tile that it never had")))
        }
        // An adopted tile has no history here.
        var history = frames[id]?.histories[.tile(index)] ?? AttemptHistory()
        history.failures += 1
        frames[id]?.histories[.tile(index)] = history
        guard policy.retry.decision(after: history, jitter: 0) != .abandon else {
            conclude(id, .failed(FrameFailure(.verification, message)))
            return
        }
        tiling.receipts[index] = nil
        frames[id]?.phase = .tiling(tiling)
        enqueue(id, .tile(index))
    }

    /// Verification failed, so all rendered pixels of the frame are distrusted.
    private mutating func renderAgain(_ id: FrameID, _ message: String) {
        guard let frame = frames[id], let probe = frame.probe, frame.restarts < policy.retry.retries else {
            conclude(id, .failed(FrameFailure(.verification, message)))
            return
        }
        frames[id]?.restarts += 1
        frames[id]?.renderers = []
        frames[id]?.distrustReason = nil
        ready.removeAll(of: id)
        delayed.removeAll(of: id)
        beginRendering(id, probe)
    }
}

/// Results that come sooner than they can have been rendered.
extension Scheduler {
    /// Checks the time of a result before it is accepted. If it came too soon, its frame is audited before it is
    /// published.
    mutating func flagImplausibleSpeed(_ lease: Lease, at now: Timestamp) {
        let took = now.elapsed - lease.start.elapsed
        guard took < SpeedFloor.longestTime, let megapixels = leastWritten(by: lease),
            let shortest = SpeedFloor.shortestTime(megapixels: megapixels), took < shortest
        else { return }
        directives.append(.flag(lease, ImplausibleSpeed(megapixels: megapixels, took: took)))
        frames[lease.task.frame]?.renderers.insert(lease.worker)
        if case .canvas = lease.task.kind {
            frames[lease.task.frame]?.distrustReason = .canvas
        } else if frames[lease.task.frame]?.distrustReason == nil {
            frames[lease.task.frame]?.distrustReason = .pixels
        }
    }

    /// The megapixels that one thread has to write for a task. It may read less than a picture (a crop, a thumbnail),
    /// and it writes several outputs at once, so only the largest output counts.
    private func leastWritten(by lease: Lease) -> Double? {
        guard let frame = frames[lease.task.frame], let probe = frame.probe else { return nil }
        switch lease.task.kind {
        case .frame:
            let wanted = zip(probe.outputs, frame.outputPaths ?? []).filter { $0.1 != nil }
            return wanted.map { Double($0.0.extent.area * $0.0.frames) / 1e6 }.max()
        case .canvas: return probe.source.megapixels
        case .tile(let index): return Double(probe.grid[index].area) / 1e6
        case .stitch: return Double(probe.extent.area) / 1e6
        case .compare, .probe, .audit, .check: return nil
        }
    }
}

/// The speed that no machine exceeds. A worker that claims more has not done the work.
package enum SpeedFloor {
    /// The time for each megapixel that is written. A frame's pixels are converted, digested, encoded, written and
    /// digested again. These five passes of a byte a pixel or more would need a hundred gigabytes a second of one
    /// core's memory. The fastest measured chain takes a hundred times as long.
    static let timePerMegapixel = Duration.microseconds(50)

    /// Smaller pictures are not judged: a message on a pipe can take half a millisecond.
    static let fewestMegapixels = 10.0

    /// After this time, no result is too fast, not even that of the largest picture with twenty gigapixels.
    static let longestTime = Duration.seconds(1)

    /// Nil if the picture is too small to be judged.
    package static func shortestTime(megapixels: Double) -> Duration? {
        megapixels >= fewestMegapixels ? timePerMegapixel * megapixels : nil
    }
}

/// An attempt whose worker answered faster than its pixels could be moved.
package struct ImplausibleSpeed: Hashable, Sendable {
    /// The megapixels that the worker claims to have written.
    package let megapixels: Double
    package let took: Duration

    package init(megapixels: Double, took: Duration) {
        self.megapixels = megapixels
        self.took = took
    }
}

/// Workers that fall silent, and a coordinator that did not listen.
extension Scheduler {
    /// Any message shows that the worker is alive.
    mutating func note(_ event: Event, at now: Timestamp) {
        if case .report(let worker, _) = event { roster.noteMessage(worker, at: now) }
    }

    /// Kills stopped processes, busy or idle, and processes that were dismissed and do not exit.
    mutating func endSilentWorkers(at now: Timestamp) {
        while let worker = silences.popDue(at: now) {
            guard let heard = roster.lastHeard(worker) else { continue }
            let end = heard + policy.silenceLimit
            if end > now { silences.add(worker, at: end) } else { endSilent(worker) }
        }
    }

    private mutating func endSilent(_ worker: WorkerID) {
        let (lease, before) = (roster.lease(of: worker), roster.dismissal(of: worker))
        guard before?.isKill != true else { return }
        let silence = Dismissal.silent(policy.silenceLimit)
        roster[worker] = .leaving(lease, because: before ?? silence)
        directives.append(.kill(worker, silence))
    }

    /// The coordinator heard nobody for this time, so no worker is to blame.
    mutating func postponeDeadlines(_ gap: Duration) {
        deadlines.postpone(by: gap)
        silences.postpone(by: gap)
        roster.postponeDeadlines(gap)
    }
}
