import Geometry
import HeapModule
import WorkerProtocol

/// Decides what every worker does next, as a pure value: events and the time in, directives out.
///
/// It holds the open frames with their ready and running tasks, never the plan. It reads no clock, performs no I/O, and
/// draws random numbers from its seed, so every race is an ordinary unit test.
package struct Scheduler: Sendable {
    let policy: SchedulingPolicy
    let factory: TaskFactory
    var frames = OpenFrames()
    var ready = ReadyQueue()
    var delayed = DelayedTasks()
    var leases: [LeaseID: Lease] = [:]
    /// The deadlines of leases. A lease that ended keeps its entry until the deadline.
    var deadlines = DeadlineQueue<LeaseID>()
    var roster = WorkerRoster()
    /// The time at which each worker counts as silent, as of its last check.
    var silences = DeadlineQueue<WorkerID>()
    var slotFaults = SlotFaults()
    var random: SplitMix64
    var lastLease = 0
    /// Slots that were opened, including retired ones.
    var slots = 1
    /// Frames that were asked for and have not arrived.
    var asked = 0
    var planEnded = false
    /// No more frames are begun.
    var isDraining = false
    /// Frames whose outputs are being published. No worker is busy with them, and nothing else waits for them.
    var publishing: [FrameID: Rendered] = [:]
    var failures: Int
    var stopped: StopReason?
    var isPaused = false
    /// No further frame begins to fill a canvas.
    var holdsTiling = false
    /// So many attempts run at once at most.
    var workerLimit = Int.max
    var isFinished = false
    /// Starts in a row that never became ready: processes that exited, and processes that were killed.
    var failedStarts = 0
    var killedStarts = 0
    /// The plugins whose code a worker runs, by lease, formatted for a message in quotes. Several are `one' or 'other`.
    var plugins: [LeaseID: String] = [:]
    /// Leases after which the worker is replaced.
    var worn: Set<LeaseID> = []
    /// The pictures on which each plugin brought a worker down.
    var pluginFaults: [String: Set<FrameID>] = [:]
    var directives: [Directive] = []

    package init(policy: SchedulingPolicy, factory: TaskFactory) {
        self.policy = policy
        self.factory = factory
        failures = policy.failedBefore
        random = SplitMix64(seed: policy.seed)
    }

    /// Applies one event. Reads no clock and performs no I/O: the caller passes `now` and carries out the directives in
    /// order. After ``Directive/finish(_:)`` every event gives no directives.
    package mutating func handle(_ event: Event, at now: Timestamp) -> [Directive] {
        guard !isFinished else { return [] }
        directives = []
        note(event, at: now)
        switch event {
        case .frames(let orders, let wanted): accept(orders, wanted)
        case .planEnded: endPlan()
        case .workerReady(let worker): addReady(worker, at: now)
        case .workerLost(let worker, let death): lose(worker, death, at: now)
        case .report(let worker, let report): noteMessage(report, from: worker, at: now)
        case .adopted(let worker, let lease, let receipt): finish(lease, receipt, of: worker, isHere: false, at: now)
        case .published(let frame): finishPublishing(frame)
        case .publishFailed(let frame, let problem): failPublishing(frame, problem)
        case .decided(let frame, let decision): follow(decision, for: frame)
        case .drain: drain()
        case .stop(let reason): stop(reason)
        case .pause(let paused): isPaused = paused
        case .holdTiling(let holds): holdsTiling = holds
        case .limitWorkers(let limit): workerLimit = limit.map { max(0, $0) } ?? .max
        case .stalled(let gap): postponeDeadlines(gap)
        case .words, .tick: break
        }
        expireLeases(at: now)
        endSilentWorkers(at: now)
        releaseDelayed(at: now)
        beginTiling()
        dispatch(at: now)
        askForWorkers()
        askForFrames()
        finishIfDone()
        return directives
    }

    package struct Progress: Hashable, Sendable {
        /// The first running attempts, as many as a person can read.
        package let running: [Lease]
        /// The pictures of these attempts' frames, by their paths. A task may read a copy of the picture, or an output.
        package let pictures: [FrameID: String]
        /// Tiles done and planned, of the frames that are being tiled.
        package let tilesDone: Int
        package let tilesPlanned: Int
        /// How many tasks run, and how many could run now.
        package let leased: Int
        package let ready: Int
        package let isPaused: Bool
        /// Nil for as many tasks as there are workers.
        package let workerLimit: Int?
        /// Empty unless they were asked for.
        package let tiled: [TiledFrame]
    }

    /// The tiles of a frame that is being tiled.
    package struct TiledFrame: Hashable, Sendable {
        package let id: FrameID
        package let tiles: Int
        /// How many of them are in a row.
        package let columns: Int
        package let finished: Set<Int>

        fileprivate init(_ id: FrameID, _ tiling: Tiling) {
            self.id = id
            tiles = tiling.probe.grid.count
            columns = tiling.probe.grid.columnCount
            finished = Set(tiling.receipts.keys)
        }
    }

    /// - Parameter withTiles: takes time that grows with the number of tiles.
    package func progress(withTiles: Bool = false) -> Progress {
        let (tilings, running) = (frames.tilings, firstLeases(64))
        let pictures = running.compactMap { lease in frames[lease.task.frame].map { (lease.task.frame, $0.order.input) }
        }
        return Progress(
            running: running, pictures: Dictionary(pictures) { first, _ in first },
            tilesDone: tilings.reduce(0) { $0 + $1.tiling.receipts.count },
            tilesPlanned: tilings.reduce(0) { $0 + $1.tiling.probe.grid.count },
            leased: leases.count, ready: ready.count, isPaused: isPaused,
            workerLimit: workerLimit == .max ? nil : workerLimit,
            tiled: withTiles ? tilings.map { TiledFrame($0.frame, $0.tiling) } : [])
    }

    /// The first leases in order. Does not sort all of them.
    private func firstLeases(_ count: Int) -> [Lease] {
        var first = Heap<Int>()
        for id in leases.keys {
            guard first.count == count else {
                first.insert(id.number)
                continue
            }
            if let last = first.max, id.number < last { first.replaceMax(with: id.number) }
        }
        return first.unordered.sorted().compactMap { leases[LeaseID($0)] }
    }
}

