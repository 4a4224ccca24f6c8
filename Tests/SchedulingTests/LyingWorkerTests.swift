import Catalogs
import Geometry
import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Workers whose answers do not fit their tasks.
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

    @Test(arguments: [
        (TaskKind.frame, TaskFailure.Kind.damagedTile(index: 0)), (.frame, .damagedCanvas), (.frame, .mismatch),
        (.probe, .damagedCanvas), (.frame, .plugin("gone")), (.frame, .plugin("gaussian")), (.probe, .plugin("gone")),
    ])
    func `a failure that cannot be of its task costs the worker, and not the picture`(
        kind: TaskKind, failure: TaskFailure.Kind
    ) throws {
        var farm = Farm(.make(workers: 1, plugins: ["gone"]))
        farm.begin(workers: 1)
        let lease = try farm.advance(to: kind)
        farm.fail(lease, failure, "no")
        #expect(farm.killed == [lease.worker])
        farm.die(lease, .byOrder, replacement: 2)
        farm.send(.tick, at: farm.now + .seconds(60))
        farm.finishAll()
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `a plugin that is not in the chain cannot stop the run`() throws {
        var farm = Farm(.make(.make(retries: 0), workers: 1, frames: 3))
        farm.begin(workers: 1, frames: 3)
        for number in 1...3 {
            let lease = try farm.advance(to: .frame)
            farm.send(.report(lease.worker, .inPlugins(lease.id, ["evil"])))
            #expect(farm.killed.last == lease.worker)
            farm.die(lease, .byOrder, replacement: number + 1)
        }
        #expect(farm.finished == .some(nil))
        #expect(
            farm.outcomes[FrameID(1)]
                == .failed(
                    FrameFailure(
                        .crash,
                        "the worker sent what is no answer to its task: that it is in the plugin 'evil', which is not in its "
                            + "chain")))
    }

    /// With each number as large as the checks allow.
    @Test(arguments: [ShardMode.auto, .tile])
    func `a probe of numbers that are as large as is believed traps nothing`(mode: ShardMode) throws {
        let picture = ImageFacts(
            fileFormat: "png", width: 1 << 20, height: 1 << 20, layout: .rgba, format: .f32)
        let grid = TileGrid(extent: picture.rect, tileWidth: 1 << 20, tileHeight: 1 << 19)
        let wide = PixelRect(x: -(1 << 31), y: 1 << 31, width: 1 << 22, height: 1 << 22)
        let most = 1e7
        let probe = ProbeReceipt(
            source: picture, pages: 1 << 16, outputs: [OutputGeometry(extent: picture.rect)], layout: .rgba,
            halo: Halo(horizontal: 1 << 31, vertical: 1 << 31), grid: grid,
            tileSources: Array(repeating: Array(repeating: wide, count: 1 << 16), count: 2), readAmplification: 1e6,
            isIdentity: false, passage: FramePassage(heldBecause: nil, bytes: 1 << 60),
            cost: FrameCost(decode: 0, chain: most, encode: 0))
        var farm = Farm(.make(.make(shard: mode), workers: 8, time: .auto), probe: probe)
        farm.begin(workers: 1)
        if mode == .tile {
            let lease = try farm.advance(to: .canvas)
            guard case .canvas(let task) = lease.spec else { return }
            let canvas = CanvasReceipt(
                canvas: CanvasReference(
                    path: task.canvasPath, rect: picture.rect, layout: .rgba, format: .f32,
                    cells: Digest(high: 1, low: 1)),
                metadataPath: task.metadataPath, metadataDigest: Digest(high: 1, low: 1), source: .make())
            farm.take(lease)
            farm.send(.report(lease.worker, .finished(lease.id, .canvas(canvas))))
            _ = try farm.advance(to: .tile(1))
        } else {
            farm.finishAll()
        }
        #expect(farm.killed.isEmpty)
        let year = Duration.seconds(365 * 24 * 3600)
        #expect(farm.leases.allSatisfy { $0.timeLimit <= year })
        #expect(farm.leases.last?.timeLimit == year)
    }

    @Test func `a picture of another size than was foretold is not believed`() throws {
        var probe = ProbeReceipt.make()
        probe.stamp = FileFacts.make().stamp
        var farm = Farm(.make(workers: 1), probe: probe)
        farm.begin(workers: 1)
        let lease = try farm.advance(to: .frame)
        guard case .frame(let task) = lease.spec, let path = task.outputs[0].temporaryPath else { return }
        farm.send(
            .report(
                lease.worker,
                .finished(lease.id, .outputs([.make(path: path, height: 1, width: 1)], of: .make()))))
        #expect(farm.killed == [lease.worker])
        #expect(farm.published == [])
    }

    @Test func `what it says after that is not heard`() throws {
        var farm = Farm(.make(workers: 1))
        farm.begin(workers: 1)
        let lease = try lie(&farm, about: .frame, .check)
        farm.finish(lease)
        #expect(farm.published == [])
    }
}
