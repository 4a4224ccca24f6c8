import Catalogs
import Coordination
import JobModel
import Testing

/// What a run with several coordinators says of the sandbox of its workers.
@Suite struct RunSandboxTests {
    private let whole = SandboxReport(limitsCalls: true, files: .handedOver)
    private let partial = SandboxReport(limitsCalls: true, files: .any, missing: ["no Landlock"])

    /// The work of an earlier coordinator, whose workers had this sandbox.
    private func recovered(_ sandbox: SandboxReport?) -> RecoveredWork {
        var counts = RunCounts()
        counts.sandbox = sandbox
        let record = RunRecord(
            name: "20261127T200000Z-aaaaaa", job: "test", manifest: "/jobs/test.yaml", started: 1, workers: 1,
            memory: 1, request: "{}", counts: counts)
        return RecoveredWork(record, frames: [], attempts: [])
    }

    @Test func `a run with one coordinator says what that one's workers had`() {
        #expect(RecoveredWork().sandbox(with: whole) == whole)
        #expect(RecoveredWork().sandbox(with: nil) == nil)
    }

    @Test func `a run that was resumed says what all of its workers had`() {
        #expect(recovered(whole).sandbox(with: whole) == whole)
        #expect(recovered(.off).sandbox(with: whole) == .off)
        #expect(recovered(partial).sandbox(with: whole) == partial)
        #expect(recovered(whole).sandbox(with: partial) == partial)
    }

    @Test func `a run that a cluster had for a while promises nothing`() {
        #expect(recovered(nil).sandbox(with: whole) == nil)
        #expect(recovered(whole).sandbox(with: nil) == nil)
    }
}
