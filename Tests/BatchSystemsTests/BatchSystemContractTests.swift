import Catalogs
import Cluster
import Engines
import FarmTestSupport
import Foundation
import JobModel
import Scheduling
import Shards
import Testing
import WorkerProtocol

/// The contract of all batch systems.
@Suite struct BatchSystemContractTests {
    private let told = Told()

    private let lease = Lease(
        id: LeaseID(1), task: TaskID(FrameID(1), .frame), attempt: 1, round: 0, worker: WorkerID(1, slot: SlotID(1)),
        deadline: Timestamp(.seconds(60)), timeLimit: .seconds(60),
        spec: .compare(DigestTask(files: [DigestTask.File(path: "/quick")])))

    private func submitter(_ cluster: FakeCluster) throws -> ArraySubmitter {
        ArraySubmitter(
            system: cluster.system, options: ClusterOptions(), setup: try cluster.programs.setup(),
            pause: .milliseconds(10)
        ) { told.note($0) }
    }

    private let array = ClusterJob.array(ArrayJob(name: "penumbra-r-1-1", firstShard: 1, count: 2))

    @Test(arguments: FakeCluster.Kind.allCases)
    func `an element that tries out its node names it, and what confines workers there`(
        kind: FakeCluster.Kind
    ) async throws {
        let cluster = try FakeCluster(kind)
        let engine = ClusterEngine(
            system: cluster.system, options: ClusterOptions(),
            setup: try cluster.programs.setup(program: cluster.makeProgram(.compare([])))
        ) { told.note($0) }
        let result = try await engine.tryOut(signals: AsyncStream { _ in }, limit: .seconds(300))
        #expect(result?.location == "element 1_0 on n1")
        #expect(result?.sandbox == SandboxReport(limitsCalls: true, files: .handedOver))
        engine.forgetTrial()
    }

    @Test(arguments: FakeCluster.Kind.allCases)
    func `a task that is started is done by an element, and its job has ended when the run has`(
        kind: FakeCluster.Kind
    ) async throws {
        let cluster = try FakeCluster(kind)
        let programs = cluster.programs
        let engine = ClusterEngine(
            system: cluster.system, options: ClusterOptions(),
            setup: try programs.setup(program: cluster.makeProgram())
        ) { told.note($0) }
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        let (events, post) = AsyncStream.makeStream(of: Event.self)
        let run = Task {
            await engine.run(commands) { post.yield($0) }
            post.finish()
        }
        var receipts: [TaskReceipt] = []
        for await event in events {
            switch event {
            case .workerReady: command.yield(.start(lease))
            case .report(_, .finished(_, let receipt)):
                receipts.append(receipt)
                command.finish()
            default:
                Issue.record("\(event)")
                command.finish()
            }
        }
        await run.value
        #expect(receipts == [.compare([nil])])
        #expect(try await cluster.system.query(.named("penumbra-r-1-1")).allSatisfy(\.condition.isOver))
        #expect(told.all == [])
    }

    @Test(arguments: FakeCluster.Kind.allCases, [false, true])
    func `a run that ends while it submits leaves no job behind`(
        kind: FakeCluster.Kind, isCancelled: Bool
    ) async throws {
        let cluster = try FakeCluster(kind)
        for name in ["holds", "idle"] { try cluster.programs.put(name) }
        let engine = ClusterEngine(
            system: cluster.system, options: ClusterOptions(), setup: try cluster.programs.setup()
        ) { _ in }
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        command.yield(.start(lease))
        let run = Task { await engine.run(commands) { _ in } }
        while !cluster.programs.has("begun") { await Task.yield() }
        if isCancelled { run.cancel() } else { command.finish() }
        try cluster.programs.put("go")
        await run.value
        #expect(try cluster.programs.text("cancelled") == "name penumbra-r-1-1\n", "after it was accepted")
    }

