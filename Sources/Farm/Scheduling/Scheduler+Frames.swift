import Geometry
import JobModel
import WorkerProtocol

/// The phases of a frame, and what moves it from one to the next.
extension Scheduler {
    mutating func noteMessage(_ report: Report, from worker: WorkerID, at now: Timestamp) {
        switch report {
        case .ready, .alive: break
        case .inPlugins(let id, let names):
            guard roster[worker] == .busy(id) else { return }
            if let objection = leases[id]?.spec.objection(toPlugins: names, policy.plugins) {
                return killForBadAnswer(worker, id, objection)
            }
            plugins[id] = names.isEmpty ? nil : names.joined(separator: "' or '")
        case .worn(let id): if roster[worker] == .busy(id) { worn.insert(id) }
        case .finished(let id, let receipt): finish(id, receipt, of: worker, isHere: true, at: now)
        case .failed(let id, let failure):
            if roster[worker] == .busy(id),
                let objection = leases[id]?.spec.objection(to: failure, plugins: policy.plugins)
            {
                return killForBadAnswer(worker, id, objection)
            }
            guard let lease = endLease(id, of: worker) else { return }
            directives.append(.ended(lease, .failed(failure)))
            if isCurrent(lease) { fail(lease, failure, at: now) }
        }
    }

    /// - Parameter isHere: Whether the worker did the task for this lease. Work that was done before cannot be too
    ///   fast.
    mutating func finish(
        _ id: LeaseID, _ receipt: TaskReceipt, of worker: WorkerID, isHere: Bool, at now: Timestamp
    ) {
        guard let answered = leases[id], answered.worker == worker, roster[worker] == .busy(id) else { return }
        let doer = isHere ? TaskSpec.Doer.workerOfThisTask : .earlierWorker
        if let objection = answered.spec.objection(to: receipt, by: doer) ?? objection(to: receipt, of: answered) {
            return killForBadAnswer(worker, id, objection)
        }
        guard let lease = endLease(id, of: worker) else { return }
        guard isCurrent(lease) else {
            directives.append(.ended(lease, .dropped))
            return slotFaults.clear(lease.worker.slot)
        }
        if isHere { flagImplausibleSpeed(lease, at: now) }
        directives.append(.ended(lease, .done(receipt)))
        noteSuccess(lease, receipt)
        advance(lease, receipt)
    }

    /// Why a receipt contradicts what is known about the picture. Nil if it does not.
    private func objection(to receipt: TaskReceipt, of lease: Lease) -> String? {
        guard isCurrent(lease), let frame = frames[lease.task.frame], let paths = frame.outputPaths else { return nil }
        let parts = paths.indices.filter { paths[$0] != nil }
        return switch (frame.phase, receipt) {
        case (.rendering(let probe), .outputs(let receipts, let source?)),
            (.probing, .opened(let probe, let receipts, let source)):
            probe.objection(to: receipts, of: source, parts: parts)
        default: nil
        }
    }

    /// Kills a worker whose answer does not fit, and ignores what it says from now on. Its task is lost with it.
    private mutating func killForBadAnswer(_ worker: WorkerID, _ lease: LeaseID, _ objection: String) {
        let dismissal = Dismissal.brokeProtocol(objection)
        roster[worker] = .leaving(lease, because: dismissal)
        directives.append(.kill(worker, dismissal))
    }

    /// Frees the worker. Nil if the lease had ended before.
    private mutating func endLease(_ id: LeaseID, of worker: WorkerID) -> Lease? {
        guard let lease = leases[id], lease.worker == worker, roster[worker] == .busy(id) else { return nil }
        leases[id] = nil
        plugins[id] = nil
        if worn.remove(id) == nil {
            roster[worker] = .idle
        } else {
            roster[worker] = .leaving(nil, because: .recycled)
            directives.append(.recycle(worker))
        }
        return lease
    }

    private mutating func advance(_ lease: Lease, _ receipt: TaskReceipt) {
        let id = lease.task.frame
        if case .tile(let index) = lease.task.kind, case .tile(let tile) = receipt {
            frames[id]?.renderers.insert(lease.worker)
            return finishTile(id, index, tile)
        }
        guard let phase = frames[id]?.phase else { return }
        let paths = frames[id]?.outputPaths ?? []
        switch (lease.task.kind, phase, receipt) {
        case (.compare, .comparing, .compare(let files)):
            frames[id]?.phase = .deciding
            directives.append(.decide(id, files))
        case (.probe, .probing, .probe(let probe)):
            finishProbe(id, probe)
        case (.frame, .probing, .probe(let probe)):
            // The frame's rendering has all its attempts before it, under other names.
            var history = AttemptHistory()
            history.attempts = lease.attempt
            frames[id]?.histories[.frame] = history
            finishProbe(id, probe)
        case (.frame, .probing, .opened(let probe, let receipts, let source))
        where receipts.count == paths.count { $0 != nil }:
            frames[id]?.renderers.insert(lease.worker)
            verify(id, Rendered(probe.withoutTiles, of: source, canvas: nil, receipts: receipts, paths: paths))
        case (.frame, .rendering(let probe), .outputs(let receipts, let source?))
        where receipts.count == paths.count { $0 != nil }:
            frames[id]?.renderers.insert(lease.worker)
            verify(id, Rendered(probe, of: source, canvas: nil, receipts: receipts, paths: paths))
        case (.canvas, .filling(let probe), .canvas(let canvas)):
            beginTiles(id, Tiling(probe: probe, canvas: canvas))
        case (.stitch, .stitching(let tiling), .outputs(let receipts, _)) where receipts.count == 1:
            let (probe, canvas) = (tiling.probe, tiling.canvas)
            let trusted = frames[id]?.distrustReason == .canvas ? nil : canvas
            verify(id, Rendered(probe, of: canvas.source, canvas: trusted, receipts: receipts, paths: paths))
        case (.audit, .auditing(let rendered), .audit):
            policy.verify == .full ? check(id, rendered) : publish(id, rendered)
        case (.check, .checking(let rendered), .check):
            publish(id, rendered)
        default:
            conclude(id, .failed(FrameFailure(.trouble, "a worker's answer came when nothing had been asked")))
        }
    }

