import Geometry
import JobModel
import Scheduling
import WorkerProtocol

/// A world in which anything happens at any time, drawn from a seed. It is a value, so a copy shows what would happen
/// if everyone did what the scheduler asks for from now on.
struct RandomWorld {
    var scheduler: Scheduler
    var referee: Referee
    var random: Choices
    var events = 0
    /// All directives. Nil unless a test compares them.
    var trace: [Directive]?
    let frames: Int
    let probe: ProbeReceipt
    /// What a worker claimed of a frame in place of `probe`, and was believed.
    var claims: [FrameID: ProbeReceipt] = [:]
    /// The number of steps, of a thousand, that are a stop or a drain.
    let endings: Int
    var offered = 0
    var now = Timestamp.start
    var startedWorkers = 0
    /// Requests for frames that the scheduler waits for.
    var wishes: [Int] = []
    var undecided: [FrameID] = []
    var publishing: [FrameID] = []
    /// Leases that get no report. They have to expire.
    var hung: Set<LeaseID> = []
    /// The last leases, for workers that do not know of their end.
    var past: [Lease] = []

    /// - Parameter choices: They come before what is drawn from the seed.
    init(seed: UInt64, choices: [UInt8] = []) {
        random = Choices(choices, seed: seed)
        let isLarge = Int.random(in: 0..<80, using: &random) == 0
        frames = Int.random(in: 1...(isLarge ? 150 : 30), using: &random)
        endings = Bool.random(using: &random) ? 0 : 3
        let isSmall = Int.random(in: 0..<4, using: &random) > 0
        probe =
            isSmall
            ? .make(tile: [25, 50, 100].randomElement(using: &random) ?? 50)
            : .make(width: 2000, height: 1500, tile: [500, 1000].randomElement(using: &random) ?? 1000)
        let job = JobSpec.make(
            verify: VerifyLevel.allCases.randomElement(using: &random) ?? .digest,
            shard: ShardMode.allCases.randomElement(using: &random) ?? .auto,
            retries: Int.random(in: 0...3, using: &random), filters: (0..<40).map { "plugin \($0)" })
        let workers = Int.random(in: 1...(isLarge ? 40 : 6), using: &random)
        let limit = Int.random(in: 1...60, using: &random)
        let policy = SchedulingPolicy(
            retry: RetryPolicy(retries: job.retries), time: TimePolicy(limit: .seconds(10)),
            shard: ShardPolicy(mode: job.shard, workers: workers, frames: frames, frameMemory: 1_000_000_000),
            verify: job.verify, workers: workers, seed: seed, failureLimit: limit > 30 ? nil : limit,
            silenceLimit: .seconds([5, 30, 10_000][Int.random(in: 0..<3, using: &random)]),
            joinsSmallTasks: Bool.random(using: &random))
        let factory = TaskFactory(
            job: job, runName: "run", scratchFolder: "/scratch", tileMemory: 1 << 30, frameMemory: 1 << 30)
        scheduler = Scheduler(policy: policy, factory: factory)
        referee = Referee(policy)
        deliver(.tick)
    }

    var isFinished: Bool { referee.isFinished }

    /// Any event from any source.
    mutating func step() {
        now = now + .milliseconds(draw(300))
        switch draw(1000) {
        case 0..<50: bother()
        case 50..<60: repeatAnswer()
        case 60..<64: now = now + .seconds(11)  // past every deadline
        case 64..<70: stall()
        case 70..<100: deliver(.tick)
        case 100..<130: lose(anyWorker(), anyDeath())
        case 130..<130 + endings: deliver([.stop(.interrupted(signal: 2)), .drain][draw(2)])
        case 140..<240: startWorker(dies: draw(6) == 0)
        case 240..<300: beat()
        case 300..<640: work()
        default: answer()
        }
    }

