import Cluster
import DequeModule
import JobModel
import Scheduling
import Shards
import WorkerProtocol

/// A Slurm on paper: what the engine decides by (``VirtualWorkers``, ``ShardBatcher``, ``ElementTracker``) is the real thing, and
/// what it asks of files and of commands happens in virtual time. Everything is drawn from a seed.
struct SimulatedCluster: Simulation {
    private enum Happening {
        case tick
        case frames(Int)
        case published(FrameID)
        case submitted(ArrayJob)
        case ends(shard: Int)
    }

    private var scheduler: Scheduler
    private(set) var plan: SimulatedPlan
    private var random: SplitMix64
    private var agenda = DeadlineQueue<Happening>()
    private var book = VirtualWorkers()
    private var gathering: ShardBatcher
    private var following = ElementTracker(grace: .seconds(30), logs: "/shared/logs")
    /// By shard: those that were submitted and whose results have not come.
    private var elements: [Int: SimulatedElement] = [:]
    private var waiting: Deque<Int> = []
    private var freeNodes: Int
    private var lastShard = 0
    private var isSubmitting = false
    private var lastLook = Timestamp.start
    private var open = 0
    private var isFinished = false
    private let clock = ContinuousClock()
    private let coresOfNode: Int

    private(set) var now = Timestamp.start
    private(set) var counts = Counts()
    let cores: Int

    init(_ options: Options) {
        plan = SimulatedPlan(options)
        random = SplitMix64(seed: options.seed)
        gathering = ShardBatcher(seconds: 60, cores: options.cores)
        freeNodes = options.nodes
        coresOfNode = options.cores
        cores = options.nodes * options.cores
        scheduler = .simulated(options, workers: options.away, endsLateWork: false)
    }

    var complaint: String? { plan.complaint(about: counts, isFinished: isFinished) }

    mutating func run() {
        agenda.add(.tick, at: now)
        deliver { $0.open(to: 1) }
        while !isFinished, let time = agenda.soonest {
            now = time
            while !isFinished, let happening = agenda.popDue(at: now) { happen(happening) }
        }
    }

    private mutating func happen(_ happening: Happening) {
        switch happening {
        case .tick: tick()
        case .frames(let count):
            let orders = plan.next(count)
            open += orders.count
            counts.mostFrames = max(counts.mostFrames, open)
            deliver(orders.isEmpty ? .planEnded : .frames(orders, wanted: count))
        case .published(let frame): deliver(.published(frame))
        case .submitted(let submission):
            isSubmitting = false
            begin(submission)
        case .ends(let shard): end(shard)
        }
    }

    private mutating func tick() {
        deliver(.tick)
        submit()
        startElements()
        if now.elapsed - lastLook.elapsed >= .seconds(3) { look() }
        agenda.add(.tick, at: now + .milliseconds(100))
    }

    // The coordinator's side

    private mutating func deliver(_ event: Event) {
        counts.events += 1
        let directives = timed { $0.scheduler.handle(event, at: $0.now) }
        counts.decisions += directives.count(where: \.isDecision)
        for directive in directives { carryOut(directive) }
    }

    /// Events that the engine makes of something.
    private mutating func deliver(_ change: (inout VirtualWorkers) -> [Event]) {
        for event in timed({ change(&$0.book) }) { deliver(event) }
    }

    private mutating func timed<Result>(_ body: (inout SimulatedCluster) -> Result) -> Result {
        let began = clock.now
        defer { counts.coordinatorTime += clock.now - began }
        return body(&self)
    }

    private mutating func carryOut(_ directive: Directive) {
        switch directive {
        case .wantFrames(let count): agenda.add(.frames(count), at: now)
        case .start(let lease):
            counts.leases += 1
            timed {
                $0.book.start(lease)
                $0.gathering.add(lease, at: $0.now)
            }
        case .widen(let count): deliver { $0.open(to: count) }
        case .kill(let worker, _), .recycle(let worker): deliver { $0.dismiss(worker) }
        case .retire(let retirement): deliver { $0.retire(retirement.slot) }
        case .publish(let frame, _): agenda.add(.published(frame), at: now + .milliseconds(10))
        case .decide, .ended, .flag: break
        case .conclude(_, let outcome): conclude(outcome)
        case .finish: isFinished = true
        }
    }

    private mutating func conclude(_ outcome: FrameOutcome) {
        open -= 1
        if case .published = outcome { counts.published += 1 } else { counts.failed += 1 }
    }

