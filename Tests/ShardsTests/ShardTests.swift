import JobModel
import Scheduling
import Shards
import Testing
import WorkerProtocol

private let nothing = TaskSpec.compare(DigestTask(files: []))

private func lease(_ number: Int, worker: WorkerID = WorkerID(1), estimate: Double = 0) -> Lease {
    Lease(
        id: LeaseID(number), task: TaskID(FrameID(number), .frame), attempt: 1, round: 0, worker: worker,
        deadline: Timestamp(.seconds(60)), timeLimit: .seconds(60), estimate: estimate, spec: nothing)
}

private func at(_ milliseconds: Int) -> Timestamp { Timestamp(.milliseconds(milliseconds)) }

@Suite struct ShardTaskTests {
    @Test func `an element learns the size of a picture, by which it limits its workers`() throws {
        let lease = Lease(
            id: LeaseID(1), task: TaskID(FrameID(1), .frame), attempt: 1, round: 0, worker: WorkerID(1),
            deadline: Timestamp(.seconds(60)), timeLimit: .seconds(60), pixelBytes: 7, spec: nothing)
        let stored = try FrameCodec.json(Shard.Task(lease))
        let task = try FrameCodec.decode(Shard.Task.self, from: stored, within: .shards)
        #expect(task.pixelBytes == 7)
        #expect(
            try FrameCodec.decode(Shard.Task.self, from: FrameCodec.json(Shard.Task(Self.unknown)), within: .shards)
                .pixelBytes == nil)
    }

    private static let unknown = lease(1)
}

@Suite struct ShardBatcherTests {
    private func sizes(_ estimates: [Double], seconds: Double, cores: Int) -> [Int] {
        var gathering = ShardBatcher(seconds: seconds, cores: cores)
        for (number, estimate) in estimates.enumerated() { gathering.add(lease(number, estimate: estimate), at: at(0)) }
        return gathering.take(1000, at: at(300)).map(\.count)
    }

    @Test func `a shard is as much as an element's cores do in the time that is wanted`() {
        #expect(sizes(Array(repeating: 1, count: 25), seconds: 5, cores: 2) == [10, 10, 5])
    }

    @Test func `what is too much for a shard is one of its own, with a task for each core`() {
        #expect(sizes([100, 100, 100], seconds: 5, cores: 1) == [1, 1, 1])
        #expect(sizes([100, 100, 100, 100], seconds: 5, cores: 2) == [2, 2])
    }

    @Test func `tasks that cost nothing are not gathered without end`() {
        #expect(sizes(Array(repeating: 0, count: 2500), seconds: 60, cores: 1) == [1000, 1000, 500])
    }

    @Test func `nothing is handed on while more comes`() {
        var gathering = ShardBatcher(seconds: 5, cores: 1)
        gathering.add(lease(1, estimate: 1), at: at(0))
        #expect(gathering.take(10, at: at(200)).isEmpty)
        gathering.add(lease(2, estimate: 1), at: at(250))
        #expect(gathering.take(10, at: at(400)).isEmpty)
        #expect(gathering.take(10, at: at(550)).map(\.count) == [2])
        #expect(gathering.take(10, at: at(900)).isEmpty)
    }

    @Test func `a task that the run wants no more is in no shard`() {
        var gathering = ShardBatcher(seconds: 5, cores: 1)
        gathering.add(lease(1), at: at(0))
        gathering.add(lease(2), at: at(0))
        let (wasThere, isThere) = (gathering.remove(LeaseID(1)), gathering.remove(LeaseID(1)))
        #expect(wasThere && !isThere)
        #expect(gathering.take(10, at: at(300)).map { $0.map(\.id) } == [[LeaseID(2)]])
    }
}

@Suite struct VirtualWorkersTests {
    private func workers(_ events: [Event]) -> [String] {
        events.map { event in
            switch event {
            case .workerReady(let worker): "ready \(worker.number) in \(worker.slot.number)"
            case .workerLost(let worker, let death): "lost \(worker.number): \(death.manner), \(death.lastWords)"
            case .report(let worker, .inPlugins(_, let names)): "\(worker.number) in \(names)"
            case .report(let worker, _): "report of \(worker.number)"
            default: "\(event)"
            }
        }
    }

    @Test func `every slot has its worker, and who dies is followed by another`() {
        var book = VirtualWorkers()
        #expect(workers(book.open(to: 2)) == ["ready 1 in 1", "ready 2 in 2"])
        #expect(book.open(to: 2).isEmpty)
        book.start(lease(5, worker: WorkerID(1, slot: SlotID(1))))
        let end = TaskEnd(LeaseID(5), .died(Death(.signal(11), lastWords: "ouch"), inPlugins: ["Grain"]))
        #expect(
            workers(book.end(end, location: "element 12_3 on n2, see /l")) == [
                "1 in [\"Grain\"]", "lost 1: signal(11), ouch; element 12_3 on n2, see /l", "ready 3 in 1",
            ])
        #expect(!book.holds(LeaseID(5)))
        #expect(book.end(end, location: "").isEmpty, "the same again, from an element that ran twice")
    }

    @Test func `what is reported for a lease that was given up is dropped`() {
        var book = VirtualWorkers()
        _ = book.open(to: 1)
        let worker = WorkerID(1, slot: SlotID(1))
        book.start(lease(5, worker: worker))
        #expect(workers(book.dismiss(worker)) == ["lost 1: byOrder, ", "ready 2 in 1"])
        #expect(book.end(TaskEnd(LeaseID(5), .done(.check)), location: "").isEmpty)
        #expect(book.dismiss(worker).isEmpty)
        #expect(workers(book.retire(SlotID(1))) == ["lost 2: byOrder, "])
    }
}

@Suite struct ShardTests {
    @Test func `an attempt writes under names of its own, which begin as the run's do`() {
        let frame = FrameTask(
            input: InputSpec(path: "/in.png", maxPixels: 1, color: .keep), chain: [],
            outputs: [
                FrameTask.Output(
                    OutputSpec(format: "png", save: SaveOptions()), temporaryPath: "/out/.penumbra-r-1-frame-1.1",
                    name: "in.png")
            ], tileMemory: 1, frameMemory: 1, syncs: false)
        guard case .frame(let written) = TaskSpec.frame(frame).written(by: "a1b2") else { return }
        #expect(written.outputs.map(\.temporaryPath) == ["/out/.penumbra-r-1-frame-1.1.a1b2"])
        #expect(written.syncs, "another machine publishes it")
        #expect(TaskSpec.frame(frame).withoutNames == TaskSpec.frame(written).withoutNames)
    }

    @Test func `versions that differ are named, both of each`() {
        #expect(VersionDifference(wanted: ["a": "1"], found: ["a": "1"]) == nil)
        #expect(
            VersionDifference(wanted: ["a": "1", "b": "2"], found: ["a": "3", "c": "4"])?.words
                == "a 3 instead of 1, b missing instead of 2, c 4 instead of none")
    }
}
