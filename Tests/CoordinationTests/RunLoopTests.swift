import Coordination
import FarmTestSupport
import Glibc
import JobModel
import SafeFiles
import Scheduling
import Synchronization
import Testing
import WorkerProtocol

/// The run loop over a fake engine, in a time that tests let pass.
@Suite struct RunLoopTests {
    private static let source = FileFacts(stamp: .make(), digest: .make(1))

    private static func right(_ lease: Lease) -> FakeEngine.Answer {
        .done(RightAnswers.receipt(for: lease.spec, source: source, size: 10))
    }

    /// Answers all but some leases as they should be.
    private func run(except answer: @escaping @Sendable (Lease) -> FakeEngine.Answer? = { _ in nil }) -> ManualRun {
        ManualRun { answer($0) ?? Self.right($0) }
    }

    private func scheduler(
        frames: Int, workers: Int = 1, limit: Double = 5, silence: Duration = .seconds(30)
    ) -> Scheduler {
        let job = JobSpec.make()
        let policy = SchedulingPolicy(
            retry: RetryPolicy(retries: 2), time: TimePolicy(limit: .seconds(limit)),
            shard: ShardPolicy(mode: .frame, workers: workers, frames: frames, frameMemory: 1 << 30),
            verify: .digest, workers: workers, seed: 1, silenceLimit: silence)
        let factory = TaskFactory(
            job: job, runName: "run", scratchFolder: "/scratch", tileMemory: 1 << 30, frameMemory: 1 << 30)
        return Scheduler(policy: policy, factory: factory)
    }

    private static func compared(_ number: Int) -> FrameOrder {
        FrameOrder(
            id: FrameID(number), input: "/photos/\(number).png",
            compared: [DigestTask.File(path: "/photos/\(number).png")],
            formats: ["png"], goal: .comparison)
    }

    private static func rendered(_ number: Int) -> FrameOrder {
        FrameOrder(
            id: FrameID(number), input: "/photos/\(number).png", formats: ["png"],
            goal: .publish(outputs: ["/out/\(number).png"], probe: nil))
    }

    @Test func `every frame is leased once, and two workers share them`() async {
        let run = run()
        let plan = Plan((1...6).map(Self.compared))
        let scheduler = scheduler(frames: 6, workers: 2)
        let reason = await run { await run.loop().run(scheduler, plan) }
        #expect(reason == nil)
        #expect(run.engine.leases.map(\.task.frame.number).sorted() == [1, 2, 3, 4, 5, 6])
        #expect(Set(run.engine.leases.map(\.worker)).count == 2)
        #expect(plan.outcomes == Dictionary(uniqueKeysWithValues: (1...6).map { (FrameID($0), .settled) }))
    }

    @Test func `an order that never comes back is given to a fresh worker when its own is silent for too long`() async {
        let run = run { $0.attempt == 1 ? .silence : nil }
        let plan = Plan([Self.compared(1)])
        let scheduler = scheduler(frames: 1, limit: 1000)
        let reason = await run {
            await run.loop().run(scheduler, plan)
        } during: {
            await run.pass(.seconds(29))
            #expect(run.engine.leases.count == 1)
            #expect(run.engine.killed.isEmpty)
        }
        #expect(reason == nil)
        #expect(run.engine.killed == [WorkerID(1)])
        #expect(run.engine.leases.map(\.attempt) == [1, 2])
        #expect(run.engine.leases.map(\.worker.number) == [1, 2])
        #expect(plan.lostWorkers == 1)
        #expect(plan.outcomes == [FrameID(1): .settled])
    }

    @Test func `a lease expires though its worker shows signs of life`() async {
        let run = run { $0.attempt == 1 ? .silence : nil }
        let plan = Plan([Self.compared(1)])
        let scheduler = scheduler(frames: 1, limit: 5, silence: .seconds(2))
        let reason = await run {
            await run.loop().run(scheduler, plan)
        } during: {
            for second in 1...4 {
                run.engine.post(.report(WorkerID(1), .alive))
                await run.pass(.seconds(1))
                #expect(run.engine.killed.isEmpty, "after \(second) s")
            }
            run.engine.post(.report(WorkerID(1), .alive))
            await run.pass(.seconds(2))
            #expect(run.engine.killed == [WorkerID(1)])
        }
        #expect(reason == nil)
        #expect(plan.ends.first == .lost(Death(.byOrder)))
        #expect(plan.outcomes == [FrameID(1): .settled])
    }

    @Test func `a worker that answers another task than its own is killed, and its answer counts for nothing`() async {
        let run = run { $0.attempt == 1 ? .done(.check) : nil }
        let plan = Plan([Self.compared(1)])
        let scheduler = scheduler(frames: 1)
        _ = await run { await run.loop().run(scheduler, plan) }
        #expect(run.engine.killed == [WorkerID(1)])
        #expect(run.engine.leases.map(\.attempt) == [1, 2])
        #expect(plan.outcomes == [FrameID(1): .settled])
    }

