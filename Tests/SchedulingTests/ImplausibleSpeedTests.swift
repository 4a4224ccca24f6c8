import Geometry
import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Results that come sooner than they can have been rendered.
@Suite struct ImplausibleSpeedTests {
    /// 24 megapixels; no machine writes them within 1.2 ms.
    private static let large = ProbeReceipt.make(width: 6000, height: 4000, tile: 4000)

    private func farm(_ job: JobSpec = .make(shard: .frame), probe: ProbeReceipt = large) -> Farm {
        var farm = Farm(.make(job, workers: 4), probe: probe)
        farm.begin(workers: 4)
        return farm
    }

    @Test func `no machine writes a megapixel in fifty microseconds`() {
        #expect(SpeedFloor.shortestTime(megapixels: 24) == .microseconds(1200))
        #expect(SpeedFloor.shortestTime(megapixels: 9) == nil)
    }

    @Test func `a frame that comes too soon is published after an audit by another process alone`() throws {
        var farm = farm()
        let frame = try farm.advance(to: .frame)
        farm.finish(frame)
        #expect(farm.flagged == [ImplausibleSpeed(megapixels: 24, took: .zero)])
        #expect(farm.published.isEmpty)
        let audit = try #require(farm.running.first)
        #expect(audit.task.kind == .audit)
        #expect(audit.worker != frame.worker)
        farm.finish(audit)
        #expect(farm.published.count == 1)
    }

    @Test func `all bands of it are audited`() throws {
        var farm = farm()
        let audit = try farm.advance(to: .audit)
        guard case .audit(let task) = audit.spec else {
            Issue.record("no audit")
            return
        }
        #expect(task.outputs.map(\.bands.count) == [3])
    }

    @Test func `what was invented is rendered again, and taken when it took its time`() throws {
        var farm = farm()
        farm.fail(try farm.advance(to: .audit), .mismatch)
        let again = try #require(farm.running.first)
        #expect(again.task.kind == .frame)
        farm.take(again)
        farm.send(.report(again.worker, .finished(again.id, receipt(for: again.spec))), at: .seconds(1))
        #expect(farm.published.count == 1)
        #expect(farm.flagged.count == 1)
    }

    @Test func `a frame that took its time is not flagged, nor is a small one`() throws {
        var slow = farm()
        let frame = try slow.advance(to: .frame)
        slow.take(frame)
        let done = Event.report(frame.worker, .finished(frame.id, receipt(for: frame.spec)))
        slow.send(done, at: Timestamp(.milliseconds(2)))
        var small = farm(probe: .make())
        small.finishAll()
        #expect(slow.flagged.isEmpty && small.flagged.isEmpty)
        #expect(slow.published.count == 1 && small.published.count == 1)
    }

    @Test func `a tile that comes too soon is audited against the canvas, a canvas against the input`() throws {
        for kind in [TaskKind.tile(0), .canvas] {
            var farm = farm(.make(shard: .tile))
            while let lease = farm.running.first, lease.task.kind != .audit {
                farm.take(lease)
                let time = farm.now + (lease.task.kind == kind ? .zero : .seconds(1))
                let done = Event.report(
                    lease.worker, .finished(lease.id, receipt(for: lease.spec, probe: farm.probe)))
                farm.send(done, at: time)
            }
            #expect(farm.flagged.count == 1)
            guard case .audit(let task) = farm.running.first?.spec else {
                Issue.record("no audit")
                return
            }
            switch task.source {
            case .canvas: #expect(kind == .tile(0))
            case .input: #expect(kind == .canvas)
            }
        }
    }
}
