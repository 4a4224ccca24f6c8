import Cluster
import Engines
import JobModel
import Scheduling
import Shards
import Testing
import WorkerProtocol

/// The decisions of the engine, with times, results and listings made by the tests.
@Suite struct ClusterStateTests {
    private var state = Self.state()
    private var worker = WorkerID(1, slot: SlotID(1))

    private static func state(largestArray: Int = 100, name: String = "Slurm") -> ClusterState {
        var options = ClusterOptions(shardSeconds: 60, grace: 30)
        options.partition = "fast"
        return ClusterState(
            ClusterState.Setup(
                run: "r", epoch: 2, logs: "/l", options: options,
                traits: BatchTraits(
                    name: name, engine: .slurm, listCommand: nil, logName: .job, takesCoordinators: true),
                largestArray: largestArray, lastShard: 4))
    }

    private func lease(_ number: Int, estimate: Double = 60) -> Lease {
        Lease(
            id: LeaseID(number), task: TaskID(FrameID(number), .frame), attempt: 1, round: 0,
            worker: WorkerID(number, slot: SlotID(number)), deadline: Timestamp(.seconds(60)), timeLimit: .seconds(60),
            estimate: estimate, spec: .compare(DigestTask(files: [DigestTask.File(path: "/in/\(number)")])))
    }

    private func at(_ seconds: Double) -> Timestamp { Timestamp(.seconds(seconds)) }

    /// The state with leases 1 to `count` started at 0.
    private mutating func start(_ count: Int, prior: TaskReceipt? = nil) -> [ClusterState.Effect] {
        _ = state.begin()
        var effects = state.handle(.command(.widen(to: count)), at: at(0))
        for number in 1...count { effects += state.handle(.command(.start(lease(number)), prior: prior), at: at(0)) }
        return effects
    }

    /// The array that is submitted at a time.
    private mutating func submitted(at seconds: Double) -> (ArrayJob, writing: [Int: [Shard.Task]])? {
        for case .submit(let array, let shards) in state.handle(.tick, at: at(seconds)) { return (array, shards) }
        return nil
    }

    private func result(_ number: Int, _ ends: [TaskEnd], refusal: String? = nil) -> ClusterState.Input {
        .results([
            ShardResult(
                shard: state.id(of: number), attempt: "a", location: "element 12_0 on n1", ends: ends, refusal: refusal)
        ])
    }

    private func row(_ index: Int, _ condition: ArrayElement.Condition) -> ArrayElement {
        ArrayElement(job: "12", index: index, of: "penumbra-r-2-1", condition, node: "n1")
    }