    private mutating func finishProbe(_ id: FrameID, _ probe: ProbeReceipt) {
        switch frames[id]?.order.goal {
        case .survey: conclude(id, .surveyed(probe))
        case .publish where isDraining: conclude(id, .left)
        case .publish: beginRendering(id, probe)
        case .comparison, nil: break
        }
    }

    mutating func beginRendering(_ id: FrameID, _ probe: ProbeReceipt) {
        if policy.shard.decision(for: probe).tiled {
            frames[id]?.phase = .waitingToTile(probe)
        } else {
            frames[id]?.phase = .rendering(probe.withoutTiles)
            enqueue(id, .frame)
        }
    }

    /// Lets waiting frames fill their canvases while there is scratch space for them.
    mutating func beginTiling() {
        while stopped == nil, !holdsTiling, let id = frames.nextToTile(besides: policy.tiledFrames - 1) {
            switch frames[id]?.phase {
            case .waitingToTile(let probe):
                frames[id]?.phase = .filling(probe)
                enqueue(id, .canvas)
            case .waitingToAdopt(let tiling): beginTiles(id, tiling)
            default: return
            }
        }
    }

    private mutating func beginTiles(_ id: FrameID, _ tiling: Tiling) {
        guard !tiling.isComplete else {
            frames[id]?.phase = .stitching(tiling)
            return enqueue(id, .stitch)
        }
        frames[id]?.phase = .tiling(tiling)
        for index in 0..<tiling.probe.grid.count where tiling.receipts[index] == nil {
            enqueue(id, .tile(index))
        }
    }

    private mutating func finishTile(_ id: FrameID, _ index: Int, _ tile: TileReceipt) {
        guard case .tiling(var tiling) = frames[id]?.phase else { return }
        // The frame releases its receipts, so that thousands of them grow in place and are not copied each time.
        frames[id]?.phase = .waitingToTile(tiling.probe)
        tiling.receipts[index] = tile
        if tiling.isComplete {
            frames[id]?.phase = .stitching(tiling)
            enqueue(id, .stitch)
        } else {
            frames[id]?.phase = .tiling(tiling)
        }
    }

    /// Audits a distrusted frame completely, whatever the manifest asks for.
    mutating func verify(_ id: FrameID, _ rendered: Rendered) {
        let isDistrusted = frames[id]?.distrustReason != nil
        guard isDistrusted || policy.verify != .digest else { return publish(id, rendered) }
        var rendered = rendered
        for index in rendered.parts.indices {
            let bands = rendered.parts[index].receipt.bands
            rendered.parts[index].audited = isDistrusted ? bands : AuditPolicy.sample(bands, using: &random)
        }
        frames[id]?.phase = .auditing(rendered)
        enqueue(id, .audit)
    }

    private mutating func check(_ id: FrameID, _ rendered: Rendered) {
        frames[id]?.phase = .checking(rendered)
        enqueue(id, .check)
    }

    private mutating func publish(_ id: FrameID, _ rendered: Rendered) {
        frames[id] = nil
        publishing[id] = rendered
        directives.append(.publish(id, rendered.publications))
    }

    mutating func finishPublishing(_ id: FrameID) {
        guard let rendered = publishing[id] else { return }
        conclude(id, .published(rendered.publications, probe: rendered.probe))
    }

    mutating func failPublishing(_ id: FrameID, _ failure: PublishFailure) {
        switch failure {
        case .refused(let message): conclude(id, .failed(FrameFailure(.output, message)))
        case .stop(let reason):
            conclude(id, .left)
            stop(reason)
        }
    }
}

extension ProbeReceipt {
    /// The receipt without its tiles, which are most of it. A frame that is rendered whole does not need them.
    fileprivate var withoutTiles: ProbeReceipt {
        var whole = ProbeReceipt(
            source: source, pages: pages, outputs: outputs, shrinking: shrinking, layout: layout, halo: halo,
            grid: grid,
            tileSources: [], readAmplification: readAmplification, isIdentity: isIdentity, passage: passage, cost: cost)
        (whole.stamp, whole.losses, whole.measured) = (stamp, losses, measured)
        return whole
    }
}