    @Test func `a task whose workers crash twice fails, and the next frame is done`() async {
        let run = run { $0.task.frame.number == 1 ? .died(.signal(SIGSEGV)) : nil }
        let plan = Plan([Self.compared(1), Self.compared(2)])
        let scheduler = scheduler(frames: 2)
        let reason = await run { await run.loop().run(scheduler, plan) }
        #expect(reason == nil)
        #expect(plan.lostWorkers == 2)
        guard case .failed(let failure) = plan.outcomes[FrameID(1)] else {
            Issue.record("frame 1 came to \(String(describing: plan.outcomes[FrameID(1)]))")
            return
        }
        #expect(failure.cause == .crash)
        #expect(plan.outcomes[FrameID(2)] == .settled)
    }

    @Test func `nothing is leased while a run is paused`() async {
        let run = run()
        run.control.pause()
        let plan = Plan((1...3).map(Self.compared))
        let scheduler = scheduler(frames: 3)
        let reason = await run {
            await run.loop().run(scheduler, plan)
        } during: {
            await run.pass(.seconds(3))
            #expect(run.engine.leases.isEmpty)
            run.control.resume()
        }
        #expect(reason == nil)
        #expect(run.engine.leases.count == 3)
    }

    @Test func `a delegate that is behind pauses the run`() async {
        let run = run { $0.task.frame.number == 1 ? .silence : nil }
        let plan = Plan((1...3).map(Self.compared), request: .proceed(isPaused: true, workers: nil))
        let scheduler = scheduler(frames: 3)
        _ = await run {
            await run.loop().run(scheduler, plan)
        } during: {
            await run.pass(.seconds(1))
            for lease in run.engine.leases { run.engine.reply(to: lease, Self.right(lease)) }
            await run.pass(.seconds(1))
            #expect(run.engine.leases.map(\.task.frame.number) == [1])
            plan.ask(nil)
        }
        #expect(run.engine.leases.map(\.task.frame.number) == [1, 2, 3])
    }

    @Test func `a run has no more tasks at a time than its folder asks for, and begins more when it asks for more`()
        async
    {
        let run = run { _ in .silence }
        let plan = Plan((1...5).map(Self.compared), request: .proceed(isPaused: false, workers: 1))
        let scheduler = scheduler(frames: 5, workers: 3, limit: 600)
        run.control.pause()
        func answer() { for lease in run.engine.leases { run.engine.reply(to: lease, Self.right(lease)) } }
        let reason = await run {
            await run.loop().run(scheduler, plan)
        } during: {
            // The first look at the folder comes after a tick.
            await run.pass(.seconds(1))
            run.control.resume()
            await run.pass(.seconds(1))
            #expect(run.engine.leases.count == 1)
            plan.ask(.proceed(isPaused: false, workers: 0))
            await run.pass(.seconds(1))
            answer()
            await run.pass(.seconds(1))
            #expect(run.engine.leases.count == 1)
            plan.ask(.proceed(isPaused: false, workers: 2))
            await run.pass(.seconds(1))
            #expect(run.engine.leases.count == 3)
            plan.ask(.proceed(isPaused: false, workers: nil))
            await run.pass(.seconds(1))
            #expect(run.engine.leases.count == 4)
            for _ in 0..<5 {
                answer()
                await run.pass(.seconds(1))
            }
        }
        #expect(reason == nil)
        #expect(run.engine.leases.map(\.task.frame.number) == [1, 2, 3, 4, 5])
    }

    @Test func `a cancelled run leaves what it has begun`() async {
        let run = run { _ in .silence }
        let plan = Plan([Self.compared(1), Self.compared(2)])
        let scheduler = scheduler(frames: 2)
        let reason = await run {
            await run.loop().run(scheduler, plan)
        } during: {
            run.control.cancel()
        }
        #expect(reason == .cancelled)
        #expect(plan.outcomes == [FrameID(1): .left, FrameID(2): .left])
        #expect(!run.engine.isHandedOver)
    }

    @Test func `a run that another coordinator resumes is handed over, and concludes nothing`() async {
        let run = run { _ in .silence }
        let plan = Plan([Self.compared(1)])
        let scheduler = scheduler(frames: 1)
        let reason = await run {
            await run.loop(continuesElsewhere: true).run(scheduler, plan)
        } during: {
            run.control.stop(.interrupted(signal: SIGTERM))
        }
        #expect(reason == .interrupted(signal: SIGTERM))
        #expect(run.engine.isHandedOver)
        #expect(plan.outcomes.isEmpty)
    }

    @Test func `after a deadline no frame begins, and after its grace the run ends`() async {
        let run = run { _ in .silence }
        let plan = Plan([Self.compared(1), Self.compared(2)])
        let scheduler = scheduler(frames: 2, limit: 1000, silence: .seconds(1000))
        let deadline = Deadline(start: run.clock.now, allowed: .seconds(10))
        let reason = await run {
            await run.loop(deadline: deadline).run(scheduler, plan)
        } during: {
            await run.pass(.seconds(9.5))
            #expect(!run.clock.isStopped)
        }
        #expect(reason == .deadline)
        #expect(run.engine.leases.map(\.task.frame.number) == [1])
    }

