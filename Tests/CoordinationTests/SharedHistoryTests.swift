import Coordination
import Foundation
import JobStorage
import TestSupport
import Testing

/// What coordinators on several machines tell of a run, beside its folder.
@Suite struct SharedHistoryTests {
    let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    private func attempt(_ lease: Int, epoch: Int) -> StoredAttempt {
        StoredAttempt(
            epoch: epoch, lease: lease, number: lease, page: 0, kind: "frame", tile: nil, attempt: 1, round: 0,
            worker: 2,
            started: 5, deadline: 6, state: .failed(at: 7, message: "line\nbreak \u{e9}"), log: "said")
    }

    private func frame(_ number: Int) -> StoredFrame {
        StoredFrame(number: number, page: 0, input: "/in/\(number)", recipe: "r", outputs: ["/out"], state: .published)
    }

    private func history(_ name: String = "run-1") -> SharedHistory { SharedRun(place: place.path, name: name).history }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.file("history")).sorted()
    }

    @Test func `each coordinator adds what it has done, and all of it is read in order`() throws {
        let publication = StoredPublication(path: "/out", number: 1, page: 0, at: 9)
        try history().append([.attempt(attempt(2, epoch: 10))], epoch: 10)
        try history().append([.attempt(attempt(3, epoch: 2)), .frame(frame(1))], epoch: 2)
        try history().append([.attempt(attempt(1, epoch: 2)), .publication(publication)], epoch: 2)
        #expect(history().attempts == [attempt(1, epoch: 2), attempt(3, epoch: 2), attempt(2, epoch: 10)])
        #expect(history().frames == [frame(1)])
        #expect(history().publications == [publication])
        #expect(history("run-2").attempts == [])
    }

    @Test func `a line that a kill has torn is left out`() throws {
        try history().append([.frame(frame(1)), .frame(frame(2))], epoch: 1)
        let file = URL(filePath: place.file("history/run-1/1"))
        try Data(contentsOf: file).dropLast(4).write(to: file)
        #expect(history().frames == [frame(1)])
        try history().append([.frame(frame(3))], epoch: 2)
        #expect(history().frames == [frame(1), frame(3)])
    }

    @Test func `more than is read at once is read`() throws {
        let frames = (1...60_000).map(frame)
        try history().append(frames.map { .frame($0) }, epoch: 1)
        var parts = 0
        try history().read { lines in parts += lines.isEmpty ? 0 : 1 }
        #expect(parts > 1)
        #expect(history().frames == frames)
    }

    @Test func `those of the latest ten runs that have ended are kept, and of all that have not`() throws {
        for number in 10..<25 { try history("run-\(number)").append([.frame(frame(1))], epoch: 1) }
        let open = try RunDirectory(state: place.path, name: "run-11", scratch: place.path)
        let record = SharedRun.Record(
            run: "run-24", job: "night", manifest: "/m", started: 5, workers: 3, memory: 1, request: "{}", counts: "{}")
        try SharedRun(place: place.path, name: "run-24").write(
            SharedRun.End(record: record, epoch: 2, ended: 9, exitCode: 0, reason: nil))
        #expect(try names() == ["run-11"] + (15..<25).map { "run-\($0)" })
        open.remove()
        #expect(try names().first == "run-15", "nobody has heard of it")
    }
}
