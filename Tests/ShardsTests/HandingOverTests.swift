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
    let trouble: HandingOverTrouble?

    init(trouble: HandingOverTrouble? = nil) { self.trouble = trouble }

    func takes(_ spec: TaskSpec) -> Bool {
        guard case .compare(let task) = spec, let number = Int(task.files[0].path.dropFirst(4)) else { return false }
        return number.isMultiple(of: 2)
    }

    func carryOut(_ tasks: [GatheredTask], as number: Int) async -> Result<[TaskEnd], HandingOverTrouble> {
        done.withLock { $0 += tasks.map(\.lease.id.number) }
        return .success(tasks.map { TaskEnd($0.lease.id, .done(.compare([]))) })
    }

    func receive(_ tasks: [GatheredTask], from first: Int) async -> HandingOverTrouble? {
        received.withLock { $0 += tasks.map(\.lease.id.number) }
        return trouble
    }

    func withdraw() async { wasWithdrawn.withLock { $0 = true } }
}

@Suite struct HandingOverTests {
    /// What a coordinator hears that starts leases 1 to 4 at once, and 6 when 1 has come back.
    ///
    /// - Parameter accepts: whether the coordinator leaves the run then, or was told to give it up.
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
        let recipient = Recipient(trouble: HandingOverTrouble(.cluster("no such partition")))
        #expect(try await events(recipient).last == "stop: cluster(\"no such partition\")")
    }
}