    @Test func `a publication that takes long holds up no other frame`() async {
        let run = run()
        let plan = Plan([Self.rendered(1), Self.rendered(2)], isPublishing: { $0 == FrameID(1) })
        let scheduler = scheduler(frames: 2)
        let reason = await run {
            await run.loop().run(scheduler, plan)
        } during: {
            for _ in 0..<100 where plan.outcomes[FrameID(2)] == nil { await run.pass(.seconds(0.1)) }
            #expect(plan.outcomes[FrameID(2)]?.isPublished == true)
            #expect(plan.outcomes[FrameID(1)] == nil)
            plan.letPublish()
        }
        #expect(reason == nil)
        #expect(plan.outcomes[FrameID(1)]?.isPublished == true)
    }

    @Test func `a place where nothing can be published stops the run`() async {
        let run = run()
        let plan = Plan([Self.rendered(1)], failure: .stop(.storage("/out: No space left on device")))
        let scheduler = scheduler(frames: 1)
        let reason = await run { await run.loop().run(scheduler, plan) }
        #expect(reason == .storage("/out: No space left on device"))
        #expect(plan.outcomes == [FrameID(1): .left])
    }

    @Test func `a file that cannot be expected stops the run before a worker writes it`() async {
        let run = run()
        let plan = Plan(
            [Self.compared(1)], trouble: FileError(path: "/out", code: EROFS, action: "write the journal"))
        let scheduler = scheduler(frames: 1)
        let reason = await run { await run.loop().run(scheduler, plan) }
        #expect(reason == .storage("/out: cannot write the journal: Read-only file system"))
        #expect(run.engine.leases.isEmpty)
    }

    @Test func `what a worker writes to its standard error reaches the delegate`() async {
        let run = run { _ in .silence }
        let plan = Plan([Self.compared(1)])
        let scheduler = scheduler(frames: 1)
        _ = await run {
            await run.loop().run(scheduler, plan)
        } during: {
            run.engine.post(.words(WorkerID(1), "a warning\n"))
            await run.pass(.seconds(0.2))
            #expect(plan.words == "a warning\n")
            run.control.cancel()
        }
    }
}

extension FrameOutcome {
    fileprivate var isPublished: Bool { if case .published = self { true } else { false } }
}

/// The frames of a run, and what became of them.
private final class Plan: RunLoop.Delegate {
    private struct State {
        var frames: [FrameOrder]
        var request: RunLoop.Request?
        var outcomes: [FrameID: FrameOutcome] = [:]
        var ends: [AttemptEnd] = []
        var lostWorkers = 0
        var words = ""
    }

    private let state: Mutex<State>
    private let failure: PublishFailure?
    private let trouble: FileError?
    /// Whether a frame's publication waits for ``letPublish()``.
    private let isPublishing: @Sendable (FrameID) -> Bool
    private let (gate, opener) = AsyncStream.makeStream(of: Void.self)

    init(
        _ frames: [FrameOrder], request: RunLoop.Request? = nil, failure: PublishFailure? = nil,
        trouble: FileError? = nil, isPublishing: @escaping @Sendable (FrameID) -> Bool = { _ in false }
    ) {
        state = Mutex(State(frames: frames, request: request))
        self.failure = failure
        self.trouble = trouble
        self.isPublishing = isPublishing
    }

    var outcomes: [FrameID: FrameOutcome] { state.withLock { $0.outcomes } }
    var ends: [AttemptEnd] { state.withLock { $0.ends } }
    var lostWorkers: Int { state.withLock { $0.lostWorkers } }
    var words: String { state.withLock { $0.words } }

    func ask(_ request: RunLoop.Request?) { state.withLock { $0.request = request } }
    func letPublish() { opener.finish() }

    var request: RunLoop.Request? { state.withLock { $0.request } }

    func nextFrames(_ count: Int) -> RunLoop.Frames {
        state.withLock { state in
            guard !state.frames.isEmpty else { return .none }
            defer { state.frames.removeFirst(min(count, state.frames.count)) }
            return .some(Array(state.frames.prefix(count)))
        }
    }

    func willStart(_ lease: Lease) throws(FileError) { if let trouble { throw trouble } }

    func publish(_ frame: FrameID, _ outputs: [Publication]) async -> PublishFailure? {
        if isPublishing(frame) { for await _ in gate {} }
        return failure
    }

    func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision { .settle }
    func ended(_ lease: Lease, _ end: AttemptEnd) { state.withLock { $0.ends.append(end) } }
    func standardError(of worker: WorkerID, _ text: String) { state.withLock { $0.words += text } }
    func concluded(_ frame: FrameID, _ outcome: FrameOutcome) { state.withLock { $0.outcomes[frame] = outcome } }
    func workerLost() { state.withLock { $0.lostWorkers += 1 } }
    func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {}
}
