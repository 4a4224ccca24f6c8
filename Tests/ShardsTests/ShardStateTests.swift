import Catalogs
import Geometry
import JobModel
import Scheduling
import Shards
import Testing
import WorkerProtocol

private let nothing = TaskSpec.compare(DigestTask(files: []))

private let grainy = TaskSpec.tile(
    TileTask(
        canvas: CanvasReference(path: "/s/canvas", rect: .empty, layout: .rgb, format: .u8),
        chain: [FilterInvocation(filter: "Grain", values: [:])], rect: .empty, tilePath: "/s/tile"))

private func at(_ milliseconds: Int) -> Timestamp { Timestamp(.milliseconds(milliseconds)) }

@Suite struct ShardStateTests {
    private var desk = ShardState(
        [1, 2].map { Shard.Task(lease: LeaseID($0), timeLimit: .seconds(60), spec: nothing) }, workers: 1,
        silence: .seconds(30))

    /// Time passes in steps, or the state takes itself for stopped.
    private mutating func wait(from begin: Int, to end: Int, hearing worker: WorkerID? = nil) -> [ShardState.Action] {
        stride(from: begin, through: end, by: 1).flatMap { second -> [ShardState.Action] in
            if let worker { _ = desk.handle(.report(worker, .alive), at: at(second * 1000)) }
            return desk.handle(.tick, at: at(second * 1000))
        }
    }

    private func begun(_ actions: [ShardState.Action]) -> [Int] {
        actions.compactMap { if case .begun(let lease) = $0 { lease.number } else { nil } }
    }

    private func ended(_ actions: [ShardState.Action]) -> [TaskEnd] {
        actions.compactMap { if case .ended(let end) = $0 { end } else { nil } }
    }

    @Test mutating func `one task after the other`() {
        #expect(begun(desk.handle(.workerReady(WorkerID(1)), at: at(0))) == [1])
        let next = desk.handle(.report(WorkerID(1), .finished(LeaseID(1), .compare([]))), at: at(1))
        #expect(ended(next) == [TaskEnd(LeaseID(1), .done(.compare([])))])
        #expect(begun(next) == [2])
        #expect(!desk.isDone)
        _ = desk.handle(.report(WorkerID(1), .failed(LeaseID(2), TaskFailure(.data, "broken"))), at: at(2))
        #expect(desk.isDone)
    }

    @Test mutating func `a worker that greets twice has one task at a time`() {
        #expect(begun(desk.handle(.workerReady(WorkerID(1)), at: at(0))) == [1])
        #expect(desk.handle(.workerReady(WorkerID(1)), at: at(1)).isEmpty)
        let next = desk.handle(.report(WorkerID(1), .finished(LeaseID(1), .compare([]))), at: at(2))
        #expect(ended(next).map(\.lease) == [LeaseID(1)])
        #expect(begun(next) == [2])
    }

    @Test mutating func `a worker that speaks before it greets gets work once it greets`() {
        #expect(desk.handle(.report(WorkerID(1), .alive), at: at(0)).isEmpty)
        #expect(begun(desk.handle(.workerReady(WorkerID(1)), at: at(1))) == [1])
    }

