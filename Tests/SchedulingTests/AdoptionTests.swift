import Catalogs
import Geometry
import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Work of an earlier coordinator, pauses, and the record of attempts.
@Suite struct AdoptionTests {
    private let canvas = CanvasReceipt(
        canvas: CanvasReference(
            path: "/scratch/1/canvas-1.4", rect: ProbeReceipt.make().source.rect, layout: .rgb, format: .u8,
            cells: Digest(high: 1, low: 1)),
        metadataPath: "/scratch/1/metadata-1.4", metadataDigest: Digest(high: 1, low: 1), source: FileFacts.make())

    private func order(_ work: AdoptedWork) -> FrameOrder {
        FrameOrder(
            id: FrameID(1), input: "/jobs/1.png", formats: ["png"],
            goal: .publish(outputs: ["/jobs/out/1.png"], probe: nil), adopted: work)
    }

    private func begin(_ work: AdoptedWork, _ job: JobSpec = .make(shard: .tile)) -> Farm {
        var farm = Farm(.make(job))
        farm.send(.tick)
        for number in 1...2 { farm.send(.workerReady(WorkerID(number))) }
        farm.offer([order(work)])
        return farm
    }

    private func tiles(_ indices: Int...) -> AdoptedWork {
        let probe = ProbeReceipt.make()
        let receipts = indices.map { index in
            (
                index,
                TileReceipt(
                    rect: probe.grid[index], digest: Digest(high: 3, low: 4), path: "/scratch/1/tile-\(index)-1.7")
            )
        }
        return .tiles(probe, canvas, Dictionary(receipts) { $1 })
    }

    @Test func `tiles that are there are not rendered again`() {
        var farm = begin(tiles(0, 3))
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.tile(1), .tile(2), .stitch])
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `a frame whose tiles are all there is stitched at once`() {
        var farm = begin(tiles(0, 1, 2, 3))
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.stitch])
    }

    @Test func `an adopted tile that is damaged is rendered again`() throws {
        var farm = begin(tiles(0, 1, 2, 3))
        farm.fail(try farm.advance(to: .stitch), .damagedTile(index: 2))
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.stitch, .tile(2), .stitch])
        #expect(farm.published.count == 1)
    }

    @Test(arguments: [VerifyLevel.digest, .audit, .full])
    func `outputs that are there are verified as the job says, and published`(verify: VerifyLevel) {
        let source = FileFacts.make()
        let work = AdoptedWork.outputs(.make(), [.make(path: "/jobs/out/.penumbra-run-1-frame-1.3")], of: source)
        var farm = begin(work, .make(verify: verify))
        farm.finishAll()
        let expected: [TaskKind] =
            switch verify {
            case .digest: []
            case .audit: [.audit]
            case .full: [.audit, .check]
            }
        #expect(farm.leases.map(\.task.kind) == expected)
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test(arguments: [
        "/home/me/key", "/jobs/out/1.png", "/jobs/out/.penumbra-run-2-frame-1.3",
        "/jobs/out/.penumbra-run-1-frame-1/../key",
        "/jobs/out/.penumbra-other-1-frame-1.3", "/jobs/.penumbra-run-1-frame-1.3",
    ]) func `outputs that no attempt at the frame can have written are not adopted, and the frame is rendered`(
        path: String
    ) {
        var farm = begin(.outputs(.make(), [.make(path: path)], of: .make()), .make(shard: .frame))
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.probe, .frame])
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `a tile that no attempt at it can have written is rendered`() {
        let probe = ProbeReceipt.make()
        let other = TileReceipt(rect: probe.grid[0], digest: Digest(high: 3, low: 4), path: "/home/me/key")
        var farm = begin(.tiles(probe, canvas, [0: other, 9: other]))
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.tile(0), .tile(1), .tile(2), .tile(3), .stitch])
    }

    @Test func `a paused run ends what has begun, and begins nothing`() {
        var farm = Farm()
        farm.begin(workers: 2, frames: 2)
        farm.send(.pause(true))
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.probe, .probe])
        #expect(farm.finished == nil)
        farm.send(.pause(false))
        farm.finishAll()
        #expect(farm.published.count == 2)
        #expect(farm.finished == .some(nil))
    }

    @Test func `a worker limit is lowered and raised while a run goes on`() {
        var farm = Farm(.make(workers: 3, frames: 6))
        farm.send(.limitWorkers(1))
        farm.begin(workers: 3, frames: 6)
        #expect(farm.slots == 1)
        #expect(farm.running.count == 1)
        farm.finish(farm.running[0])
        #expect(farm.running.count == 1)
        farm.send(.limitWorkers(3))
        #expect(farm.running.count == 3)
        // What runs comes to its end.
        farm.send(.limitWorkers(2))
        #expect(farm.running.count == 3)
        farm.finish(farm.running[0])
        #expect(farm.running.count == 2)
        farm.send(.limitWorkers(0))
        farm.finish(farm.running[0])
        farm.finish(farm.running[0])
        #expect(farm.running.count == 0)
        #expect(farm.finished == nil)
        farm.send(.limitWorkers(nil))
        #expect(farm.running.count == 3)
        farm.finishAll()
        #expect(farm.published.count == 6)
        #expect(farm.finished == .some(nil))
        #expect(farm.killed.isEmpty)
    }

    @Test func `every attempt's end is told once`() {
        var farm = Farm(.make(workers: 1))
        farm.begin(workers: 1, frames: 1)
        farm.die(farm.running[0], .killed, replacement: 2)
        farm.fail(farm.running[0], .transient)
        farm.send(.tick, at: farm.now + .seconds(60))
        farm.finishAll()
        #expect(farm.ends.map(\.0) == farm.leases.map(\.id))
        #expect(farm.ends.map(\.1) == ["lost", "failed", "done", "done"])
    }

    @Test func `a worker that greets twice goes on with its work`() {
        var farm = Farm()
        farm.begin(workers: 1, frames: 1)
        farm.send(.workerReady(WorkerID(1)))
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.probe, .frame])
        #expect(farm.published.count == 1)
        #expect(farm.finished == .some(nil))
    }

    @Test func `a result that comes after the time limit is dropped, and told as its worker's loss`() {
        var farm = Farm()
        farm.begin(workers: 1, frames: 1)
        let late = farm.running[0]
        farm.send(.tick, at: farm.now + .seconds(11))
        #expect(farm.killed == [WorkerID(1)])
        farm.finish(late)
        #expect(farm.ends.isEmpty)
        farm.send(.workerLost(WorkerID(1), Death(.byOrder)))
        #expect(farm.ends.map(\.1) == ["lost"])
        #expect(farm.outcomes.isEmpty)
    }
}