    @Test(arguments: FakeCluster.Kind.allCases)
    func `a submission that was accepted though nobody answered is found, and not made again`(
        kind: FakeCluster.Kind
    ) async throws {
        let cluster = try FakeCluster(kind)
        for name in ["forgets", "idle"] { try cluster.programs.put(name) }
        #expect(try await submitter(cluster).submit(array) == .accepted(job: "7"))
        #expect(try cluster.programs.text("tries") == "x\n")
        #expect(told.all.count == 1)
        #expect(
            told.all.first?.hasPrefix("\(cluster.system.traits.name) does not answer, and is asked again: ") == true)
        let lines = try cluster.programs.text("run/submissions").split(separator: "\n")
        #expect(lines.count == 2, "its name before, its number behind")
    }

    @Test(arguments: FakeCluster.Kind.allCases)
    func `one that was not accepted is made again`(kind: FakeCluster.Kind) async throws {
        let cluster = try FakeCluster(kind)
        for name in ["away", "idle"] { try cluster.programs.put(name) }
        #expect(try await submitter(cluster).submit(array) == .accepted(job: "7"))
        #expect(try cluster.programs.text("tries") == "x\nx\n")
    }

    @Test(arguments: FakeCluster.Kind.allCases)
    func `a refusal ends it at once, in the system's words`(kind: FakeCluster.Kind) async throws {
        let cluster = try FakeCluster(kind)
        try cluster.programs.put("refuses", "Job dependency problem\n")
        guard case .failed(let message) = try await submitter(cluster).submit(array) else {
            Issue.record("it was not refused")
            return
        }
        #expect(message.hasSuffix(": Job dependency problem"))
        #expect(try cluster.programs.text("tries") == "x\n")
    }

    @Test(arguments: FakeCluster.Kind.allCases)
    func `a limit to what a user may have passes`(kind: FakeCluster.Kind) async throws {
        let cluster = try FakeCluster(kind)
        try cluster.programs.put("full")
        guard case .full = try await submitter(cluster).submit(array) else {
            Issue.record("it was not full")
            return
        }
    }

    @Test(arguments: FakeCluster.Kind.allCases)
    func `elements are found by name and by number, cancelled, and known no more`(
        kind: FakeCluster.Kind
    ) async throws {
        let cluster = try FakeCluster(kind)
        try cluster.programs.put("idle")
        #expect(try await submitter(cluster).submit(array) == .accepted(job: "7"))
        let elements = try await cluster.system.query(.ids(["7"]))
        #expect(elements.map(\.id) == ["7_0", "7_1"])
        #expect(elements.map(\.submission) == ["penumbra-r-1-1", "penumbra-r-1-1"])
        #expect(elements.map(\.condition) == [.running, .running])
        #expect(try await cluster.system.query(.named("penumbra-r-1-1")) == elements)
        #expect(try await cluster.system.query(.named("penumbra-r-1-10")) == [])
        try await SubmittedJobs(of: try cluster.programs.setup().folder).endArrays(before: 2, on: cluster.system)
        #expect(try await cluster.system.query(.ids(["7"])) == [])
        try await cluster.system.cancel(.named("penumbra-r-1-1"))
    }

    @Test(arguments: FakeCluster.Kind.allCases)
    func `its largest array and its queues are known`(kind: FakeCluster.Kind) async throws {
        let cluster = try FakeCluster(kind)
        let description = try await cluster.system.describe(withQueues: true)
        #expect(description == BatchDescription(largestArray: 100, queues: ["fast", "slow"]))
    }
}

/// The cluster's engine with each system.
@Suite struct ClusterEngineTests {
    private struct Subject: EngineUnderTest {
        let cluster: FakeCluster

        func makeEngine() throws -> any Engine {
            // A lost element is lost at once.
            ClusterEngine(
                system: cluster.system, options: ClusterOptions(grace: 0),
                setup: try cluster.programs.setup(program: cluster.makeProgram())
            ) { _ in }
        }

        private func task(_ path: String) -> TaskSpec { .compare(DigestTask(files: [DigestTask.File(path: path)])) }

        func quickTask() -> TaskSpec { task("/quick") }
        func endlessTask() -> TaskSpec { task("/endless") }
        func killWorkers() throws { try cluster.programs.put("kills") }
        func living() throws -> [String] { try cluster.living() }
    }

    @Test(arguments: FakeCluster.Kind.allCases, EngineContract.allCases)
    func `the cluster's engine keeps the contract of engines`(
        kind: FakeCluster.Kind, check: EngineContract
    ) async throws {
        try await check(Subject(cluster: FakeCluster(kind)))
    }
}
