import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// The same events give the same directives, whatever order a dictionary has in this process.
@Suite struct OrderTests {
    @Test func `leases that expire at once are ended in the order in which they were given`() {
        var farm = Farm(.make(workers: 40, frames: 40))
        farm.begin(workers: 40, frames: 40)
        #expect(farm.running.count == 40)
        farm.send(.tick, at: .seconds(10))
        #expect(farm.killed == (1...40).map { WorkerID($0) })
    }

    @Test func `tasks that are due at once come back with the lowest frame first`() throws {
        var farm = Farm(.make(workers: 40, frames: 40))
        farm.begin(workers: 40, frames: 40)
        for lease in farm.running.reversed() { farm.fail(lease, .transient) }
        #expect(farm.running.isEmpty)
        farm.send(.tick, at: .seconds(1))
        #expect(farm.running.map(\.worker) == (1...40).map { WorkerID($0) })
        // Each worker leaves the task that failed with it to the next one.
        #expect(farm.running.map(\.task.frame.number) == (1...40).map { $0 % 2 == 0 ? $0 - 1 : $0 + 1 })
    }

    @Test func `the idle worker with the lowest number is the first to be given a task`() {
        var farm = Farm(.make(workers: 3, frames: 1))
        farm.send(.tick)
        for number in [7, 3, 5] { farm.send(.workerReady(WorkerID(number))) }
        farm.offer([.make(1)])
        #expect(farm.running.map(\.worker) == [WorkerID(3)])
    }

    @Test func `what falls due comes soonest first, and at the same time in the order of adding`() {
        var queue = DeadlineQueue<String>()
        for (item, time) in [("c", 3.0), ("a", 1), ("b", 1), ("d", 4)] { queue.add(item, at: .seconds(time)) }
        #expect(queue.popDue(at: .seconds(0.5)) == nil)
        #expect((0..<4).map { _ in queue.popDue(at: .seconds(3)) } == ["a", "b", "c", nil])
        #expect(queue.soonest == .seconds(4))
    }

    @Test func `leases that ended do not pile up until they would have expired`() {
        var farm = Farm(.make(workers: 1, frames: 200))
        farm.begin(workers: 1, frames: 200)
        farm.finishAll()
        #expect(farm.leases.count == 400)
        #expect(farm.scheduler.contradictions == [])
    }

    @Test func `an queue lets go of what is void once that is most of it`() {
        var queue = DeadlineQueue<Int>()
        for number in 1...1000 { queue.add(number, at: .seconds(Double(number))) }
        queue.prune(downTo: 500) { $0 > 990 }
        #expect(queue.count == 1000)
        queue.prune(downTo: 10) { $0 > 990 }
        #expect(queue.count == 10)
        #expect(queue.popDue(at: .seconds(2000)) == 991)
    }
}
