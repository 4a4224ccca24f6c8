import JobModel
import JobStorage
import Runs
import Scheduling
import Testing
import TestSupport

/// Frames and attempts of a run, a page after the other.
@Suite struct RunPagesTests {
    private static let frames = [
        FrameID(1), FrameID(2), FrameID(2, page: 1), FrameID(2, page: 2), FrameID(10), FrameID(11),
    ]
    let state: TemporaryFolder

    /// A run with frames of which one is a picture with three pages, and three attempts for each frame.
    init() throws {
        state = try TemporaryFolder()
        let store = try JobStore(path: "\(state.path)/penumbra.sqlite")
        try store.write { writer in
            let job = try writer.job(manifest: "/jobs/night.yaml", name: "night")
            let run = try writer.begin(
                run: "run-1", of: job, at: 10, workers: 2, request: "{}", counts: RunCounts().json)
            for (index, frame) in Self.frames.enumerated() {
                let stored = StoredFrame(
                    number: frame.number, page: frame.page, input: "/in/\(frame.number)", recipe: "r",
                    outputs: ["/out/\(index)"],
                    state: frame.number == 2 ? .failed(cause: "input", message: "m") : .published)
                try writer.put(stored, run: run)
                if frame.number != 2 {
                    try writer.put(
                        StoredPublication(
                            path: "/out/\(index)", number: frame.number, page: frame.page, at: 1_000_000_000),
                        run: run)
                }
                for attempt in 1...3 {
                    try writer.put(
                        StoredAttempt(
                            epoch: attempt, lease: index, number: frame.number, page: frame.page, kind: "frame",
                            tile: nil,
                            attempt: attempt, round: 0, worker: 1, started: 10, deadline: 20,
                            state: attempt == 3 ? .done(at: 15, receipt: "") : .lost(at: 12, message: "killed")),
                        run: run)
                }
            }
            try writer.end(run, at: 30, exitCode: 1, reason: nil)
        }
    }

    private func archive() throws -> RunArchive { try RunArchive(state: state.path) }

    @Test(arguments: 1...7)
    func `pages of frames have each frame once, in order, also if pages of a picture are divided`(limit: Int) throws {
        let archive = try archive()
        let run = try archive.run("run-1")
        var (names, place) = ([String](), FrameID?.none)
        while true {
            let page = try archive.frames(of: run, after: place, state: nil, limit: limit)
            names += page.frames.map(\.name)
            guard let after = page.after else { break }
            #expect(page.frames.count == limit)
            let next = try #require(FramePlace.frame(after))
            place = next
        }
        #expect(names == ["1", "2", "2p2", "2p3", "10", "11"])
    }

    @Test func `a page of frames may have a state, and has the times of publications`() throws {
        let archive = try archive()
        let run = try archive.run("run-1")
        let failed = try archive.frames(of: run, after: nil, state: .failed, limit: 10)
        #expect(failed.frames.map(\.name) == ["2", "2p2", "2p3"])
        #expect(failed.after == nil)
        let published = try archive.frames(of: run, after: FrameID(2), state: .published, limit: 10)
        #expect(published.frames.map(\.published) == ["1970-01-01T00:00:01Z", "1970-01-01T00:00:01Z"])
    }

    @Test(arguments: 1...19)
    func `pages of attempts have each attempt once, in the order of their begin`(limit: Int) throws {
        let archive = try archive()
        let run = try archive.run("run-1")
        let all = try archive.details(of: run).attempts.map(AttemptLine.init)
        #expect(all.count == 18)
        var (found, place) = ([AttemptLine](), String?.none)
        repeat {
            let page = try #require(try archive.attempts(of: run, after: place, of: nil, limit: limit))
            (found, place) = (found + page.attempts, page.after)
        } while place != nil
        #expect(found == all)
    }

    @Test func `attempts of one task are found, and a wrong place is refused`() throws {
        let archive = try archive()
        let run = try archive.run("run-1")
        let page = try archive.attempts(of: run, after: nil, of: TaskFilter("2p2/frame"), limit: 100)
        #expect(page?.attempts.map(\.task) == ["2p2/frame", "2p2/frame", "2p2/frame"])
        for wrong in ["", "1", "1.x", "-1.2", "1.2.3"] {
            #expect(try archive.attempts(of: run, after: wrong, of: nil, limit: 1) == nil)
        }
    }

    @Test func `attempts are counted by task and state, as the attempts themselves say`() throws {
        let archive = try archive()
        let run = try archive.run("run-1")
        let counts = try archive.taskCounts(of: run)
        #expect(counts == TaskCounts(tasks: ["frame": ["lost": 12, "done": 6]], wasBegun: true))
        #expect(try archive.details(of: run).taskCounts == counts)
    }

    @Test(arguments: [
        ("37", FrameID(37)), ("37p2", FrameID(37, page: 1)), ("37p0", nil), ("", nil), ("p2", nil), ("-1", nil),
        ("1p2p3", nil),
        ("37p", nil), ("99999999999999999999", nil),
    ])
    func `a frame's name is read`(text: String, frame: FrameID?) {
        #expect(FramePlace.frame(text) == frame)
        if let frame { #expect(FramePlace.text(frame) == text) }
    }

    @Test func `a task is named by its frame, page, kind and tile, and by nothing else`() {
        for text in ["37", "37p2", "37/probe", "37p2/tile-0", "37/tile-12"] {
            #expect(TaskFilter(text) != nil, "\(text)")
        }
        for text in [
            "", "0", "-1", "+1", "01", "37p0", "37p", "37p-1", "37/", "37/Probe", "37/tile-", "37/tile--1",
            "37/tile-01",
            "37/tile-1-2", "37/a/b", "p2", "37 ",
        ] { #expect(TaskFilter(text) == nil, "\(text)") }
    }
}
