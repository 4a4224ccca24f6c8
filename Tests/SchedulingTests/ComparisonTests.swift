import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Files that are compared before a frame is rendered; runs that are drained; failures that stop a job.
@Suite struct ComparisonTests {
    private func order(_ number: Int) -> FrameOrder {
        FrameOrder(
            id: FrameID(number), input: "/jobs/\(number).png",
            compared: [DigestTask.File(path: "/jobs/\(number).png")],
            formats: ["png"], goal: .publish(outputs: [nil], probe: nil))
    }

    private func offer(_ farm: inout Farm) {
        farm.send(.tick)
        farm.send(.workerReady(WorkerID(1)))
        farm.offer([order(1)])
    }

    private func finishAll(_ farm: inout Farm) {
        while let lease = farm.running.first { farm.finish(lease) }
    }

    @Test func `a frame that nothing is to be done for is settled without being probed`() {
        var farm = Farm()
        offer(&farm)
        finishAll(&farm)
        #expect(farm.leases.map(\.task.kind) == [.compare])
        #expect(farm.compared[FrameID(1)]?.count == 1)
        #expect(farm.outcomes[FrameID(1)] == .settled)
    }

    @Test func `progress names the picture, also while a copy of it is read`() {
        var farm = Farm()
        farm.send(.tick)
        farm.send(.workerReady(WorkerID(1)))
        farm.offer([
            FrameOrder(
                id: FrameID(1), input: "/photos/cat.jpg", compared: [DigestTask.File(path: "/state/47-5d6b")],
                formats: ["png"], goal: .publish(outputs: [nil], probe: nil))
        ])
        let progress = farm.scheduler.progress()
        #expect(progress.running.map(\.task.kind) == [.compare])
        #expect(progress.pictures == [FrameID(1): "/photos/cat.jpg"])
    }

    @Test func `a frame that has changed is rendered to the paths that were decided`() {
        var farm = Farm()
        farm.decision = .render(outputs: ["/jobs/out/new.png"])
        offer(&farm)
        finishAll(&farm)
        #expect(farm.leases.map(\.task.kind) == [.compare, .probe, .frame])
        #expect(farm.published == ["/jobs/out/new.png"])
    }

    @Test func `a drained run ends what has begun, and leaves the rest`() {
        var farm = Farm()
        farm.begin(workers: 1, frames: 2)
        if let probe = farm.running.first { farm.finish(probe) }
        let rendering = farm.running.first
        farm.send(.drain)
        if let rendering { farm.finish(rendering) }
        finishAll(&farm)
        #expect(farm.finished == .some(.deadline))
        #expect(Set(farm.outcomes.values.map { $0 == .left }) == [true, false] || farm.published.isEmpty)
        #expect(farm.running.isEmpty)
    }

    @Test(arguments: [Event.stop(.interrupted(signal: 15)), .drain])
    func `frames that are on their way when a run ends are left, not lost`(end: Event) {
        var farm = Farm()
        farm.send(.tick)
        #expect(farm.wanted > 0)
        farm.send(end)
        #expect(farm.finished == nil)
        farm.send(.frames([order(1)], wanted: farm.wanted))
        #expect(farm.outcomes == [FrameID(1): .left])
        #expect(farm.finished != nil)
    }

    @Test func `so many failures stop a run, and fewer do not`() {
        let limit = FailureLimit.percent(10)
        #expect(limit.count(of: 50) == 20)
        #expect(limit.count(of: 1000) == 101)
        #expect(FailureLimit.count(3).count(of: 1000) == 3)
        #expect(FailureLimit.none.count(of: 1000) == nil)
    }
}
