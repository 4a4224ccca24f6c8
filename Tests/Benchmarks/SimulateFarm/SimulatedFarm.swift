import JobModel
import Scheduling
import WorkerProtocol

/// Workers on paper that take, finish, fail, crash and hang in virtual time; everything is drawn from a seed.
struct SimulatedFarm: Simulation {
    private enum Happening {
        case tick
        case frames(Int)
        case ready(WorkerID)
        case ends(WorkerID, LeaseID, Fate)
        case dies(WorkerID)
        case published(FrameID)
    }

    private enum Fate { case finished, failed, crashed, killed }

    private struct Work {
        let lease: Lease
        let since: Timestamp
    }

    private var scheduler: Scheduler
    private(set) var plan: SimulatedPlan
    private var random: SplitMix64
    private var agenda = DeadlineQueue<Happening>()
    private var work: [WorkerID: Work] = [:]
    /// The latest of each slot.
    private var workers: [SlotID: WorkerID] = [:]
    private var retired: Set<SlotID> = []
    private var startedWorkers = 0
    private var slots = 1
    private var isFinished = false
    private let clock = ContinuousClock()

    private(set) var now = Timestamp.start
    private(set) var counts = Counts()
    let cores: Int

    init(_ options: Options) {
        cores = options.workers
        plan = SimulatedPlan(options)
        random = SplitMix64(seed: options.seed)
        scheduler = .simulated(options, workers: options.workers, endsLateWork: true)
    }

    var complaint: String? { plan.complaint(about: counts, isFinished: isFinished) }

    mutating func run() {
        agenda.add(.tick, at: now)
        startWorker(in: SlotID(1))
        while !isFinished, let time = agenda.soonest {
            now = time
            while !isFinished, let happening = agenda.popDue(at: now) { happen(happening) }
        }
    }

    private mutating func happen(_ happening: Happening) {
        switch happening {
        case .tick:
            deliver(.tick)
            agenda.add(.tick, at: now + .milliseconds(100))
        case .frames(let count):
            let orders = plan.next(count)
            deliver(orders.isEmpty ? .planEnded : .frames(orders, wanted: count))
        case .ready(let worker): deliver(.workerReady(worker))
        case .ends(let worker, let lease, let fate):
            if work[worker]?.lease.id == lease { end(worker, fate) }
        case .dies(let worker): bury(worker, .byOrder)
        case .published(let frame): deliver(.published(frame))
        }
    }

    private mutating func deliver(_ event: Event) {
        counts.events += 1
        let began = clock.now
        let directives = scheduler.handle(event, at: now)
        counts.coordinatorTime += clock.now - began
        counts.decisions += directives.count(where: \.isDecision)
        for directive in directives { carryOut(directive) }
    }

    private mutating func carryOut(_ directive: Directive) {
        switch directive {
        case .wantFrames(let count): agenda.add(.frames(count), at: now)
        case .start(let lease): begin(lease)
        case .widen(let count):
            for number in slots..<count { startWorker(in: SlotID(number + 1)) }
            slots = count
        case .kill(let worker, _), .recycle(let worker): agenda.add(.dies(worker), at: now + .milliseconds(20))
        case .publish(let frame, _): agenda.add(.published(frame), at: now + .milliseconds(10))
        case .retire(let retirement): retire(retirement.slot)
        case .decide, .ended, .flag: break
        case .conclude(_, .published): counts.published += 1
        case .conclude: counts.failed += 1
        case .finish: isFinished = true
        }
    }

    private mutating func startWorker(in slot: SlotID) {
        startedWorkers += 1
        let worker = WorkerID(startedWorkers, slot: slot)
        workers[slot] = worker
        agenda.add(.ready(worker), at: now + .milliseconds(200))
    }

    /// Its worker leaves, and nobody takes its place.
    private mutating func retire(_ slot: SlotID) {
        retired.insert(slot)
        if let worker = workers[slot] { agenda.add(.dies(worker), at: now + .milliseconds(20)) }
    }

    private mutating func begin(_ lease: Lease) {
        counts.leases += 1
        work[lease.worker] = Work(lease: lease, since: now)
        guard let fate = drawFate() else { return }
        let length = plan.duration(of: lease.task) * Double.random(in: 0.5..<1.5, using: &random)
        agenda.add(.ends(lease.worker, lease.id, fate), at: now + length)
        counts.mostLeases = max(counts.mostLeases, work.count)
    }

    /// Nil for an attempt that hangs until its lease expires.
    private mutating func drawFate() -> Fate? {
        switch Int.random(in: 0..<100_000, using: &random) {
        case 0..<1000: .failed
        case 1000..<1100: .crashed
        case 1100..<1110: .killed
        case 1110: nil
        default: .finished
        }
    }

    private mutating func end(_ worker: WorkerID, _ fate: Fate) {
        switch fate {
        case .crashed: return bury(worker, .signal(11))
        case .killed: return bury(worker, .killed)
        case .finished, .failed: break
        }
        guard let lease = release(worker) else { return }
        if fate == .finished {
            counts.completions += 1
            deliver(.report(worker, .finished(lease.id, plan.receipt(for: lease))))
        } else {
            deliver(.report(worker, .failed(lease.id, TaskFailure(.transient, "trouble"))))
        }
    }

    private mutating func release(_ worker: WorkerID) -> Lease? {
        guard let done = work.removeValue(forKey: worker) else { return nil }
        counts.workTime += now.elapsed - done.since.elapsed
        return done.lease
    }

    /// A fresh process takes its place.
    private mutating func bury(_ worker: WorkerID, _ manner: Death.Manner) {
        // Killed as it crashed, say.
        guard workers[worker.slot] == worker else { return }
        workers[worker.slot] = nil
        _ = release(worker)
        counts.deaths += 1
        deliver(.workerLost(worker, Death(manner)))
        if !retired.contains(worker.slot) { startWorker(in: worker.slot) }
    }
}

extension Scheduler {
    /// - Parameter workers: tasks that may be leased at once.
    static func simulated(_ options: Options, workers: Int, endsLateWork: Bool) -> Scheduler {
        let job = SimulatedPlan.job
        let policy = SchedulingPolicy(
            retry: RetryPolicy(retries: job.retries), time: TimePolicy(limit: job.timeout),
            shard: ShardPolicy(
                mode: .auto, workers: workers, frames: options.tasks, frameMemory: SimulatedPlan.frameMemory),
            verify: options.verify, workers: workers, seed: options.seed, silenceLimit: .seconds(1_000_000),
            endsLateWork: endsLateWork)
        let factory = TaskFactory(
            job: job, runName: "run", scratchFolder: "/scratch", tileMemory: 1 << 30,
            frameMemory: SimulatedPlan.frameMemory)
        return Scheduler(policy: policy, factory: factory)
    }
}
