import GRDB
import JobModel
import JobStorage
import Testing
import TestSupport

/// Runs, frames, attempts and publications in the database, and what it refuses.
@Suite struct RunStoreTests {
    let folder: TemporaryFolder
    private let store: JobStore

    init() throws {
        folder = try TemporaryFolder()
        store = try JobStore(path: folder.file("penumbra.sqlite"))
    }

    private func begin(_ name: String, at time: Int64 = 1, job: String = "test") throws -> RunID {
        try store.write { writer in
            try writer.begin(
                run: name, of: try writer.job(manifest: "/m.yaml", name: job), at: time, workers: 2, request: "{}",
                counts: "{}")
        }
    }

    private func attempt(
        _ lease: Int, task: Int = 1, worker: Int = 1, state: StoredAttempt.State = .running
    ) -> StoredAttempt {
        StoredAttempt(
            epoch: 1, lease: lease, number: 1, page: 0, kind: "tile", tile: task, attempt: 1, round: 0, worker: worker,
            started: 10, deadline: 20, state: state)
    }

    private let frame = StoredFrame(number: 1, page: 2, input: "/in/é.png", recipe: "{}", outputs: ["/out/a.png", ""])

    @Test func `a run is read back as it was written`() throws {
        let run = try begin("20261121T213000Z-1a2b3c", at: 7)
        let failed = StoredFrame(
            number: 2, page: 0, input: "/in/b.png", recipe: "{}", outputs: [],
            state: .failed(cause: "data", message: "broken"), seconds: 1.5)
        let attempts = [
            attempt(1, state: .done(at: 12, receipt: "{}")), attempt(2, task: 2, state: .failed(at: 13, message: "no")),
            attempt(3, task: 3, state: .lost(at: 14, message: "crash")), attempt(4, task: 4, state: .dropped(at: 15)),
            attempt(5, task: 5),
        ]
        let publication = StoredPublication(path: "/out/a.png", number: 1, page: 2, at: 16)
        try store.write { writer in
            for frame in [frame, failed] { try writer.put(frame, run: run) }
            for attempt in attempts { try writer.put(attempt, run: run) }
            try writer.put(publication, run: run)
            try writer.end(run, at: 30, exitCode: 1, reason: "stopped")
        }
        let known = try #require(try store.read { try $0.run(named: "20261121T213000Z-1a2b3c") })
        #expect(known.state == .ended(at: 30, exitCode: 1, reason: "stopped"))
        #expect((known.job, known.manifest, known.started, known.epoch, known.workers) == ("test", "/m.yaml", 7, 1, 2))
        var left = frame
        left.state = .left
        #expect(try store.read { try $0.frames(of: run) } == [left, failed])
        #expect(try store.read { try $0.concluded(of: run) } == 2)
        #expect(
            try store.read { try $0.attempts(of: run) }
                == attempts.dropLast() + [attempt(5, task: 5, state: .dropped(at: 30))])
        #expect(try store.read { try $0.publications(of: run) } == [publication])
    }

    @Test func `a frame that failed before it was begun is kept, and is none of those that came to an end`() throws {
        let run = try begin("a")
        let refused = StoredFrame(
            number: 2, page: 0, input: "/in/b.png", recipe: "", outputs: ["/out/b.png"],
            state: .failed(cause: "output refused", message: "is there already"))
        try store.write { writer in
            for frame in [frame, refused] { try writer.put(frame, run: run) }
        }
        #expect(try store.read { try $0.frames(of: run) } == [frame, refused])
        #expect(frame.wasBegun && !refused.wasBegun)
        #expect(try store.read { try $0.concluded(of: run) } == 0)
    }

    @Test func `a worker has one lease at a time, and a task one worker`() throws {
        let run = try begin("a")
        try store.write { try $0.put(attempt(1), run: run) }
        #expect(throws: StoreError.self) { try store.write { try $0.put(attempt(2, task: 2), run: run) } }
        #expect(throws: StoreError.self) { try store.write { try $0.put(attempt(2, worker: 2), run: run) } }
        try store.write { writer in
            try writer.put(attempt(1, state: .done(at: 11, receipt: "{}")), run: run)
            try writer.put(attempt(2, task: 2), run: run)
        }
        #expect(try store.read { try $0.attempts(of: run) }.count == 2)
    }

    @Test func `an attempt ends once`() throws {
        let run = try begin("a")
        try store.write { writer in
            try writer.put(attempt(1, state: .dropped(at: 11)), run: run)
            try writer.put(attempt(1, state: .done(at: 12, receipt: "{}")), run: run)
        }
        #expect(try store.read { try $0.attempts(of: run) } == [attempt(1, state: .dropped(at: 11))])
    }

    @Test func `what no scheduler does is refused`() throws {
        let run = try begin("a")
        var odd = attempt(1)
        odd.kind = "paint"
        #expect(throws: StoreError.self) { try store.write { try $0.put(odd, run: run) } }
        odd = attempt(1)
        odd.tile = nil
        #expect(throws: StoreError.self) { try store.write { try $0.put(odd, run: run) } }
        odd = attempt(1)
        odd.attempt = 0
        #expect(throws: StoreError.self) { try store.write { try $0.put(odd, run: run) } }
        #expect(throws: StoreError.self) { try begin("a") }
        #expect(try store.read { try $0.attempts(of: run) } == [])
    }

    @Test func `an output is published once in a run`() throws {
        let run = try begin("a")
        let first = StoredPublication(path: "/out/a.png", number: 1, page: 0, at: 16)
        var second = first
        second.at = 17
        try store.write { writer in for one in [first, second] { try writer.put(one, run: run) } }
        #expect(try store.read { try $0.publications(of: run) } == [first])
    }

    @Test func `a claimed run has a higher epoch, and its running attempts are lost`() throws {
        let run = try begin("a")
        try store.write { writer in
            try writer.put(attempt(1, state: .done(at: 11, receipt: "{}")), run: run)
            try writer.put(attempt(2, task: 2), run: run)
            try writer.claim(run, epoch: 2, at: 40, workers: 3, request: "{}", counts: "{}")
        }
        let known = try #require(try store.read { try $0.run(named: "a") })
        #expect((known.state, known.epoch, known.workers) == (.running, 2, 3))
        #expect(
            try store.read { try $0.attempts(of: run) } == [
                attempt(1, state: .done(at: 11, receipt: "{}")),
                attempt(2, task: 2, state: .lost(at: 40, message: "the coordinator was killed")),
            ])
    }

    @Test func `the latest success of a job is found by its name, whatever else has ended or goes on`() throws {
        #expect(try store.read { try $0.latestSuccess(ofJob: "test") } == nil)
        let ends: [(name: String, job: String, at: Int64, code: Int)] = [
            ("a", "test", 30, 0), ("b", "test", 20, 0), ("c", "test", 40, 1), ("d", "other", 50, 0),
        ]
        for end in ends {
            let run = try begin(end.name, job: end.job)
            try store.write { try $0.end(run, at: end.at, exitCode: end.code, reason: nil) }
        }
        _ = try begin("e", at: 60)
        #expect(try store.read { try $0.latestSuccess(ofJob: "test") } == 30)
        #expect(try store.read { try $0.latestSuccess(ofJob: "other") } == 50)
        #expect(try store.read { try $0.latestSuccess(ofJob: "none") } == nil)
    }

    @Test func `the first failed frames of a run are found without its others`() throws {
        let run = try begin("a")
        try store.write { writer in
            try writer.put(frame, run: run)
            for number in 2...5 {
                try writer.put(
                    StoredFrame(
                        number: number, page: 0, input: "/in/\(number).png", recipe: "{}", outputs: [],
                        state: .failed(cause: "data", message: "broken")), run: run)
            }
        }
        #expect(try store.read { try $0.failedFrames(of: run, limit: 3) }.map(\.number) == [2, 3, 4])
        let other = try begin("b")
        #expect(try store.read { try $0.failedFrames(of: other, limit: 3) } == [])
    }

    @Test func `the first end of a run counts`() throws {
        let run = try begin("a")
        try store.write { writer in
            try writer.end(run, at: 30, exitCode: 3, reason: "deadline")
            try writer.end(run, at: 31, exitCode: 137, reason: "killed")
        }
        #expect(try store.read { try $0.run(named: "a") }?.state == .ended(at: 30, exitCode: 3, reason: "deadline"))
    }

    @Test func `old runs are forgotten job by job, details first, and those that go on never`() throws {
        for number in 1...4 {
            let run = try begin("old-\(number)", at: Int64(number))
            try store.write { writer in
                try writer.put(frame, run: run)
                try writer.end(run, at: 10, exitCode: 0, reason: nil)
            }
        }
        _ = try begin("goes-on", at: 0)
        let other = try begin("other", at: 0, job: "other")
        try store.write { writer in
            try writer.end(other, at: 10, exitCode: 0, reason: nil)
            try writer.prune(runs: 3, detailed: 1)
        }
        let runs = try store.read { try $0.runs() }
        #expect(Set(runs.map(\.name)) == ["old-4", "old-3", "old-2", "goes-on", "other"])
        let detailed = try runs.filter { run in try !store.read { try $0.frames(of: run.id) }.isEmpty }
        #expect(detailed.map(\.name) == ["old-4"])
    }

    @Test func `the end of a run forgets old runs of its own job alone`() throws {
        let runs = try ["a", "b"].flatMap { job in
            try (1...3).map { try begin("\(job)-\($0)", at: Int64($0), job: job) }
        }
        try store.write { writer in
            for run in runs { try writer.end(run, at: 10, exitCode: 0, reason: nil) }
            try writer.prune(jobOf: runs[0], runs: 1, detailed: 1)
        }
        #expect(Set(try store.read { try $0.runs() }.map(\.name)) == ["a-3", "b-1", "b-2", "b-3"])
    }

    @Test func `runs that have ended are read as many as are wanted, and the others always`() throws {
        for number in 1...4 {
            let run = try begin("old-\(number)", at: Int64(number))
            if number != 1 { try store.write { try $0.end(run, at: 10, exitCode: 0, reason: nil) } }
        }
        #expect(try store.read { try $0.runs(ended: 2) }.map(\.name) == ["old-4", "old-3", "old-1"])
        #expect(try store.read { try $0.runs(ended: 0) }.map(\.name) == ["old-1"])
        #expect(try store.read { try $0.runs() }.map(\.name) == ["old-4", "old-3", "old-2", "old-1"])
        #expect(try store.read { try $0.runs(named: ["old-2", "none", "old-3"]) }.map(\.name) == ["old-3", "old-2"])
        #expect(try store.read { try $0.runs(named: []) }.isEmpty)
    }

    @Test(arguments: [
        ("runs", "state = 'asleep'", "'asleep' as the state of the run '20261121T213000Z-1a2b3c'"),
        ("frames", "state = 'halfway'", "'halfway' as the state of the frame (run 1, number 1, page 2)"),
        (
            "frames", "outputs = 'out/a.png'",
            "'out/a.png' as the list of outputs of the frame (run 1, number 1, page 2)"
        ),
        ("attempts", "state = 'perhaps'", "'perhaps' as the state of the attempt (run 1, epoch 1, lease 1)"),
    ])
    func `a value that this version never writes is damage`(
        table: String, change: String, found: String
    ) throws {
        let run = try begin("20261121T213000Z-1a2b3c")
        try store.write { writer in
            try writer.put(frame, run: run)
            try writer.put(attempt(1), run: run)
        }
        let database = try DatabaseQueue(path: folder.file("penumbra.sqlite"))
        try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA ignore_check_constraints = ON")
            try database.execute(sql: "UPDATE \(table) SET \(change)")
        }
        let problem = #expect(throws: StoreError.self) {
            try store.read { reader in
                _ = (try reader.runs(), try reader.frames(of: run), try reader.attempts(of: run))
            }
        }
        #expect(problem?.isDamaged == true)
        #expect(problem?.message.contains("the database is damaged: \(found)") == true)
    }
}
