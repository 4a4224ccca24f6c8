import Catalogs
import Geometry
import JobModel
import Scheduling
import Testing
import WorkerProtocol

/// Pictures that are measured by their probe, for filters at the beginning of the chain.
@Suite struct MeasuredPictureTests {
    private static let trim = FilterInvocation(filter: "trim", values: [:], measures: .part)
    private static let measured = [
        MeasuredFilters(
            filters: [trim], measurements: [.part(PixelRect(x: 1, y: 2, width: 50, height: 40))])
    ]
    private static let stamp = FileStamp(device: 1, inode: 2, size: 3, modified: 4, changed: 5)

    private static func probe(_ stamp: FileStamp?) -> ProbeReceipt {
        var probe = ProbeReceipt.make()
        probe.measured = measured
        probe.stamp = stamp
        return probe
    }

    private static func job(_ shard: ShardMode, verify: VerifyLevel = .digest) -> JobSpec {
        var job = JobSpec.make(verify: verify, shard: shard)
        job.chain = [trim] + job.chain
        return job
    }

    private func leases(_ job: JobSpec, _ probe: ProbeReceipt = probe(stamp), joins: Bool = false, workers: Int = 1)
        -> [Lease]
    {
        var farm = Farm(.make(job, workers: workers, joinsSmallTasks: joins), probe: probe)
        farm.begin(workers: workers, [FrameOrder.make(1, hasSmallFile: true)])
        farm.finishAll()
        return farm.leases
    }

    @Test func `a whole frame gets what its probe has measured, with the stamp of the file`() throws {
        let leases = leases(Self.job(.frame))
        #expect(leases.map(\.task.kind) == [.probe, .frame])
        guard case .probe(let probe) = leases[0].spec, case .frame(let frame) = leases[1].spec else { return }
        #expect(probe.input.measured == nil)
        #expect(frame.input.measured == MeasuredPicture(Self.measured, stamp: Self.stamp))
    }

    @Test(arguments: [nil, FileStamp(device: 1, inode: 2, size: 3, modified: 0, changed: 5)])
    func `a stamp that would show no change is none`(stamp: FileStamp?) throws {
        guard case .frame(let frame) = leases(Self.job(.frame), Self.probe(stamp))[1].spec else {
            Issue.record("no frame")
            return
        }
        #expect(frame.input.measured == MeasuredPicture(Self.measured, stamp: nil))
    }

    @Test func `a small file is probed by a task of its own, because its picture may be large`() {
        #expect(leases(Self.job(.frame), joins: true).map(\.task.kind) == [.probe, .frame])
        #expect(leases(.make(shard: .frame), .make(), joins: true).map(\.task.kind) == [.frame])
    }

    @Test func `an audit of a whole frame measures the picture itself`() {
        let audits = leases(Self.job(.frame, verify: .audit), workers: 2).compactMap { lease -> InputSpec? in
            guard case .audit(let task) = lease.spec, case .input(let input) = task.source else { return nil }
            return input
        }
        #expect(audits.map(\.measured) == [nil])
    }

    @Test func `a probe that measures has as much time as one that reads the whole file`() throws {
        func limit(_ job: JobSpec, formats: [String] = ["png"]) throws -> Duration {
            var farm = Farm(.make(job, workers: 1, time: .auto), probe: Self.probe(Self.stamp))
            farm.begin(workers: 1, [FrameOrder.make(1, formats: formats)])
            return try #require(farm.leases.first).timeLimit
        }
        #expect(try limit(.make(shard: .frame)) == .seconds(120))
        #expect(try limit(Self.job(.frame)) > .seconds(3600))
        // The frames of a clip are counted.
        for format in ["mp4", "webm"] { #expect(try limit(.make(shard: .frame), formats: [format]) > .seconds(3600)) }
    }
}
