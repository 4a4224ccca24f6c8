import Engines
import JobModel
import Scheduling
import Shards
import Synchronization
import TestSupport
import Testing
import WorkerProtocol

private func lease(_ number: Int, worker: WorkerID = WorkerID(1), estimate: Double = 1) -> Lease {
    Lease(
        id: LeaseID(number), task: TaskID(FrameID(number), .frame), attempt: 1, round: 0, worker: worker,
        deadline: Timestamp(.seconds(60)), timeLimit: .seconds(60), estimate: estimate,
        spec: .compare(DigestTask(files: [DigestTask.File(path: "/in/\(number)")])))
}

@Suite struct DealingTests {
    private func sums(_ estimates: [Double], to count: Int) -> [Double] {
        PreparedShards.dealt(estimates.enumerated().map { GatheredTask(lease($0 + 1, estimate: $1)) }, to: count)
            .map { $0.reduce(0) { $0 + $1.lease.estimate } }
    }

    @Test func `each task is in one shard, and all shards are there`() {
        let tasks = (1...23).map { GatheredTask(lease($0, estimate: Double($0 % 5))) }
        let parts = PreparedShards.dealt(tasks, to: 7)
        #expect(parts.count == 7)
        #expect(parts.flatMap { $0.map(\.lease.id.number) }.sorted() == Array(1...23))
        #expect(parts.allSatisfy { $0.map(\.lease.id.number) == $0.map(\.lease.id.number).sorted() })
    }

    @Test func `shards take about as long as each other`() {
        #expect(sums([9, 1, 1, 8, 2, 7, 3, 6, 5, 4], to: 2) == [23, 23])
        #expect(sums([5, 5, 5], to: 5) == [5, 5, 5, 0, 0])
    }
}

/// Takes tasks with even numbers.
private final class Recipient: HandoffEngine.Recipient {
    let done = Mutex<[Int]>([])
    let received = Mutex<[Int]>([])
    let wasWithdrawn = Mutex(false)
    let trouble: HandoffError?

    init(trouble: HandoffError? = nil) { self.trouble = trouble }

    func takes(_ spec: TaskSpec) -> Bool {
        guard case .compare(let task) = spec, let number = Int(task.files[0].path.dropFirst(4)) else { return false }
        return number.isMultiple(of: 2)
    }

    func carryOut(_ tasks: [GatheredTask], as number: Int) async -> Result<[TaskEnd], HandoffError> {
        done.withLock { $0 += tasks.map(\.lease.id.number) }
        return .success(tasks.map { TaskEnd($0.lease.id, .done(.compare([]))) })
    }

    func receive(_ tasks: [GatheredTask], from first: Int) async -> HandoffError? {
        received.withLock { $0 += tasks.map(\.lease.id.number) }
        return trouble
    }

    func withdraw() async { wasWithdrawn.withLock { $0 = true } }
}

@Suite struct HandingOverTests {
    /// The events for a coordinator that starts leases 1 to 4 at once, and lease 6 when lease 1 has ended.
    ///
    /// - Parameter accepts: whether the coordinator then leaves the run, or is told to cancel it.
    private func events(_ recipient: Recipient, accepts: Bool = true) async throws -> [String] {
        let folder = try TemporaryFolder()
        let engine = HandoffEngine(folder: ShardFolder(folder.file("run")), recipient: recipient)
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        let (events, post) = AsyncStream.makeStream(of: Event.self)
        async let crew: Void = engine.run(commands) { post.yield($0) }
        func pulse() { for _ in 1...4 { command.yield(.pulse) } }
        command.yield(.widen(to: 5))
        var (heard, workers): ([String], [WorkerID]) = ([], [])
        for await event in events {
            switch event {
            case .workerReady(let worker):
                workers.append(worker)
                guard workers.count == 5 else { continue }
                for number in 1...4 { command.yield(.start(lease(number, worker: workers[number - 1]))) }
                pulse()
            case .report(_, .finished(let id, _)):
                heard.append("finished \(id.number)")
                if id.number == 1 { command.yield(.start(lease(6, worker: workers[4]))) }
                if id.number == 3 { pulse() }
            case .stop(let reason):
                heard.append("stop: \(reason)")
                if reason == .detached, accepts { command.yield(.handOver) }
                command.finish()
                await crew
                return heard
            default: heard.append("\(event)")
            }
        }
        return heard
    }

    @Test func `what is not handed over is done first, and what follows from it is handed over, too`() async throws {
        let recipient = Recipient()
        #expect(try await events(recipient) == ["finished 1", "finished 3", "stop: detached"])
        #expect(recipient.done.withLock { $0 } == [1, 3])
        #expect(recipient.received.withLock { $0 } == [2, 4, 6])
        #expect(recipient.wasWithdrawn.withLock { $0 } == false)
    }

