import Geometry
import JobModel
import WorkerProtocol

/// Which worker has which task, and for how long.
extension Scheduler {
    /// Whether the lease's frame still waits for it. Other leases run until they end, and their results are dropped.
    func isCurrent(_ lease: Lease) -> Bool { frames[lease.task.frame]?.restarts == lease.round }

    mutating func enqueue(_ id: FrameID, _ kind: TaskKind) {
        ready.append(TaskID(id, kind))
    }

    mutating func releaseDelayed(at now: Timestamp) {
        for task in delayed.takeDue(at: now) { ready.append(task) }
    }

    /// Kills workers whose leases have expired, because they hang. Their deaths count as timeouts.
    mutating func expireLeases(at now: Timestamp) {
        while let id = deadlines.popDue(at: now) {
            guard let lease = leases[id], roster[lease.worker] == .busy(id) else { continue }
            roster[lease.worker] = .leaving(id, because: .overdue)
            directives.append(.kill(lease.worker, .overdue))
        }
    }

    /// How many more attempts may run now.
    var freeLeases: Int { max(0, workerLimit - leases.count) }

    mutating func dispatch(at now: Timestamp) {
        guard stopped == nil, !isPaused else { return }
        var next = roster.idle.first
        while freeLeases > 0, !ready.isEmpty, let worker = next {
            next = roster.idle.first(after: worker)
            if let task = nextTask(for: worker) {
                lease(task, to: worker, at: now)
            } else if ready.contains(where: { everyWorkerRendered($0.frame) }) {
                // Only a process that rendered none of the frame may audit it. There is none, so this one is replaced.
                roster[worker] = .leaving(nil, because: .recycled)
                directives.append(.recycle(worker))
                return
            }
        }
    }

    private mutating func nextTask(for worker: WorkerID) -> TaskID? {
        let assignment = assignment
        return ready.popFirst { assignment.suits($0, worker) }
    }

    /// True if no process that is ready, or will be, could audit the frame.
    private func everyWorkerRendered(_ id: FrameID) -> Bool {
        guard let renderers = frames[id]?.renderers, roster.count >= capacity,
            renderers.count >= roster.count
        else { return false }
        return roster.occupations.allSatisfy { worker, occupation in
            if case .leaving = occupation { return false }
            return renderers.contains(worker)
        }
    }

    private mutating func lease(_ task: TaskID, to worker: WorkerID, at now: Timestamp) {
        guard let lease = makeLease(task, to: worker, at: now) else { return }
        lastLease = lease.id.number
        frames[task.frame]?.histories[task.kind, default: AttemptHistory()].attempts = lease.attempt
        leases[lease.id] = lease
        if policy.endsLateWork { deadlines.add(lease.id, at: lease.deadline) }
        deadlines.prune(downTo: leases.count) { leases[$0] != nil }
        roster[worker] = .busy(lease.id)
        directives.append(.start(lease))
    }

    /// Nil if the frame's phase needs no such task any more.
    private func makeLease(_ task: TaskID, to worker: WorkerID, at now: Timestamp) -> Lease? {
        guard let frame = frames[task.frame] else { return nil }
        let attempt = (frame.histories[task.kind]?.attempts ?? 0) + 1
        guard let spec = spec(of: task.kind, for: frame, attempt: attempt) else { return nil }
        let limit = timeLimit(of: task.kind, for: frame)
        return Lease(
            id: LeaseID(lastLease + 1), task: task, attempt: attempt, round: frame.restarts, worker: worker,
            deadline: now + limit, timeLimit: limit, estimate: estimate(of: task.kind, for: frame),
            pixelBytes: frame.probe?.pixelBytes, spec: spec)
    }

    private func spec(of kind: TaskKind, for frame: FrameState, attempt: Int) -> TaskSpec? {
        let order = frame.order
        switch (kind, frame.phase, frame.outputPaths) {
        case (.compare, .comparing, _):
            return .compare(DigestTask(files: order.compared))
        case (.probe, .probing, _):
            return factory.probe(order)
        case (.frame, .probing, let paths?):
            guard let opening = opening(frame) else { return nil }
            return factory.frame(order, to: paths, attempt: attempt, opening: opening)
        case (.frame, .rendering(let probe), let paths?):
            return factory.frame(order, to: paths, attempt: attempt, probe: probe)
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

    /// For a task that probes and renders the frame. Nil if a task of its own probes it.
    func opening(_ frame: FrameState) -> FrameTask.Opening? {
        guard policy.joinsSmallTasks, case .publish = frame.order.goal else { return nil }
        return policy.shard.mostSecondsInOneTask.flatMap { factory.opening(frame.order, mostSeconds: $0) }
    }

    private func estimate(of kind: TaskKind, for frame: FrameState) -> Double {
        TaskEstimate.seconds(of: kind, frame.probe)
    }

    private func timeLimit(of kind: TaskKind, for frame: FrameState) -> Duration {
        let filters = factory.filterCount(frame.order)
        guard let probe = frame.probe else {
            // A digest reads the whole file, whose size is not known yet.
            let rendered = kind == .frame ? Double(FrameTask.Opening.mostPixels) / 1e6 : 0
            // So does the probe of a clip, which counts its frames.
            let order = frame.order
            let readsAll =
                factory.job.needsContent || kind == .compare || factory.isMeasured(order) || order.mayReadClip
            let megapixels = readsAll ? 1000.0 : rendered
            return policy.time.timeLimit(megapixels: megapixels, filters: filters)
        }
        let whole = max(probe.megapixels, probe.megapixelsWritten)
        switch kind {
        case .tile(let index):
            let read = probe.tileSources[index].reduce(Double(probe.grid[index].area)) { $0 + Double($1.area) }
            return policy.time.timeLimit(megapixels: read / 1e6, filters: filters, cost: probe.cost.total)
        case .compare, .probe, .frame, .canvas, .stitch, .audit, .check:
            return policy.time.timeLimit(megapixels: whole, filters: filters, cost: probe.cost.total)
        }
    }
}
