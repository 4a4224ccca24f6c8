import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Slots that fail where others do not, and pictures that fail everywhere.
@Suite struct SlotTests {
    @Test(arguments: 0..<60)
    func `a farm with one bad slot of four finishes every good picture`(seed: Int) {
        var farm = SlotFarm(seed: UInt64(seed), slots: 4, frames: 30, badSlots: [2])
        farm.run()
        #expect(farm.outcomes.values.allSatisfy { $0.isPublished } && farm.outcomes.count == 30)
        #expect(farm.finished == .some(nil))
        // A bad slot that gets few tasks may not reach three failures.
        #expect(Set(farm.retired.map(\.slot)).isSubset(of: [SlotID(2)]))
    }

    @Test(arguments: [false, true])
    func `most bad slots are found out, those too that can look at files`(canLook: Bool) {
        let found = (0..<60).count { seed in
            var farm = SlotFarm(seed: UInt64(seed), slots: 4, frames: 30, badSlots: [2], canLook: canLook)
            farm.run()
            return farm.retired.map(\.slot) == [SlotID(2)]
        }
        #expect(found >= 55, "only \(found) of 60")
    }

    @Test(arguments: 0..<60)
    func `bad pictures retire no slot, and fail alone`(seed: Int) {
        for slots in [1, 2, 4] {
            var farm = SlotFarm(
                seed: UInt64(seed), slots: slots, frames: 30, badFrames: [1, 2, 3, 4, 5, 11, 12, 13, 20, 30])
            farm.run()
            #expect(farm.retired.isEmpty)
            #expect(farm.finished == .some(nil))
            #expect(farm.outcomes.values.count { $0.isPublished } == 20)
        }
    }

    @Test(arguments: [1, 2, 3])
    func `a run whose pictures are all bad ends with each of them set aside`(slots: Int) {
        var farm = SlotFarm(seed: 1, slots: slots, frames: 12, badFrames: Set(1...12))
        farm.run()
        #expect(farm.finished == .some(nil))
        #expect(farm.outcomes.values.count { !$0.isPublished } == 12)
        #expect(farm.retired.isEmpty)
    }

    @Test(arguments: 0..<20)
    func `with bad pictures and a bad slot each gets what it deserves`(seed: Int) {
        var farm = SlotFarm(seed: UInt64(seed), slots: 3, frames: 40, badFrames: [3, 14, 15], badSlots: [1])
        farm.run()
        #expect(farm.outcomes.values.count { $0.isPublished } == 37)
        #expect(Set(farm.retired.map(\.slot)).isSubset(of: [SlotID(1)]))
    }

    /// Names that need the size of each picture make a survey of headers, whose successes clear no faults.
    @Test(arguments: 3...5) func `the only slot is not to blame for what it did later`(failures: Int) throws {
        var farm = Farm(.make(workers: 1, frames: 6, time: .seconds(1e6)))
        farm.send(.tick)
        farm.send(.workerReady(WorkerID(1, slot: SlotID(1))))
        farm.offer((1...6).map { .make($0, goal: .survey) })
        var failed: Set<TaskID> = []
        while let lease = farm.running.first {
            if failed.count < failures, failed.insert(lease.task).inserted {
                farm.crash(lease, .brokeProtocol("noise"), replacement: 10 + failed.count)
                farm.send(.tick, at: farm.now + .seconds(60))
            } else {
                farm.finish(lease)
            }
        }
        #expect(failed.count == failures)
        #expect(farm.finished == .some(nil))
        #expect(farm.outcomes.count == 6)
    }

    private func twoSlots() -> Farm {
        var farm = Farm(.make(workers: 2, frames: 12, time: .seconds(1e6)))
        farm.begin(workers: 2, frames: 12)
        return farm
    }