    /// One step of a world in which everyone does what the scheduler asks for.
    mutating func willingStep() {
        if let worker = doomedWorker { return lose(worker, .byOrder) }
        if hasQuestions { return answer(willing: true) }
        if referee.emptySlot != nil { return startWorker(dies: false) }
        if let id = runningLeases.first(where: { !hung.contains($0) }), let lease = referee.leases[id] {
            return finish(lease)
        }
        now = now + .seconds(11)
        deliver(.tick)
    }

    /// The largest number of steps to the end: each frame has at most probe, canvas, tiles, stitch, audit and check. Each is
    /// an event and may have an answer. Each worker may die and be replaced.
    var stepsToEnd: Int { 2 * (frames * (probe.grid.count + 6) + 2 * referee.policy.workers) + 20 }

    mutating func deliver(_ event: Event) {
        let directives = scheduler.handle(event, at: now)
        events += 1
        referee.see(event, directives, at: now)
        referee.complaints += scheduler.contradictions
        trace?.append(contentsOf: directives)
        for directive in directives { note(directive) }
    }

    private mutating func note(_ directive: Directive) {
        switch directive {
        case .wantFrames(let count): wishes.append(count)
        case .decide(let frame, _): undecided.append(frame)
        case .publish(let frame, _): publishing.append(frame)
        case .start(let lease):
            past.append(lease)
            if past.count > 20 { past.removeFirst() }
        case .widen, .retire, .kill, .recycle, .flag, .ended, .conclude, .finish: break
        }
    }

    /// The coordinator was stopped for a while, and reports this first.
    private mutating func stall() {
        let gap = Duration.seconds(3 + draw(100))
        now = now + gap
        deliver(.stalled(gap))
    }

    /// A worker sends a heartbeat, or a heartbeat comes in the name of a dead worker.
    private mutating func beat() { deliver(.report(anyWorker() ?? WorkerID(1), .alive)) }

    private var hasQuestions: Bool { !wishes.isEmpty || !undecided.isEmpty || !publishing.isEmpty }

    private mutating func answer(willing: Bool = false) {
        if !wishes.isEmpty, willing || draw(2) == 0 { return offer(wishes.removeFirst()) }
        if !undecided.isEmpty {
            let frame = undecided.remove(at: draw(undecided.count))
            return deliver(.decided(frame, draw(3) == 0 ? .settle : .render(outputs: ["/out/\(frame.name).png"])))
        }
        guard !publishing.isEmpty else { return }
        let frame = publishing.remove(at: draw(publishing.count))
        switch willing ? 99 : draw(100) {
        case 0..<10: deliver(.publishFailed(frame, .refused("in the way")))
        case 10 where endings > 0:
            deliver(.publishFailed(frame, .stop(draw(2) == 0 ? .storage("full") : .superseded)))
        default: deliver(.published(frame))
        }
    }

    /// A conclusion that is repeated must change nothing.
    private mutating func repeatAnswer() {
        let over = referee.frames.filter { $0.value.conclusions > 0 }.keys.sorted()
        guard let frame = over.randomElement(using: &random) else { return }
        deliver([.publishFailed(frame, .refused("late")), .published(frame), .decided(frame, .settle)][draw(3)])
    }

    /// A plan with fewer frames than requested has ended, and reports it.
    private mutating func offer(_ count: Int) {
        let numbers = offered + 1..<min(frames, offered + count) + 1
        offered += numbers.count
        if !numbers.isEmpty { deliver(.frames(numbers.map { order($0) }, wanted: count)) }
        if numbers.count < count { deliver(.planEnded) }
    }

    private mutating func order(_ number: Int) -> FrameOrder {
        let compared = draw(4) == 0 ? [DigestTask.File(path: "/jobs/\(number).png")] : []
        let goal: FrameOrder.Goal =
            switch draw(10) {
            case 0: .survey
            case 1..<3: .publish(outputs: ["/out/\(number).png"], probe: probe)
            default: .publish(outputs: ["/out/\(number).png"], probe: nil)
            }
        return FrameOrder(
            id: FrameID(number), input: "/jobs/\(number).png", compared: compared, formats: ["png"], goal: goal,
            hasSmallFile: draw(2) == 0)
    }
}
