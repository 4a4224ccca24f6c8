import Coordination
import Foundation
import JobModel
import Runs
import SafeFiles
import Scheduling
import TestSupport
import Testing

@Suite struct RunMonitorTests {
    let place: TemporaryFolder
    let folder: RunFolder

    init() throws {
        place = try TemporaryFolder()
        folder = RunFolder(state: place.path, name: "run-1")
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
    }

    private func monitor() -> RunMonitor {
        RunMonitor(folder: folder.path, frames: (1...5).map { FrameID($0) }) { 7_000_000_000 }
    }

    private var letters: String? {
        let text = (try? String(contentsOfFile: "\(folder.path)/map", encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).last.map(String.init)
    }

    private func progress(at seconds: Double, done: Int) -> RunProgress {
        var summary = RunSummary()
        summary.frames = 5
        for number in 0..<done {
            summary.add(FrameReport(index: number + 1, input: "/in", outputs: [], state: .skipped(reason: "current")))
        }
        let scheduler = Scheduler(
            policy: SchedulingPolicy(
                retry: RetryPolicy(retries: 0), time: TimePolicy(limit: .seconds(1)),
                shard: ShardPolicy(mode: .frame, workers: 1, frames: 1, frameMemory: 1), verify: .digest, workers: 1,
                seed: 1),
            factory: TaskFactory(job: .make(), runName: "run", scratchFolder: "/scratch", tileMemory: 1, frameMemory: 1)
        )
        return RunProgress(summary, elapsed: .seconds(seconds), scheduler: scheduler.progress())
    }

    @Test func `what became of frames is in the map when the run has ended`() async {
        let monitor = monitor()
        #expect(letters == "")
        await monitor.finish()
        #expect(letters == ".....")
        monitor.set(FrameID(2), .running)
        monitor.set(FrameID(4), .failed)
        monitor.set(FrameID(2), .published)
        // No frame of the run.
        monitor.set(FrameID(6), .failed)
        await monitor.finish()
        #expect(letters == ".p.f.")
        #expect(monitor.map[FrameID(2)] == .published)
    }

    @Test func `progress is written once a second`() async throws {
        let monitor = monitor()
        #expect(monitor.wantsLive(at: .zero))
        for (seconds, done, written) in [(0.0, 1, 1), (0.9, 2, 1), (1.0, 3, 3), (1.9, 4, 3), (2.5, 5, 5)] {
            monitor.note(progress(at: seconds, done: done))
            await monitor.finish()
            let live = try #require(LiveRun(in: folder))
            #expect(live.done == written && live.frames == 5 && live.time == 7_000_000_000)
        }
        #expect(!monitor.wantsLive(at: .seconds(3)))
    }

    @Test func `a run tells nothing before it has frames, but for a second at most`() async {
        let monitor = monitor()
        for (seconds, isWritten) in [(0.0, false), (0.9, false), (1.0, true)] {
            monitor.note(progress(at: seconds, done: 0))
            await monitor.finish()
            #expect((LiveRun(in: folder) != nil) == isWritten)
        }
    }

    @Test func `a folder that is gone is not made again, and disturbs nothing`() async throws {
        let monitor = monitor()
        await monitor.finish()
        try FileManager.default.removeItem(atPath: folder.path)
        monitor.set(FrameID(2), .published)
        monitor.note(progress(at: 0, done: 1))
        await monitor.finish()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        let late = self.monitor()
        late.set(FrameID(2), .published)
        await late.finish()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        #expect(late.map[FrameID(2)] == .published)
    }
}
