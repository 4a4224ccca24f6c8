import Geometry
import JobModel
import WorkerProtocol

/// Who works on what, and for how long.
extension Scheduler {
    /// A lease whose frame still waits for it. Others run on until they end; what they report is dropped.
    func isCurrent(_ lease: Lease) -> Bool { frames[lease.task.frame]?.restarts == lease.round }

    mutating func enqueue(_ id: FrameID, _ kind: TaskKind) {
        ready.append(TaskID(id, kind))
    }

    mutating func releaseDelayed(at now: Timestamp) {
        let due = delayed.filter { $0.value <= now }.keys
        for task in due.sorted(by: { $0.frame < $1.frame }) {
            delayed[task] = nil
            ready.append(task)
        }
    }

    /// A worker that overstays its lease hangs: it is killed, and its death is then classed as a timeout.
    mutating func expireLeases(at now: Timestamp) {
        for lease in leases.values where lease.deadline <= now && roster[lease.worker] == .busy(lease.id) {
            roster[lease.worker] = .leaving(lease.id)
            directives.append(.kill(lease.worker))
        }
    }

    mutating func dispatch(at now: Timestamp) {
        guard stopped == nil, !isPaused else { return }
        for worker in roster.idle {
            if let task = nextTask(for: worker) {
                lease(task, to: worker, at: now)
            } else if ready.contains(where: { everyWorkerRendered($0.frame) }) {
                // Only a process that rendered none of the frame may audit it, and there is none: make one.
                roster[worker] = .leaving(nil)
                directives.append(.recycle(worker))
                return
            }
        }
    }

    private mutating func nextTask(for worker: WorkerID) -> TaskID? {
        let frames = frames
        return ready.popFirst { task in
            switch task.kind {
            case .audit, .check: !(frames[task.frame]?.renderers.contains(worker) ?? false)
            case .compare, .probe, .frame, .canvas, .tile, .stitch: true
            }
        }
    }

    /// True when no process that is ready, or will be, could audit the frame.
    private func everyWorkerRendered(_ id: FrameID) -> Bool {
        guard let renderers = frames[id]?.renderers, roster.all.count >= policy.workers else { return false }
        return roster.all.allSatisfy { worker in
            if case .leaving = roster[worker] { return false }
            return renderers.contains(worker)
        }
    }

    private mutating func lease(_ task: TaskID, to worker: WorkerID, at now: Timestamp) {
        guard var frame = frames[task.frame] else { return }
        var history = frame.histories[task.kind] ?? AttemptHistory()
        history.attempts += 1
        frame.histories[task.kind] = history
        guard let spec = spec(of: task.kind, for: frame, attempt: history.attempts) else { return }
        frames[task.frame] = frame
        lastLease += 1
        let limit = timeLimit(of: task.kind, for: frame)
        let lease = Lease(
            id: LeaseID(lastLease), task: task, attempt: history.attempts, round: frame.restarts, worker: worker,
            deadline: now + limit, timeLimit: limit, spec: spec)
        leases[lease.id] = lease
        roster[worker] = .busy(lease.id)
        directives.append(.start(lease))
    }

    /// Nil when the frame's phase asks for no such task any more.
    private func spec(of kind: TaskKind, for frame: FrameState, attempt: Int) -> TaskSpec? {
        let order = frame.order
        switch (kind, frame.phase, frame.outputPaths) {
        case (.compare, .comparing, _):
            return .compare(CompareTask(files: order.compared))
        case (.probe, .probing, _):
            return factory.probe(order)
        case (.frame, .rendering, let paths?):
            return factory.frame(order, to: paths, attempt: attempt)
        case (.canvas, .filling(let probe), _):
            return factory.canvas(order, probe, attempt: attempt)
        case (.tile(let index), .tiling(let tiling), _):
            return factory.tile(index, of: order, tiling, attempt: attempt)
        case (.stitch, .stitching(let tiling), let paths?):
            guard let path = paths.first.flatMap(\.self) else { return nil }
            return factory.stitch(order, tiling, to: path, attempt: attempt)
        case (.audit, .auditing(let rendered), _):
            return factory.audit(order, rendered)
        case (.check, .checking(let rendered), _):
            return factory.check(order, rendered)
        default:
            return nil
        }
    }

    private func timeLimit(of kind: TaskKind, for frame: FrameState) -> Duration {
        let filters = factory.filterCount(frame.order)
        guard let probe = frame.probe else {
            // A digest reads the whole file, whose size nobody knows yet.
            let megapixels = factory.job.needsContent || kind == .compare ? 1000.0 : 0
            return policy.time.timeLimit(megapixels: megapixels, filters: filters)
        }
        let whole = max(probe.megapixels, probe.megapixelsWritten)
        switch kind {
        case .tile(let index):
            let read = probe.tileSources[index].reduce(probe.grid[index].area) { $0 + $1.area }
            return policy.time.timeLimit(megapixels: Double(read) / 1e6, filters: filters)
        case .compare, .probe, .frame, .canvas, .stitch, .audit, .check:
            return policy.time.timeLimit(megapixels: whole, filters: filters)
        }
    }
}