    /// Slot 1 fails at several tasks in a row. Then slot 2 succeeds at everything.
    private func fail(_ count: Int, in farm: inout Farm, _ end: (inout Farm, Lease, Int) -> Void) throws {
        for number in 0..<count { end(&farm, try #require(farm.lease(in: 1)), 10 + number) }
        farm.send(.tick, at: farm.now + .seconds(60))
        while let lease = farm.lease(in: 2) { farm.finish(lease) }
    }

    @Test func `three pictures that only one slot fails on retire it, and its workers get no more`() throws {
        var farm = twoSlots()
        try fail(3, in: &farm) { $0.crash($1, .signal(11), replacement: $2) }
        #expect(farm.retired == [Retirement(slot: SlotID(1), pictures: 3, idleDeaths: 0)])
        let before = farm.leases.count
        farm.crash(try #require(farm.lease(in: 1)), .byOrder, replacement: 99)
        farm.finishAll()
        #expect(farm.leases.dropFirst(before).allSatisfy { $0.worker.slot == SlotID(2) })
        #expect(farm.published.count == 12)
    }

    @Test func `two pictures do not`() throws {
        var farm = twoSlots()
        try fail(2, in: &farm) { farm, lease, _ in farm.fail(lease, .transient) }
        #expect(farm.retired.isEmpty)
    }

    @Test func `what a retired slot's worker had begun is given to another, and counts as no crash`() throws {
        var farm = Farm(.make(.make(retries: 1), workers: 2, frames: 12, time: .seconds(1e6)))
        farm.begin(workers: 2, frames: 12)
        try fail(3, in: &farm) { farm, lease, _ in farm.fail(lease, .transient) }
        let begun = try #require(farm.lease(in: 1))
        farm.die(begun, .byOrder)
        let again = try #require(farm.lease(in: 2))
        #expect(again.task == begun.task)
        farm.die(again, .signal(11), replacement: nil)
        farm.send(.workerReady(WorkerID(50, slot: SlotID(2))))
        farm.send(.tick, at: farm.now + .seconds(60))
        farm.finishAll()
        #expect(farm.published.count == 12)
    }

    @Test(arguments: [TaskFailure.Kind.data, .value, .input, .permission, .limit, .output])
    func `what is the picture's own is no fault of the slot`(kind: TaskFailure.Kind) throws {
        var farm = twoSlots()
        for _ in 0..<6 { farm.fail(try #require(farm.lease(in: 1)), kind) }
        #expect(farm.retired.isEmpty)
    }

    @Test func `kills from outside are no fault of the slot`() throws {
        var farm = twoSlots()
        try fail(5, in: &farm) { $0.crash($1, .killed, replacement: $2) }
        #expect(farm.retired.isEmpty)
    }

    @Test func `workers that end while they have nothing to do retire their slot`() {
        var farm = Farm(.make(workers: 2, frames: 1))
        farm.send(.tick)
        for number in 1...3 {
            farm.send(.workerReady(WorkerID(number, slot: SlotID(1))))
            farm.send(.workerLost(WorkerID(number, slot: SlotID(1)), Death(.signal(11))))
        }
        #expect(farm.retired == [Retirement(slot: SlotID(1), pictures: 0, idleDeaths: 3)])
        #expect(farm.finished == nil)
    }

    @Test func `the last slot is not retired: the run stops and says why`() {
        var farm = Farm(.make(workers: 1, frames: 1))
        farm.send(.tick)
        for number in 1...3 {
            farm.send(.workerReady(WorkerID(number, slot: SlotID(1))))
            farm.send(.workerLost(WorkerID(number, slot: SlotID(1)), Death(.exited(1))))
        }
        farm.send(.frames([.make(1)], wanted: 2))
        #expect(farm.retired.isEmpty)
        #expect(farm.finished == .some(.lastSlot(Retirement(slot: SlotID(1), pictures: 0, idleDeaths: 3))))
        #expect(farm.outcomes == [FrameID(1): .left])
    }
}

extension Farm {
    fileprivate func lease(in slot: Int) -> Lease? { running.first { $0.worker.slot == SlotID(slot) } }

    /// A worker of slot 1 dies, and another process takes its place.
    fileprivate mutating func crash(_ lease: Lease, _ manner: Death.Manner, replacement: Int) {
        die(lease, manner)
        send(.workerReady(WorkerID(replacement, slot: SlotID(1))))
    }
}

extension FrameOutcome {
    fileprivate var isPublished: Bool {
        if case .published = self { true } else { false }
    }
}