    private func events(_ effects: [ClusterState.Effect]) -> [Event] {
        effects.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    private func words(_ events: [Event]) -> [String] { events.map { "\($0)" } }

    private func sentences(_ effects: [ClusterState.Effect]) -> [String] {
        effects.compactMap { if case .report(let sentence) = $0 { sentence } else { nil } }
    }

    private func stops(_ effects: [ClusterState.Effect]) -> [StopReason] {
        events(effects).compactMap { if case .stop(let reason) = $0 { reason } else { nil } }
    }

    @Test mutating func `leases go into shards when no more come, and the shards into one array`() throws {
        _ = start(3)
        #expect(submitted(at: 0.1) == nil, "more may come")
        let (array, shards) = try #require(submitted(at: 1))
        #expect(array == ArrayJob(name: "penumbra-r-2-1", firstShard: 5, count: 3))
        #expect(shards.mapValues { $0.map(\.lease.number) } == [5: [1], 6: [2], 7: [3]])
        #expect(state.awaited == [5, 6, 7])
        #expect(submitted(at: 2) == nil)
    }

    @Test mutating func `a system without arrays gets a job for each shard, one after the other`() throws {
        state = Self.state(largestArray: 1)
        _ = start(3)
        var names: [String] = []
        while let (array, shards) = submitted(at: 1) {
            #expect(array.count == 1)
            #expect(Array(shards.keys) == [array.firstShard] || shards.isEmpty)
            names.append(array.name)
            _ = state.handle(.submitted(array, .accepted(job: "\(names.count)")), at: at(1))
        }
        #expect(names == ["penumbra-r-2-1", "penumbra-r-2-2", "penumbra-r-2-3"])
        #expect(state.jobs == ["1", "2", "3"])
    }

    @Test mutating func `what is offered again in parts is written once`() throws {
        _ = start(2)
        let (array, shards) = try #require(submitted(at: 1))
        #expect(shards.count == 2)
        let told = sentences(state.handle(.submitted(array, .full("no room")), at: at(1)))
        #expect(told == ["Slurm takes no more jobs for now, and gets the rest in parts, and later: no room"])
        let (half, none) = try #require(submitted(at: 1))
        #expect(half.count == 1)
        #expect(none.isEmpty)
        let effects = state.handle(.submitted(half, .full("no room")), at: at(1))
        #expect(sentences(effects) == [], "it was told")
        #expect(effects.contains { if case .makeRoom = $0 { true } else { false } })
        #expect(submitted(at: 2) == nil)
        #expect(submitted(at: 32)?.0 == half)
    }

    @Test mutating func `a site that takes nothing for half an hour ends the run`() throws {
        _ = start(1)
        let (array, _) = try #require(submitted(at: 1))
        #expect(stops(state.handle(.submitted(array, .full("no room")), at: at(1))) == [])
        _ = submitted(at: 1800)
        #expect(stops(state.handle(.submitted(array, .full("no room")), at: at(1802))) == [.cluster("no room")])
    }

    @Test mutating func `a disk that takes no shards ends the run as storage does`() throws {
        _ = start(1)
        let (array, _) = try #require(submitted(at: 1))
        #expect(stops(state.handle(.unwritten(array, "disk full"), at: at(1))) == [.storage("disk full")])
    }

    @Test mutating func `a result is reported, and what it leaves undone is lost`() throws {
        _ = start(1)
        let (array, _) = try #require(submitted(at: 1))
        _ = state.handle(.submitted(array, .accepted(job: "12")), at: at(1))
        let done = events(state.handle(result(5, [TaskEnd(LeaseID(1), .done(.compare([nil])))]), at: at(2)))
        #expect(words(done) == words([.report(worker, .finished(LeaseID(1), .compare([nil])))]))
        #expect(state.awaited == [])
        #expect(!state.hadErrors)
        #expect(state.handle(result(5, []), at: at(3)).isEmpty, "of an element that runs twice the first result counts")
    }

    @Test mutating func `a refusal stops the run with the path of what the element printed`() throws {
        _ = start(1)
        let (array, _) = try #require(submitted(at: 1))
        _ = state.handle(.submitted(array, .accepted(job: "12")), at: at(1))
        let effects = state.handle(result(5, [], refusal: "another version"), at: at(2))
        #expect(
            stops(effects) == [.cluster("element 12_0 on n1 cannot work: another version; see /l/12_0.out")])
        #expect(state.hadErrors)
    }

    @Test mutating func `an element that is gone is lost after the grace, and its log is read first`() throws {
        _ = start(2)
        let (array, _) = try #require(submitted(at: 1))
        _ = state.handle(.submitted(array, .accepted(job: "12")), at: at(1))
        var lists = 0
        for second in 1...9 {
            for case .list(let jobs) in state.handle(.tick, at: at(Double(second))) {
                #expect(jobs == ["12"])
                lists += 1
                #expect(state.handle(.listed(.success([row(1, .running)])), at: at(Double(second))).isEmpty)
            }
        }
        #expect(lists == 3, "every three seconds")
        var lost: ElementTracker.Lost?
        for case .readLog(let one) in state.handle(.listed(.success([row(1, .running)])), at: at(40)) { lost = one }
        let found = try #require(lost)
        #expect(found.shard == 5)
        let events = events(
            state.handle(
                .log(found, [.begun(LeaseID(1)), .ended(TaskEnd(LeaseID(1), .done(.compare([nil]))))]), at: at(40)))
        #expect(words(events) == words([.report(worker, .finished(LeaseID(1), .compare([nil])))]))
        #expect(state.awaited == [6])
    }

