import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Results that nothing waits for any more, from any source.
@Suite struct LateResultTests {
    private func ends(_ farm: Farm, of lease: Lease) -> [String] { farm.ends.filter { $0.0 == lease.id }.map(\.1) }

    @Test(arguments: [TaskFailure.Kind.data, .storage, .transient])
    func `a failure that is reported after the lease expired follows the result into the bin`(
        kind: TaskFailure.Kind
    ) throws {
        var farm = Farm()
        farm.begin(workers: 1)
        let lease = try #require(farm.running.first)
        farm.send(.tick, at: .seconds(10))
        farm.send(.report(lease.worker, .failed(lease.id, TaskFailure(kind, "late"))))
        #expect(farm.outcomes.isEmpty && farm.finished == nil && farm.ends.isEmpty)
    }

    @Test func `a result counts once, however often it comes`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        let lease = try farm.advance(to: .frame)
        farm.finish(lease)
        farm.finish(lease)
        #expect(farm.published.count == 1)
        #expect(ends(farm, of: lease) == ["done"])
    }

    @Test func `the next attempt of a task does not take the result of the one before`() throws {
        var farm = Farm()
        farm.begin(workers: 1)
        let first = try farm.advance(to: .frame)
        farm.send(.tick, at: .seconds(10))
        farm.die(first, .byOrder, replacement: 2)
        farm.send(.tick, at: .seconds(11))
        let second = try #require(farm.running.first)
        for worker in [first.worker, second.worker] {
            farm.send(.report(worker, .finished(first.id, receipt(for: first.spec))))
        }
        #expect(farm.published.isEmpty)
        farm.finish(second)
        #expect(farm.published.count == 1)
    }

    @Test func `nobody reports on the lease of another worker`() throws {
        var farm = Farm()
        farm.begin(workers: 2)
        let lease = try farm.advance(to: .frame)
        let other = WorkerID(3 - lease.worker.number)
        farm.send(.report(other, .finished(lease.id, receipt(for: lease.spec))))
        farm.send(.report(WorkerID(77), .finished(lease.id, receipt(for: lease.spec))))
        farm.send(.report(other, .failed(lease.id, TaskFailure(.data, "not mine"))))
        #expect(farm.published.isEmpty && farm.outcomes.isEmpty)
        farm.finish(lease)
        #expect(farm.published.count == 1)
    }

    @Test func `a tile of an earlier round is dropped and rendered again`() throws {
        var farm = Farm(.make(.make(shard: .tile), workers: 2))
        farm.begin(workers: 2)
        let damaged = try farm.advance(to: .tile(0))
        let late = try #require(farm.running.first { $0.id != damaged.id })
        farm.fail(damaged, .damagedCanvas)
        farm.finish(late)
        #expect(ends(farm, of: late) == ["dropped"])
        farm.finishAll()
        #expect(farm.leases.filter { $0.task.kind == late.task.kind }.map(\.round) == [0, 1])
        #expect(farm.published.count == 1)
    }

    @Test func `what still comes of a frame that has failed is dropped`() throws {
        var farm = Farm(.make(.make(shard: .tile), workers: 2))
        farm.begin(workers: 2)
        let broken = try farm.advance(to: .tile(0))
        let late = try #require(farm.running.first { $0.id != broken.id })
        farm.fail(broken, .value)
        farm.finish(late)
        #expect(ends(farm, of: late) == ["dropped"])
        #expect(farm.finished == .some(nil))
    }
}