    private mutating func submit() {
        guard !isSubmitting else { return }
        let taken = timed { $0.gathering.take(Slurm.largestArray, at: $0.now) }
        guard !taken.isEmpty else { return }
        counts.arrays += 1
        counts.elements += taken.count
        let submission = ArrayJob(
            name: "penumbra-run-1-\(counts.arrays)", firstShard: lastShard + 1, count: taken.count)
        for leases in taken {
            lastShard += 1
            elements[lastShard] = SimulatedElement(
                job: "\(1000 + counts.arrays)", index: lastShard - submission.firstShard, submission: submission.name,
                leases: leases)
        }
        isSubmitting = true
        agenda.add(.submitted(submission), at: now + Slurm.answer)
    }

    private mutating func begin(_ submission: ArrayJob) {
        guard let job = elements[submission.firstShard]?.job else { return }
        var limits: [Int: Duration] = [:]
        for shard in submission.shards { limits[shard] = .seconds(100_000) }
        timed { $0.following.begin(submission, as: job, limits: limits) }
        waiting.append(contentsOf: submission.shards)
        counts.mostLeases = max(counts.mostLeases, elements.values.reduce(0) { $0 + $1.leases.count })
    }

    private mutating func look() {
        lastLook = now
        let rows = elements.values.map(\.row)
        let lost = timed { $0.following.inspect(rows, now: $0.now) }
        for one in lost { settle(one) }
    }

    /// What the element's log has counts; the rest is done again.
    private mutating func settle(_ lost: ElementTracker.Lost) {
        guard let element = elements.removeValue(forKey: lost.shard) else { return }
        let (done, rest) = element.parts
        for lease in done { report(lease, .done(plan.receipt(for: lease))) }
        for (index, lease) in rest.enumerated() {
            let death = lost.loss.death(hasBegun: index < coresOfNode)
            deliver { $0.lose(lease.id, death) }
        }
    }

    private mutating func report(_ lease: Lease, _ outcome: TaskEnd.Outcome) {
        if case .done = outcome { counts.completions += 1 }
        deliver { $0.end(TaskEnd(lease.id, outcome), location: "element 1_1 on n1") }
    }

    // The cluster's side

    /// Slurm's controller starts so many jobs and no more.
    private mutating func startElements() {
        var starts = Slurm.startsPerTick
        while starts > 0, freeNodes > 0, let shard = waiting.popFirst() {
            starts -= 1
            freeNodes -= 1
            let work = draw(shard)
            agenda.add(.ends(shard: shard), at: now + Slurm.start + work)
        }
    }

    /// Begins an element.
    ///
    /// - Returns: how long it works.
    private mutating func draw(_ shard: Int) -> Duration {
        guard var element = elements[shard] else { return .zero }
        var work = 0.0
        for lease in element.leases { work += lease.estimate * Double.random(in: 0.5..<1.5, using: &random) }
        let longest = element.leases.reduce(0) { max($0, $1.estimate) }
        element.condition = .running
        element.isLost = Int.random(in: 0..<200, using: &random) == 0
        elements[shard] = element
        counts.workTime += .seconds(work)
        return .seconds(max(longest, work / Double(coresOfNode)))
    }

    private mutating func end(_ shard: Int) {
        freeNodes += 1
        guard let element = elements[shard] else { return }
        guard !element.isLost else {
            counts.deaths += 1
            elements[shard]?.condition = .lost
            return
        }
        elements[shard] = nil
        timed { $0.following.end(shard) }
        for lease in element.leases { report(lease, drawOutcome(lease)) }
    }

    private mutating func drawOutcome(_ lease: Lease) -> TaskEnd.Outcome {
        switch Int.random(in: 0..<100_000, using: &random) {
        case 0..<1000: .failed(TaskFailure(.transient, "trouble"))
        case 1000..<1100: .died(Death(.signal(11)), inPlugins: [])
        case 1100..<1110: .died(Death(.killed), inPlugins: [])
        default: .done(plan.receipt(for: lease))
        }
    }
}

/// What a cluster's controller takes.
private enum Slurm {
    /// `MaxArraySize` as it is where nobody sets it.
    static let largestArray = 1001
    static let answer = Duration.milliseconds(300)
    /// Of elements, with that of workers.
    static let start = Duration.seconds(1)
    /// Of elements, in a tenth of a second.
    static let startsPerTick = 20
}