extension Scheduler {
    private mutating func accept(_ orders: [FrameOrder], _ wanted: Int) {
        asked -= wanted
        for order in orders {
            guard stopped == nil, !isDraining else {
                directives.append(.conclude(order.id, .left))
                continue
            }
            if order.compared.isEmpty {
                frames[order.id] = FrameState(order: order, phase: .probing)
                begin(order.id, order.goal, order.adopted)
            } else {
                frames[order.id] = FrameState(order: order, phase: .comparing)
                ready.append(TaskID(order.id, .compare))
            }
        }
    }

    /// Frames arrive in the order of the requests, so none is outstanding any more.
    private mutating func endPlan() {
        planEnded = true
        asked = 0
    }

    private mutating func begin(_ id: FrameID, _ goal: FrameOrder.Goal, _ adopted: AdoptedWork?) {
        switch (adopted.flatMap { fittingPart($0, of: id) }, goal) {
        case (let work?, _): adopt(work, for: id)
        case (nil, .publish(_, let probe?)): beginRendering(id, probe)
        case (nil, _):
            let isWhole = frames[id].map { opening($0) != nil } ?? false
            ready.append(TaskID(id, isWhole ? .frame : .probe), begins: true)
        }
    }

    /// The part of adopted work that fits the tasks that would be given now. Nil if it is not enough. It comes from a
    /// database, and can be done again.
    private func fittingPart(_ work: AdoptedWork, of id: FrameID) -> AdoptedWork? {
        guard let frame = frames[id] else { return nil }
        func fits(_ receipt: TaskReceipt, _ spec: TaskSpec) -> Bool {
            spec.objection(to: receipt, by: .earlierWorker) == nil
        }
        switch work {
        case .tiles(let probe, let canvas, var tiles):
            guard fits(.probe(probe), factory.probe(frame.order)),
                fits(.canvas(canvas), factory.canvas(frame.order, probe, attempt: 1))
            else { return nil }
            let tiling = Tiling(probe: probe, canvas: canvas)
            tiles = tiles.filter { index, tile in
                (0..<probe.grid.count).contains(index)
                    && fits(.tile(tile), factory.tile(index, of: frame.order, tiling, attempt: 1))
            }
            return .tiles(probe, canvas, tiles)
        case .outputs(let probe, let receipts, let source):
            let paths = frame.outputPaths ?? []
            guard fits(.probe(probe), factory.probe(frame.order)) else { return nil }
            // Only the names show whether outputs were rendered whole or stitched.
            let isFitting = [TaskKind.frame, .stitch].contains { kind in
                fits(.outputs(receipts, of: source), factory.frame(frame.order, to: paths, attempt: 1, as: kind))
            }
            return isFitting ? work : nil
        }
    }