    @Test func `what was handed over is taken back when the run is given up in that moment`() async throws {
        let recipient = Recipient()
        #expect(try await events(recipient, accepts: false).last == "stop: detached")
        #expect(recipient.wasWithdrawn.withLock { $0 })
    }

    @Test func `a recipient that refuses stops the run for its reason`() async throws {
        let recipient = Recipient(trouble: HandoffError(.cluster("no such partition")))
        #expect(try await events(recipient).last == "stop: cluster(\"no such partition\")")
    }
}

@Suite struct HandoffStateTests {
    private var state = HandoffState(lastShard: 4) { spec in
        guard case .compare(let task) = spec else { return false }
        return task.files.first?.path != "/in/1"
    }

    private func worker(_ number: Int) -> WorkerID { WorkerID(number, slot: SlotID(number)) }

    private mutating func start(_ numbers: [Int], prior: TaskReceipt? = nil) -> [Event] {
        _ = state.begin()
        _ = state.handle(.command(.widen(to: 4)))
        return numbers.flatMap { number in
            events(state.handle(.command(.start(lease(number, worker: worker(number))), prior: prior)))
        }
    }

    /// The effects of so many pulses in a row.
    private mutating func pulses(_ count: Int) -> [HandoffState.Effect] {
        (0..<count).flatMap { _ in state.handle(.command(.pulse)) }
    }

    private func events(_ effects: [HandoffState.Effect]) -> [Event] {
        effects.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    private func words(_ events: [Event]) -> [String] { events.map { "\($0)" } }

    private func numbers(_ tasks: [GatheredTask]) -> [Int] { tasks.map(\.lease.id.number) }

    @Test mutating func `nothing is handed over before four quiet pulses, and then all at once`() {
        _ = start([2, 3])
        #expect(pulses(3).isEmpty)
        _ = state.handle(.command(.start(lease(4, worker: worker(4)))))
        #expect(pulses(3).isEmpty, "something came")
        guard case .handOver(let tasks, 5)? = pulses(1).first else {
            Issue.record("nothing is handed over")
            return
        }
        #expect(numbers(tasks) == [2, 3, 4])
        #expect(state.isHandingOver)
        #expect(pulses(9).isEmpty, "one thing at a time")
        #expect(words(events(state.handle(.handedOver(nil)))) == words([.stop(.detached)]))
        #expect(state.wasReceived)
        #expect(!state.isHandedOver)
        _ = state.handle(.command(.handOver))
        #expect(state.isHandedOver)
    }

    @Test mutating func `what is done here comes first, and its shard has a number of its own`() {
        _ = start([1, 2])
        guard case .carryOut(let tasks, as: 5)? = pulses(4).first else {
            Issue.record("nothing is done")
            return
        }
        #expect(numbers(tasks) == [1])
        let ends = [TaskEnd(LeaseID(1), .done(.compare([nil])))]
        #expect(
            words(events(state.handle(.done(tasks, .success(ends)))))
                == words([.report(worker(1), .finished(LeaseID(1), .compare([nil])))]))
        guard case .handOver(let rest, from: 6)? = pulses(4).first else {
            Issue.record("nothing is handed over")
            return
        }
        #expect(numbers(rest) == [2])
    }

    @Test mutating func `a task of which nothing came is lost, and a failure stops the run`() {
        _ = start([1])
        guard case .carryOut(let tasks, _)? = pulses(4).first else {
            Issue.record("nothing is done")
            return
        }
        guard case .workerLost(worker(1), _)? = events(state.handle(.done(tasks, .success([])))).first else {
            Issue.record("it is waited for")
            return
        }
        let failure = HandoffError(.storage("disk full"))
        #expect(words(events(state.handle(.done([], .failure(failure))))) == words([.stop(.storage("disk full"))]))
    }

    @Test mutating func `what is known already is not done again, and outputs go along with their task`() {
        #expect(
            words(start([2], prior: .compare([nil]))) == words([.adopted(worker(2), LeaseID(2), .compare([nil]))]))
        #expect(pulses(9).isEmpty)
        _ = start([3], prior: .outputs([], of: nil))
        guard case .handOver(let tasks, _)? = pulses(4).first else {
            Issue.record("nothing is handed over")
            return
        }
        #expect(tasks.map(\.earlier) == [.outputs([], of: nil)])
    }

    @Test mutating func `a lease that is given up is handed to nobody`() {
        _ = start([2, 3])
        _ = state.handle(.command(.kill(worker(2))))
        guard case .handOver(let tasks, _)? = pulses(4).first else {
            Issue.record("nothing is handed over")
            return
        }
        #expect(numbers(tasks) == [3])
    }

    @Test mutating func `a run that ends while it is handed over is over when that is done`() {
        _ = start([2])
        _ = pulses(4)
        _ = state.handle(.ended)
        #expect(!state.isOver)
        _ = state.handle(.handedOver(nil))
        #expect(state.isOver)
    }
}