    @Test mutating func `a task that an element had begun when it failed is charged, others are not`() throws {
        _ = state.begin()
        _ = state.handle(.command(.widen(to: 2)), at: at(0))
        for number in 1...2 { _ = state.handle(.command(.start(lease(number, estimate: 1))), at: at(0)) }
        let (array, _) = try #require(submitted(at: 1))
        #expect(array.count == 1)
        _ = state.handle(.submitted(array, .accepted(job: "12")), at: at(1))
        _ = state.handle(.listed(.success([row(0, .ended(.outOfMemory))])), at: at(2))
        var lost: ElementTracker.Lost?
        for case .readLog(let one) in state.handle(.listed(.success([row(0, .ended(.outOfMemory))])), at: at(32)) {
            lost = one
        }
        let found = try #require(lost)
        let deaths = events(state.handle(.log(found, [.begun(LeaseID(1))]), at: at(32))).compactMap { event in
            if case .workerLost(let worker, let death) = event { (worker.number, death.manner) } else { nil }
        }
        #expect(deaths.map(\.0) == [1, 2])
        guard case .elementFailed = deaths.first?.1, case .elementLost = deaths.last?.1 else {
            Issue.record("\(deaths)")
            return
        }
    }

    @Test mutating func `a controller that does not answer is reported once, and awaited for half an hour`() throws {
        _ = start(1)
        let (array, _) = try #require(submitted(at: 1))
        _ = state.handle(.submitted(array, .accepted(job: "12")), at: at(1))
        func away(at seconds: Double) -> [ClusterState.Effect] {
            state.handle(.listed(.failure(.unanswered("squeue: timed out"))), at: at(seconds))
        }
        #expect(sentences(away(at: 10)) == ["Slurm does not answer, and is waited for: squeue: timed out"])
        #expect(away(at: 20).isEmpty)
        #expect(sentences(state.handle(.listed(.success([row(0, .running)])), at: at(30))) == ["Slurm answers again"])
        #expect(sentences(away(at: 40)).count == 1)
        #expect(stops(away(at: 1839)) == [])
        #expect(stops(away(at: 1841)) == [.cluster("squeue: timed out")])
    }

    @Test mutating func `a blocked element is reported with its reason and a remedy`() throws {
        _ = start(1)
        let (array, _) = try #require(submitted(at: 1))
        _ = state.handle(.submitted(array, .accepted(job: "12")), at: at(1))
        let held = ArrayElement(
            job: "12", index: 0, of: "penumbra-r-2-1", .waiting, reason: "Held", obstacle: "let it go")
        #expect(
            sentences(state.handle(.listed(.success([held])), at: at(2)))
                == ["element 12_0 is not started (Held): let it go"])
        #expect(sentences(state.handle(.listed(.success([held])), at: at(5))) == [])
    }

    @Test
    mutating func `results of an earlier coordinator's shards are used, and their outputs are checked first`()
        throws
    {
        let found = events(start(1, prior: .compare([nil])))
        #expect(words(found).last == words([.adopted(worker, LeaseID(1), .compare([nil]))]).last)
        #expect(submitted(at: 1) == nil)
        state = Self.state()
        _ = start(1, prior: .outputs([], of: nil))
        let (_, shards) = try #require(submitted(at: 1))
        #expect(shards[5]?.first?.earlier == .outputs([], of: nil))
    }

    @Test mutating func `names of submissions are kept as long as something of them may be left`() throws {
        _ = start(1)
        let (array, _) = try #require(submitted(at: 1))
        #expect(state.names == ["penumbra-r-2-1"], "from before it is known whether it was accepted")
        _ = state.handle(.submitted(array, .accepted(job: "12")), at: at(1))
        _ = state.handle(result(5, [TaskEnd(LeaseID(1), .done(.compare([nil])))]), at: at(2))
        #expect(state.names == [])
        #expect(state.allNames == ["penumbra-r-2-1"])
    }
}
