import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Small pictures, which the task that probes them renders, too.
@Suite struct SmallPictureTests {
    private static let order = FrameOrder.make(1, hasSmallFile: true)

    private func begin(
        _ job: JobSpec = .make(), workers: Int = 1, frames: Int = 1, joins: Bool = true, probe: ProbeReceipt = .make(),
        _ order: FrameOrder = Self.order
    ) -> Farm {
        var farm = Farm(.make(job, workers: workers, frames: frames, joinsSmallTasks: joins), probe: probe)
        farm.begin(workers: workers, [order])
        return farm
    }

    private func opening(_ lease: Lease) -> FrameTask.Opening? {
        guard case .frame(let task) = lease.spec else { return nil }
        return task.opening
    }

    @Test func `a small picture is probed, rendered and published after one task`() throws {
        var farm = begin()
        #expect(try opening(#require(farm.leases.first))?.mostSeconds == 0.5)
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.frame])
        #expect(farm.published == ["/jobs/out/1.png"])
        guard case .published(_, let probe)? = farm.outcomes[FrameID(1)] else {
            Issue.record("not published")
            return
        }
        #expect(probe.megapixels == 0.008)
    }

    @Test func `a small file with many pixels is rendered by a second task, under another name`() throws {
        var farm = begin(probe: .make(width: 2000, height: 1500))
        farm.finishAll()
        try #require(farm.leases.map(\.task.kind) == [.frame, .frame])
        let paths = farm.leases.map { lease -> String? in
            guard case .frame(let task) = lease.spec else { return nil }
            return task.outputs[0].temporaryPath
        }
        #expect(paths == ["/jobs/out/.penumbra-run-1-frame-1.1", "/jobs/out/.penumbra-run-1-frame-1.2"])
        #expect(opening(farm.leases[1]) == nil)
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `a small file with many pixels may be tiled`() {
        var farm = begin(
            workers: 8,
            probe: .make(
                width: 2000, height: 1500, tile: 500, cost: FrameCost(decode: 0.1, chain: 60, encode: 0.1)))
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind).prefix(3) == [.frame, .canvas, .tile(0)])
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test(arguments: [
        ProbeReceipt.make(width: 2001, height: 1000),
        .make(cost: FrameCost(decode: 0.1, chain: 0.31, encode: 0.1)),
        .make(heldBecause: "it is held", bytes: 1 << 30 + 1),
        .make(frames: 2),
    ])
    func `a picture with many pixels, seconds, bytes or frames is not small`(probe: ProbeReceipt) throws {
        var farm = begin(probe: probe)
        farm.finish(farm.leases[0])
        #expect(farm.leases.count == 2)
        #expect(farm.killed == [])
    }

    @Test func `with fewer pictures than workers, only a picture of a few milliseconds is rendered at once`() throws {
        let farm = begin(workers: 2)
        #expect(try opening(#require(farm.leases.first))?.mostSeconds == 0.02)
    }

    @Test func `a probe comes first for other pictures, other jobs and other engines`() {
        let others = [
            begin(.make(), FrameOrder.make(1)), begin(.make(shard: .tile)), begin(joins: false),
            begin(.make(), FrameOrder.make(1, goal: .survey, hasSmallFile: true)),
        ]
        for farm in others { #expect(farm.leases.map(\.task.kind) == [.probe]) }
    }

    @Test func `outputs of a picture that is not small cost the worker, and not the picture`() throws {
        var farm = begin(probe: .make(width: 2000, height: 1500))
        let lease = farm.leases[0]
        guard case .frame(let task) = lease.spec, let path = task.outputs[0].temporaryPath else {
            throw Farm.NothingRuns()
        }
        let receipt = TaskReceipt.opened(
            farm.probe, [.make(path: path, height: 1500, width: 2000)], of: .make())
        farm.send(.report(lease.worker, .finished(lease.id, receipt)))
        #expect(farm.killed == [lease.worker])
        #expect(farm.published == [])
        farm.die(lease, .byOrder, replacement: 2)
        farm.send(.tick, at: farm.now + .seconds(60))
        farm.finishAll()
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `outputs of another size than the worker's own probe says are not believed`() throws {
        var probe = ProbeReceipt.make()
        probe.stamp = FileFacts.make().stamp
        var farm = begin(probe: probe)
        // The builder's output is 768 pixels high, and the probe's is 80.
        let lease = farm.leases[0]
        farm.finish(lease)
        #expect(farm.killed == [lease.worker])
    }

    @Test func `its outputs are audited by another process, as those of other pictures`() {
        var farm = begin(.make(verify: .full), workers: 2, frames: 2)
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.frame, .audit, .check])
        #expect(farm.leases[1].worker != farm.leases[0].worker)
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `a run that drains finishes a picture that has begun, and leaves the others`() {
        var farm = begin()
        farm.send(.drain)
        farm.finishAll()
        #expect(farm.published == ["/jobs/out/1.png"])
        var large = begin(probe: .make(width: 2000, height: 1500))
        large.send(.drain)
        large.finishAll()
        #expect(large.outcomes[FrameID(1)] == .left)
        var waiting = Farm(.make(workers: 1, joinsSmallTasks: true))
        waiting.send(.tick)
        waiting.offer([Self.order])
        waiting.send(.drain)
        #expect(waiting.outcomes[FrameID(1)] == .left)
    }

    @Test func `a lost worker costs an attempt, and not the picture`() throws {
        var farm = begin()
        farm.die(farm.leases[0], .killed, replacement: 2)
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.frame, .frame])
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `the rendering has all its attempts, however many the probe took`() throws {
        var farm = begin(.make(retries: 2), probe: .make(width: 2000, height: 1500))
        for kind in [TaskFailure.Kind.transient, .transient, nil, .transient, .transient] {
            let lease = try #require(farm.running.first)
            if let kind { farm.fail(lease, kind) } else { farm.finish(lease) }
            if farm.running.isEmpty { farm.send(.tick, at: farm.now + .seconds(60)) }
        }
        farm.finishAll()
        #expect(farm.leases.map(\.attempt) == [1, 2, 3, 4, 5, 6])
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `a picture whose files were compared first is rendered to the paths that were decided`() throws {
        let order = FrameOrder(
            id: FrameID(1), input: "/jobs/1.png", compared: [DigestTask.File(path: "/jobs/1.png")], formats: ["png"],
            goal: .publish(outputs: ["/jobs/out/1.png"], probe: nil), hasSmallFile: true)
        var farm = Farm(.make(workers: 1, joinsSmallTasks: true))
        farm.decision = .render(outputs: ["/jobs/out/other.png"])
        farm.begin(workers: 1, [order])
        farm.finishAll()
        #expect(farm.leases.map(\.task.kind) == [.compare, .frame])
        #expect(farm.published == ["/jobs/out/other.png"])
    }

    @Test func `a failure is tried again, with a probe again`() throws {
        var farm = begin()
        farm.fail(farm.leases[0], .transient)
        farm.send(.tick, at: farm.now + .seconds(60))
        #expect(opening(farm.leases[1]) != nil)
        farm.finishAll()
        #expect(farm.leases.map(\.attempt) == [1, 2])
        #expect(farm.published == ["/jobs/out/1.png"])
    }

    @Test func `pictures that have begun come before small pictures that have not`() throws {
        var farm = Farm(
            .make(workers: 1, frames: 2, joinsSmallTasks: true), probe: .make(width: 2000, height: 1500))
        farm.begin(workers: 1, [FrameOrder.make(1, hasSmallFile: true), FrameOrder.make(2, hasSmallFile: true)])
        farm.finishAll()
        #expect(farm.leases.map(\.task.frame.number) == [1, 1, 2, 2])
    }
}