    private mutating func adopt(_ work: AdoptedWork, for id: FrameID) {
        switch work {
        case .tiles(let probe, let canvas, let receipts):
            frames[id]?.phase = .waitingToAdopt(Tiling(probe: probe, canvas: canvas, receipts: receipts))
        case .outputs(let probe, let receipts, let source):
            let paths = frames[id]?.outputPaths ?? []
            verify(id, Rendered(probe, of: source, canvas: nil, receipts: receipts, paths: paths))
        }
    }

    private mutating func follow(_ decision: FrameDecision, for id: FrameID) {
        guard let frame = frames[id], frame.phase == .deciding else { return }
        switch decision {
        case .settle: conclude(id, .settled)
        case .render where isDraining, .adopt where isDraining: conclude(id, .left)
        case .render(let outputs):
            frames[id]?.decidedPaths = outputs
            frames[id]?.phase = .probing
            begin(id, frame.order.goal, nil)
        case .adopt(let work, let outputs):
            frames[id]?.decidedPaths = outputs
            frames[id]?.phase = .probing
            begin(id, frame.order.goal, work)
        }
    }

    /// Gives up the frames that no worker is busy with. The others finish, or a stop ends them.
    private mutating func drain() {
        guard stopped == nil, !isDraining else { return }
        isDraining = true
        planEnded = true
        let leased = Set(leases.values.filter { isCurrent($0) }.map(\.task.frame))
        for id in frames.keys.sorted() where !leased.contains(id) {
            switch frames[id]?.phase {
            case .comparing, .probing, .rendering, .waitingToTile, .waitingToAdopt: conclude(id, .left)
            case .deciding, .filling, .tiling, .stitching, .auditing, .checking, nil: break
            }
        }
    }

    private mutating func askForFrames() {
        guard !planEnded, stopped == nil, !isPaused, publishing.count < policy.mostPublishing else { return }
        let wanted = policy.openFrames - frames.count - asked
        if wanted > 0 {
            asked += wanted
            directives.append(.wantFrames(wanted))
        }
    }

    /// Asks for as many workers as there are tasks, because a worker takes time and memory to start. An idle worker may
    /// not be allowed to take a waiting task that another could take.
    private mutating func askForWorkers() {
        guard stopped == nil, !isPaused, !ready.isEmpty, freeLeases > 0 else { return }
        let needed = roster.idle.isEmpty ? leases.count + min(ready.count, freeLeases) : livingSlots + 1
        let wanted = min(policy.workers, needed + slotFaults.retired.count)
        guard wanted > slots else { return }
        slots = wanted
        directives.append(.widen(to: wanted))
    }

    private mutating func finishIfDone() {
        // Frames that were asked for are still coming, and must be concluded, too.
        let nothingLeft = frames.isEmpty && publishing.isEmpty && leases.isEmpty && asked == 0
        if nothingLeft, stopped != nil || planEnded {
            isFinished = true
            directives.append(.finish(stopped ?? (isDraining ? .deadline : nil)))
        }
    }

    /// Ends the run early: running attempts are killed, and their frames concluded once their workers are gone.
    mutating func stop(_ reason: StopReason) {
        guard stopped == nil else { return }
        stopped = reason
        delayed = DelayedTasks()
        let leased = Set(leases.values.filter { isCurrent($0) }.map(\.task.frame))
        for id in frames.keys.sorted() where !leased.contains(id) {
            conclude(id, .left)
        }
        for worker in roster.all {
            if case .busy(let lease) = roster[worker] {
                roster[worker] = .leaving(lease, because: .stopping)
                directives.append(.kill(worker, .stopping))
            }
        }
    }

    /// Ends the frame. Results that still come for it are dropped.
    mutating func conclude(_ id: FrameID, _ outcome: FrameOutcome) {
        let wasOpen = frames.removeValue(forKey: id) != nil
        slotFaults.forget(id)
        guard publishing.removeValue(forKey: id) != nil || wasOpen else { return }
        if wasOpen { ready.removeAll(of: id) }
        delayed.removeAll(of: id)
        directives.append(.conclude(id, outcome))
        if case .failed = outcome { countFailure() }
    }

    private mutating func countFailure() {
        failures += 1
        if let limit = policy.failureLimit, failures >= limit { stop(.failures(count: failures, limit: limit)) }
    }
}
