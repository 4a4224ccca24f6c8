import JobModel
import WorkerProtocol

/// What a worker reported that it could not do.
extension Scheduler {
    mutating func fail(_ lease: Lease, _ failure: TaskFailure, at now: Timestamp) {
        let id = lease.task.frame
        let failure = TaskFailure(failure.kind, inUsersWords(failure.message, lease))
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
        case .place:
            conclude(id, .left)
            stop(.place(failure.message))
        case .damagedTile(let index):
            renderTileAgain(id, index, failure.message)
        case .damagedCanvas, .mismatch:
            renderAgain(id, failure.message)
        case .transient:
            frames[id]?.histories[lease.task.kind]?.failures += 1
            noteFault(lease)
            retry(lease.task, at: now) { FrameFailure(.trouble, failure.message) }
        case .machine:
            frames[id]?.histories[lease.task.kind]?.failures += 1
            retryOnMachine(lease.task, failure.message, at: now)
        }
    }

    /// Other programs may let go of what was missing. Where they do not, no other picture can be rendered either.
    private mutating func retryOnMachine(_ task: TaskID, _ message: String, at now: Timestamp) {
        let history = frames[task.frame]?.histories[task.kind] ?? AttemptHistory()
        guard stopped == nil, policy.retry.decision(after: history, jitter: 0) == .giveUp else {
            return retry(task, at: now) { FrameFailure(.trouble, message) }
        }
        conclude(task.frame, .left)
        stop(.machine(message))
    }

    /// Users know their output's path, not that of an attempt's temporary file.
    private func inUsersWords(_ message: String, _ lease: Lease) -> String {
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

    /// Brings a task back after a pause, or fails its frame when its attempts are used up.
    mutating func retry(_ task: TaskID, at now: Timestamp, orFailWith failure: () -> FrameFailure) {
        guard stopped == nil else {
            conclude(task.frame, .left)
            return
        }
        guard let history = frames[task.frame]?.histories[task.kind] else { return }
        switch policy.retry.decision(after: history, jitter: Double.random(in: 0...1, using: &random)) {
        case .retry(let pause) where pause > .zero: delayed.add(task, until: now + pause)
        case .retry: ready.append(task)
        case .giveUp: conclude(task.frame, .failed(failure()))
        }
    }

    /// The stitch found that a tile's file does not hold what its receipt says.
    private mutating func renderTileAgain(_ id: FrameID, _ index: Int, _ message: String) {
        guard case .stitching(var tiling) = frames[id]?.phase, tiling.receipts[index] != nil else {
            return conclude(id, .failed(FrameFailure(.trouble, "a worker reported a damaged tile that it never had")))
        }
        // An adopted tile has no history here.
        var history = frames[id]?.histories[.tile(index)] ?? AttemptHistory()
        history.failures += 1
        frames[id]?.histories[.tile(index)] = history
        guard policy.retry.decision(after: history, jitter: 0) != .giveUp else {
            conclude(id, .failed(FrameFailure(.verification, message)))
            return
        }
        tiling.receipts[index] = nil
        frames[id]?.phase = .tiling(tiling)
        enqueue(id, .tile(index))
    }

    /// Verification failed: everything that was rendered of the frame is in doubt.
    private mutating func renderAgain(_ id: FrameID, _ message: String) {
        guard let frame = frames[id], let probe = frame.probe, frame.restarts < policy.retry.retries else {
            conclude(id, .failed(FrameFailure(.verification, message)))
            return
        }
        frames[id]?.restarts += 1
        frames[id]?.renderers = []
        frames[id]?.doubt = nil
        ready.removeAll(of: id)
        delayed.removeAll(of: id)
        beginRendering(id, probe)
    }
}
