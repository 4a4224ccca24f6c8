import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// The scheduler against a world that does anything at any time.
@Suite struct RandomFarmTests {
    @Test(arguments: 0..<200)
    func `every frame ends exactly once, whatever happens to the workers`(seed: Int) {
        var world = RandomWorld(seed: UInt64(seed))
        world.run()
        #expect(world.finished)
        #expect(world.concluded.count == world.offered)
        #expect(world.stops || world.offered == world.frames)
        #expect(world.concluded.values.allSatisfy { $0 == 1 })
        #expect(world.problems == [])
    }
}

/// Workers that finish, fail, die and come back in an order drawn from a seed.
private struct RandomWorld {
    var scheduler: Scheduler
    var random: SplitMix64
    let frames: Int
    var nextFrame = 1
    var offered: Int { nextFrame - 1 }
    var nextWorker = 1
    /// Workers that are kept running, and those that the scheduler asked for.
    var slots = 1
    var wantedSlots = 1
    var now = Timestamp.start
    var alive: Set<WorkerID> = []
    var running: [WorkerID: Lease] = [:]
    var doomed: Set<WorkerID> = []
    var publishing: [FrameID] = []
    var concluded: [FrameID: Int] = [:]
    var published: Set<String> = []
    var finished = false
    var problems: [String] = []
    let workers: Int
    /// Whether this world may be interrupted.
    let stops: Bool

    init(seed: UInt64) {
        random = SplitMix64(seed: seed)
        frames = Int.random(in: 1...12, using: &random)
        workers = Int.random(in: 1...4, using: &random)
        stops = Bool.random(using: &random)
        let job = JobSpec.make(
            verify: VerifyLevel.allCases.randomElement(using: &random) ?? .digest,
            shard: ShardMode.allCases.randomElement(using: &random) ?? .auto,
            retries: Int.random(in: 0...3, using: &random))
        scheduler = .make(job, workers: workers, frames: frames, seed: seed)
    }

    mutating func run() {
        deliver(.tick)
        startWorker()
        for _ in 0..<20_000 where !finished { step() }
    }

    private mutating func startWorker() {
        let worker = WorkerID(nextWorker)
        nextWorker += 1
        if Int.random(in: 0..<10, using: &random) == 0 {
            deliver(.workerLost(worker, Death(.killed)))
            if !finished { startWorker() }
            return
        }
        alive.insert(worker)
        deliver(.workerReady(worker))
    }

    private mutating func step() {
        if slots < wantedSlots {
            slots += 1
            return startWorker()
        }
        now = now + .milliseconds(Int.random(in: 1...300, using: &random))
        if let worker = doomed.sorted(by: { $0.number < $1.number }).first { return bury(worker, .byOrder) }
        if let frame = publishing.popLast() {
            let isRefused = Int.random(in: 0..<20, using: &random) == 0
            return deliver(isRefused ? .publishFailed(frame, .refused("in the way")) : .published(frame))
        }
        let busy = running.keys.sorted { $0.number < $1.number }
        guard let worker = busy.randomElement(using: &random), let lease = running[worker] else {
            return deliver(.tick)
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<70: end(worker, .finished(lease.id, receipt(for: lease.spec)))
        case 70..<74: end(worker, .failed(lease.id, TaskFailure(.data, "broken")))
        case 74..<80: end(worker, .failed(lease.id, TaskFailure(.transient, "trouble")))
        case 80..<84: end(worker, .failed(lease.id, TaskFailure(failureKind(of: lease), "differs")))
        case 84..<90: bury(worker, .killed)
        case 90..<94: bury(worker, .signal(11))
        case 94 where stops: deliver(.stop(.interrupted(signal: 2)))
        case 95: now = now + .seconds(11)  // past every deadline
        default: deliver(.tick)
        }
    }

    private func failureKind(of lease: Lease) -> TaskFailure.Kind {
        switch lease.task.kind {
        case .stitch: .damagedTile(index: 0)
        case .tile: .damagedCanvas
        case .audit, .check: .mismatch
        case .compare, .probe, .frame, .canvas: .transient
        }
    }

    private mutating func end(_ worker: WorkerID, _ report: Report) {
        running[worker] = nil
        deliver(.report(worker, report))
    }

    private mutating func bury(_ worker: WorkerID, _ manner: Death.Manner) {
        alive.remove(worker)
        doomed.remove(worker)
        running[worker] = nil
        deliver(.workerLost(worker, Death(manner)))
        if !finished { startWorker() }
    }

    private mutating func deliver(_ event: Event) {
        for directive in scheduler.handle(event, at: now) { carryOut(directive) }
    }

    private mutating func carryOut(_ directive: Directive) {
        switch directive {
        case .wantFrames(let count):
            let numbers = (nextFrame..<frames + 1).prefix(count)
            nextFrame += numbers.count
            deliver(numbers.isEmpty ? .planEnded : .frames(numbers.map { FrameOrder.make($0) }, wanted: count))
        case .start(let lease):
            if !alive.contains(lease.worker) { problems.append("a lease for a dead worker") }
            if running[lease.worker] != nil { problems.append("two leases for one worker") }
            if running.values.contains(where: { $0.task == lease.task && $0.round == lease.round }) {
                problems.append("two leases of one task")
            }
            running[lease.worker] = lease
        case .widen(let count):
            if count > workers { problems.append("more workers than allowed") }
            wantedSlots = count
        case .kill(let worker), .recycle(let worker): doomed.insert(worker)
        case .publish(let frame, let outputs):
            for output in outputs where !published.insert(output.path).inserted {
                problems.append("published twice: \(output.path)")
            }
            publishing.append(frame)
        case .decide(let frame, _): deliver(.decided(frame, .render(outputs: ["/out/\(frame.name).png"])))
        case .conclude(let frame, _): concluded[frame, default: 0] += 1
        case .ended: break
        case .finish:
            finished = true
            if !running.isEmpty { problems.append("finished while workers hold leases") }
        }
    }
}
