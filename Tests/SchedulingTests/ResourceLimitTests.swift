import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// A machine that has no more threads, open files or memory for its workers.
@Suite struct ResourceLimitTests {
    private static let words = "cannot start a thread"

    @Test func `a shortage that passes costs nothing`() throws {
        var farm = Farm(.make(.make(shard: .frame, retries: 2)))
        farm.begin()
        for seconds in [30.0, 60] {
            farm.fail(try farm.advance(to: .frame), .resourceLimit, Self.words)
            farm.send(.tick, at: .seconds(seconds))
        }
        farm.finishAll()
        #expect(farm.published == ["/jobs/out/1.png"])
        #expect(farm.finished == .some(nil))
        #expect(farm.retired == [])
    }

    @Test func `a shortage that lasts stops the run, and blames no picture`() throws {
        var farm = Farm(.make(.make(shard: .frame, retries: 2)))
        farm.begin(frames: 2)
        var time = 0.0
        while farm.finished == nil, time < 1000 {
            while let lease = farm.running.first {
                if lease.task.kind == .frame {
                    farm.fail(lease, .resourceLimit, Self.words)
                } else {
                    farm.finish(lease)
                }
            }
            for worker in farm.killed { farm.send(.workerLost(worker, Death(.byOrder))) }
            time += 30
            farm.send(.tick, at: .seconds(time))
        }
        #expect(farm.finished == .some(.resourceLimit(Self.words)))
        #expect(farm.outcomes.values.allSatisfy { $0 == .left })
        #expect(farm.published == [])
    }
}