    @Test mutating func `a worker's death is reported if the next worker dies in the same way`() {
        desk = ShardState(
            [Shard.Task(lease: LeaseID(1), timeLimit: .seconds(60), spec: grainy)], workers: 1,
            silence: .seconds(30))
        _ = desk.handle(.workerReady(WorkerID(1)), at: at(0))
        #expect(ended(desk.handle(.workerLost(WorkerID(1), Death(.signal(11))), at: at(1))).isEmpty)
        let again = desk.handle(.workerReady(WorkerID(2)), at: at(2))
        #expect(begun(again) == [1])
        guard case .start(let lease) = again.last else {
            Issue.record("nothing is started")
            return
        }
        #expect(lease.attempt == 2, "its files have other names")
        _ = desk.handle(.report(WorkerID(2), .inPlugins(LeaseID(1), ["Grain"])), at: at(3))
        #expect(
            ended(desk.handle(.workerLost(WorkerID(2), Death(.signal(11))), at: at(4))) == [
                TaskEnd(LeaseID(1), .died(Death(.signal(11)), inPlugins: ["Grain"]))
            ])
    }

    @Test(arguments: [
        Report.inPlugins(LeaseID(1), ["Halftone"]),
        .failed(LeaseID(1), TaskFailure(.plugin("Halftone"), "no")), .failed(LeaseID(1), TaskFailure(.mismatch, "no")),
        .failed(LeaseID(1), TaskFailure(.damagedTile(index: 0), "no")),
    ])
    func `a worker that says what cannot be of its task is ended, and the task tried again`(report: Report) {
        var desk = ShardState(
            [Shard.Task(lease: LeaseID(1), timeLimit: .seconds(60), spec: grainy)], workers: 1,
            silence: .seconds(30))
        _ = desk.handle(.workerReady(WorkerID(1)), at: at(0))
        #expect(desk.handle(.report(WorkerID(1), report), at: at(1)) == [.kill(WorkerID(1))])
        #expect(desk.handle(.report(WorkerID(1), report), at: at(2)).isEmpty)
        #expect(desk.handle(.workerLost(WorkerID(1), Death(.byOrder)), at: at(3)).isEmpty)
        #expect(begun(desk.handle(.workerReady(WorkerID(2)), at: at(4))) == [1])
    }

    @Test mutating func `a task over its time is ended, and not tried again here`() {
        _ = desk.handle(.workerReady(WorkerID(1)), at: at(0))
        #expect(wait(from: 1, to: 59, hearing: WorkerID(1)).isEmpty)
        #expect(wait(from: 60, to: 61, hearing: WorkerID(1)) == [.kill(WorkerID(1))])
        #expect(
            ended(desk.handle(.workerLost(WorkerID(1), Death(.byOrder)), at: at(62_000))) == [
                TaskEnd(LeaseID(1), .died(Death(.byOrder), inPlugins: []))
            ])
    }

    @Test mutating func `a worker that says nothing is ended, and its task tried again`() {
        _ = desk.handle(.workerReady(WorkerID(1)), at: at(0))
        #expect(wait(from: 1, to: 29).isEmpty)
        #expect(wait(from: 30, to: 31) == [.kill(WorkerID(1))])
        #expect(ended(desk.handle(.workerLost(WorkerID(1), Death(.byOrder)), at: at(32_000))).isEmpty)
        #expect(begun(desk.handle(.workerReady(WorkerID(2)), at: at(32_100))) == [1])
    }

    @Test mutating func `an element that was stopped itself blames nobody`() {
        _ = desk.handle(.workerReady(WorkerID(1)), at: at(0))
        #expect(desk.handle(.tick, at: at(500_000)).isEmpty)
    }

    @Test mutating func `workers that never become ready end the element`() {
        let death = Death(.failedToStart("penumbra-worker: no such file"))
        let actions = (1...3).flatMap { desk.handle(.workerLost(WorkerID($0), death), at: at($0)) }
        #expect(actions == [.abandon("penumbra-worker: no such file")])
    }

    @Test(arguments: 0..<300) func `workers may die at any moment: no task waits for a time limit`(seed: UInt64) {
        var farm = MortalFarm(seed: seed)
        farm.run()
        #expect(farm.ended == Set(1...40))
        #expect(!farm.hadOneTwice)
    }

    private let encoding = OutputEncoding(
        encoder: "libpng", layout: .gray, samples: .u8, frames: 1, shrink: 1, penumbra: "0.1.0")
    private let image = ImageFacts(fileFormat: "png", width: 1, height: 1, layout: .gray, format: .u8)

    private func written(_ digest: UInt64) -> TaskReceipt {
        let receipt = OutputReceipt(
            path: "/o.png", digest: Digest(high: 0, low: digest), bytes: 4, image: image, bands: [],
            pixels: EncodedPixels(digest: Digest(high: 1, low: 1), encoding: encoding))
        return .outputs([receipt], of: nil)
    }

    private func looked(_ digest: UInt64) -> TaskReceipt {
        let stamp = FileStamp(device: 1, inode: 1, size: 4, modified: 1, changed: 1)
        return .compare([FileFacts(stamp: stamp, digest: Digest(high: 0, low: digest))])
    }

    private func first(_ actions: [ShardState.Action]) -> TaskSpec? {
        actions.lazy.compactMap { if case .start(let lease) = $0 { lease.spec } else { nil } }.first
    }

    @Test func `what an earlier attempt wrote counts when its bytes are what it said`() {
        let task = Shard.Task(lease: LeaseID(1), timeLimit: .seconds(60), spec: nothing, earlier: written(5))
        var desk = ShardState([task], workers: 1, silence: .seconds(30))
        #expect(
            first(desk.handle(.workerReady(WorkerID(1)), at: at(0)))
                == .compare(DigestTask(files: [DigestTask.File(path: "/o.png")])))
        #expect(
            ended(desk.handle(.report(WorkerID(1), .finished(LeaseID(1), looked(5))), at: at(1))) == [
                TaskEnd(LeaseID(1), .done(written(5)))
            ])
        #expect(desk.isDone)
    }

    @Test(arguments: [false, true]) func `what is there no more as it was is made again`(isGone: Bool) {
        let task = Shard.Task(lease: LeaseID(1), timeLimit: .seconds(60), spec: nothing, earlier: written(5))
        var desk = ShardState([task], workers: 1, silence: .seconds(30))
        _ = desk.handle(.workerReady(WorkerID(1)), at: at(0))
        let found = isGone ? TaskReceipt.compare([nil]) : looked(6)
        let next = desk.handle(.report(WorkerID(1), .finished(LeaseID(1), found)), at: at(1))
        #expect(ended(next).isEmpty)
        #expect(first(next) == nothing)
        #expect(
            ended(desk.handle(.report(WorkerID(1), .finished(LeaseID(1), .compare([]))), at: at(2))) == [
                TaskEnd(LeaseID(1), .done(.compare([])))
            ])
    }
}
