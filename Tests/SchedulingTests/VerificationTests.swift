import JobModel
import Scheduling
import Testing
import WorkerProtocol

@Suite struct VerificationTests {
    @Test func `an audit goes to a worker that rendered none of the frame`() throws {
        var farm = Farm(.make(.make(verify: .audit)))
        farm.begin(workers: 2)
        let rendering = try farm.advance(to: .frame)
        farm.finish(rendering)
        let audit = try #require(farm.running.first)
        #expect(audit.task.kind == .audit)
        #expect(audit.worker != rendering.worker)
        farm.finishAll()
        #expect(farm.published.count == 1)
    }

    @Test func `a single worker is replaced by a fresh process for the audit`() throws {
        var farm = Farm(.make(.make(verify: .audit), workers: 1))
        farm.begin(workers: 1)
        farm.finishAll()
        #expect(farm.recycled == [WorkerID(1)])
        #expect(farm.published.isEmpty)
        farm.send(.workerLost(WorkerID(1), Death(.byOrder)))
        farm.send(.workerReady(WorkerID(2)))
        farm.finishAll()
        #expect(farm.published.count == 1)
    }

    @Test func `full verification audits, then checks the file`() {
        var farm = Farm(.make(.make(verify: .full), workers: 2))
        farm.begin(workers: 2)
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.probe, .frame, .audit, .check])
    }

    @Test func `different pixels are rendered again, and never published when they stay different`() throws {
        var farm = Farm(.make(.make(verify: .audit, retries: 1), workers: 2))
        farm.begin(workers: 2)
        for _ in 1...2 { farm.fail(try farm.advance(to: .audit), .mismatch, "band 0 differs") }
        #expect(farm.leases.filter { $0.task.kind == .frame }.count == 2)
        #expect(farm.outcomes == [FrameID(1): .failed(FrameFailure(.verification, "band 0 differs"))])
        #expect(farm.published.isEmpty)
    }

    @Test(arguments: [(1, 1), (20, 1), (21, 2), (400, 20)])
    func `an audit takes one band in twenty, and at least one`(bands: Int, expected: Int) {
        var random = SplitMix64(seed: 7)
        let all = OutputReceipt.make(path: "/x", bands: bands).bands
        let sample = AuditPolicy.sample(all, using: &random)
        #expect(sample.count == expected)
        #expect(Set(sample).isSubset(of: Set(all)))
    }
}
