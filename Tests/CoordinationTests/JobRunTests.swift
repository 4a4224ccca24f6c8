import Coordination
import Dispatch
import FarmTestSupport
import Glibc
import JobModel
import JobStorage
import SafeFiles
import Scheduling
import Synchronization
import TestSupport
import Testing
import WorkerProtocol

/// Runs of a job over a fake engine, with a real plan, ledger and database.
@Suite struct JobRunTests {
    @Test func `a run publishes every frame, and the next run finds nothing to do`() async throws {
        let farm = try SmallFarm(pictures: 5)
        let first = try await farm.run()
        #expect(first.published == 5)
        #expect(first.stop == nil)
        #expect(farm.outputs == farm.wanted)
        let second = try await farm.run()
        #expect(second.published == 0)
        #expect(second.skipped == 5)
        #expect(farm.strays.isEmpty)
    }

    @Test func `a broken picture fails alone, and the next run does not try it again`() async throws {
        var farm = try SmallFarm(pictures: 3)
        let tried = Mutex(0)
        farm.answer = { lease in
            guard lease.task.frame.number == 2 else { return nil }
            tried.withLock { $0 += 1 }
            return .failed(TaskFailure(.data, "002.png: it ends in the middle of its pixels"))
        }
        let first = try await farm.run()
        #expect(first.published == 2)
        #expect(first.failures.map(\.index) == [2])
        // Written in the background, and there when the run has ended.
        let second = try await farm.run()
        #expect(second.stillBroken.map(\.index) == [2])
        #expect(second.failures.isEmpty)
        #expect(tried.withLock { $0 } == 1)
    }

    @Test func `a worker that dies costs an attempt, and no output`() async throws {
        var farm = try SmallFarm(pictures: 3)
        farm.answer = { lease in
            if case .frame = lease.task.kind, lease.task.frame.number == 2, lease.attempt == 1 {
                .died(.signal(SIGSEGV))
            } else {
                nil
            }
        }
        let summary = try await farm.run()
        #expect(summary.published == 3)
        #expect(summary.workersLost == 1)
        #expect(farm.outputs == farm.wanted)
        #expect(farm.strays.isEmpty)
    }

    @Test func `a worker that says it wrote more than there is publishes nothing`() async throws {
        var farm = try SmallFarm()
        farm.answer = { lease in
            guard case .frame(let task) = lease.spec, let path = task.outputs.first?.temporaryPath else { return nil }
            do {
                try write("too little", to: path)
            } catch {
                return .died(.exited(1))
            }
            let source = FileFacts(stamp: .make(), digest: .make(1))
            return .done(RightAnswers.receipt(for: lease.spec, source: source, size: 1000))
        }
        let summary = try await farm.run()
        #expect(summary.published == 0)
        #expect(farm.outputs.isEmpty)
        guard case .failed(_, let message) = farm.observer.reports.first?.state else {
            Issue.record("the frame did not fail: \(summary)")
            return
        }
        #expect(message.contains("is gone or was cut before it could be published"))
    }

    @Test func `a cancelled run publishes no more, and leaves nothing beside the outputs`() async throws {
        var farm = try SmallFarm(pictures: 4)
        let control = farm.control
        farm.answer = { lease in
            guard lease.task.frame.number == 3 else { return nil }
            control.cancel()
            return .silence
        }
        let summary = try await farm.run()
        #expect(summary.stop == .cancelled)
        #expect(summary.left >= 2)
        #expect(farm.outputs.allSatisfy { farm.wanted[$0.key] == $0.value })
        #expect(farm.strays.isEmpty)
        farm.control = RunControl()
        farm.answer = { _ in nil }
        _ = try await farm.run()
        #expect(farm.outputs == farm.wanted)
    }

    @Test func `an output that was edited while it was rendered stays`() async throws {
        var farm = try SmallFarm()
        #expect(try await farm.run().published == 1)
        farm.radius = 3
        let path = farm.place.file("out/001.png")
        farm.answer = { lease in
            if case .frame = lease.task.kind { try? write("by hand", to: path) }
            return nil
        }
        let summary = try await farm.run()
        #expect(summary.published == 0)
        #expect(farm.outputs == ["001.png": "by hand"])
        #expect(farm.strays.isEmpty)
    }

    @Test func `a disk that removes tiles slowly collects the tiles of three frames at most`() async throws {
        let count = 6
        var farm = try SmallFarm(pictures: count)
        farm.job.shard = .tile
        let (disk, answers) = (SlowDisk(frames: count), farm.answers)
        let engine = FakeEngine { lease in
            if case .canvas = lease.spec {
                disk.begin(lease)
                return .silence
            }
            return answers(lease)
        }
        farm.observer = SmallFarm.Observer { ended in
            if let canvas = disk.tick(ended: ended) { engine.reply(to: canvas, answers(canvas)) }
        }
        let summary = try await farm.run(engine: engine) { disk.remove($0) }
        #expect(summary.published == count)
        #expect(farm.outputs == farm.wanted)
        // Of the frame whose tiles are being removed, of the next one, and of the one that was begun before that ended.
        #expect(disk.mostTiled <= 3)
    }

