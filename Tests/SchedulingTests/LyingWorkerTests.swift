import Geometry
import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Workers that answer what does not fit their task.
@Suite struct LyingWorkerTests {
    private func lie(_ farm: inout Farm, about kind: TaskKind, _ receipt: TaskReceipt) throws -> Lease {
        let lease = try farm.advance(to: kind)
        farm.send(.report(lease.worker, .finished(lease.id, receipt)))
        return lease
    }

    @Test func `a worker that names another file is killed, and its task given to the next one`() throws {
        var farm = Farm(.make(workers: 1))
        farm.begin(workers: 1)
        let lease = try lie(&farm, about: .frame, .outputs([.make(path: "/home/me/key")], of: .make()))
        #expect(farm.killed == [lease.worker])
        #expect(farm.published == [])
        farm.die(lease, .byOrder, replacement: 2)
        farm.send(.tick, at: farm.now + .seconds(60))
        farm.finishAll()
        #expect(farm.leases.map(\.attempt) == [1, 1, 2])
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `workers that always lie fail the frame, with what they said`() throws {
        var farm = Farm(.make(.make(retries: 0), workers: 1))
        farm.begin(workers: 1)
        let lease = try lie(&farm, about: .probe, .check)
        farm.die(lease, .byOrder)
        #expect(
            farm.outcomes[FrameID(1)]
                == .failed(
                    FrameFailure(
                        .crash, "the worker sent what is no answer to its task: the receipt of another kind of task")))
    }

    @Test func `what it says after that is not heard`() throws {
        var farm = Farm(.make(workers: 1))
        farm.begin(workers: 1)
        let lease = try lie(&farm, about: .frame, .check)
        farm.finish(lease)
        #expect(farm.published == [])
    }
}