    @Test func `what a run did is in the database when the run has ended`() async throws {
        let farm = try SmallFarm(pictures: 3)
        let (store, run) = try farm.beginRun()
        let recorder = RunRecorder(store: store, run: run, epoch: 1) { 1_000_000_000 }
        #expect(try await farm.run(recorder: recorder).published == 3)
        let frames = try store.read { try $0.frames(of: run) }
        #expect(frames.map(\.number).sorted() == [1, 2, 3])
        #expect(frames.allSatisfy { $0.state == .published })
        let attempts = try store.read { try $0.attempts(of: run) }
        #expect(attempts.filter { $0.kind == "frame" }.count == 3)
        #expect(attempts.allSatisfy { if case .done = $0.state { true } else { false } })
        try recorder.end(exitCode: 0, reason: nil, counts: RunCounts())
        let map = try store.read { try $0.map(of: run) }
        #expect(map == #"{"version":1,"frames":[[1,3]]}"# + "\n3p")
    }

    @Test func `the counts of a resumed run have what its earlier coordinators published`() async throws {
        let farm = try SmallFarm(pictures: 3)
        let (store, run) = try farm.beginRun()
        let first = RunRecorder(store: store, run: run, epoch: 1) { 1_000_000_000 }
        #expect(try await farm.run(recorder: first).published == 3)
        // The next coordinator finds them up to date, and one more that was so before the run.
        var counts = RunCounts()
        (counts.frames, counts.skipped) = (4, 4)
        try RunRecorder(store: store, run: run, epoch: 2) { 2_000_000_000 }.end(
            exitCode: 0, reason: nil, counts: counts)
        let stored = try store.read { reader in try reader.runs().first { $0.id == run }?.counts }
        #expect(stored?.published == 3)
        #expect(stored?.skipped == 1)
        #expect(stored?.work == 3)
        #expect(stored?.frames == 4)
    }
}

/// A disk that removes the tiles of a frame only when the run can do nothing else.
private final class SlowDisk: Sendable {
    private struct State {
        /// The canvas that is being filled.
        var canvas: Lease?
        var begun = 0
        var removed = 0
        var mostTiled = 0
        var isRemoving = false
        /// The ticks in a row at which there was nothing to do.
        var idleTicks = 0
    }

    private let state = Mutex(State())
    private let removal = DispatchSemaphore(value: 0)
    private let frames: Int

    init(frames: Int) { self.frames = frames }

    /// The largest number of frames that had a canvas or tiles at once.
    var mostTiled: Int { state.withLock { $0.mostTiled } }

    func begin(_ canvas: Lease) {
        let isLast = state.withLock { state in
            state.canvas = canvas
            state.begun += 1
            state.mostTiled = max(state.mostTiled, state.begun - state.removed)
            return state.begun == frames
        }
        // The run may end now. Then no tick would end a removal.
        if isLast { for _ in 0..<frames { removal.signal() } }
    }

    /// - Returns: the canvas that is filled now. All earlier frames have ended.
    func tick(ended: Int) -> Lease? {
        state.withLock { state in
            guard ended >= state.begun else {
                state.idleTicks = 0
                guard ended == state.begun - 1 else { return nil }
                defer { state.canvas = nil }
                return state.canvas
            }
            state.idleTicks += 1
            // A run that may begin another canvas has begun it by then.
            if state.isRemoving, state.idleTicks >= 3 {
                (state.isRemoving, state.idleTicks) = (false, 0)
                removal.signal()
            }
            return nil
        }
    }

    func remove(_ path: String) {
        state.withLock { $0.isRemoving = true }
        removal.wait()
        FileSystem.removeTree(path)
        state.withLock { $0.removed += 1 }
    }
}

extension SmallFarm {
    /// A run in the database, for a recorder.
    ///
    /// - Parameter isReadOnly: the recorder can write nothing.
    func beginRun(isReadOnly: Bool = false) throws -> (JobStore, RunID) {
        let store = try JobStore(path: database)
        let run = try store.write { writer in
            try writer.begin(
                run: "recorded", of: try writer.job(manifest: job.manifestPath, name: job.name), at: 0, workers: 1,
                request: "{}", counts: "{}")
        }
        let own =
            isReadOnly
            ? try JobStore(readOnly: database) : try JobStore(path: database, survivesPowerLoss: false, timeout: 0.05)
        return (own, run)
    }
}
