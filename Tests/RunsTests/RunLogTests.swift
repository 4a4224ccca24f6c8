import Foundation
import JobModel
import JobStorage
import Runs
import Testing
import TestSupport

/// The records of coordinators on several machines, beside a run's folder.
@Suite struct RunLogTests {
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

    private func history(_ name: String = "run-1") -> RunLog { RunFolder(state: place.path, name: name).log }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: place.file("history")).sorted()
    }

    @Test func `each coordinator adds what it has done, and all of it is read in order`() throws {
        let publication = StoredPublication(path: "/out", number: 1, page: 0, at: 9)
        try history().append([.attempt(attempt(2, epoch: 10))], epoch: 10)
        try history().append([.attempt(attempt(3, epoch: 2)), .frame(frame(1))], epoch: 2)
        try history().append([.attempt(attempt(1, epoch: 2)), .publication(publication)], epoch: 2)
        #expect(
            try history().contents().attempts == [attempt(1, epoch: 2), attempt(3, epoch: 2), attempt(2, epoch: 10)])
        #expect(try history().contents().frames == [frame(1)])
        #expect(try history().contents().publications == [publication])
        #expect(try history("run-2").contents().attempts == [])
    }

    @Test func `a line that a kill has torn is left out`() throws {
        try history().append([.frame(frame(1)), .frame(frame(2))], epoch: 1)
        let file = URL(filePath: place.file("history/run-1/1"))
        try Data(contentsOf: file).dropLast(4).write(to: file)
        #expect(try history().contents().frames == [frame(1)])
        try history().append([.frame(frame(3))], epoch: 2)
        #expect(try history().contents().frames == [frame(1), frame(3)])
    }

    @Test func `more than is read at once is read`() throws {
        let frames = (1...60_000).map(frame)
        try history().append(frames.map { .frame($0) }, epoch: 1)
        var parts = 0
        try history().read { lines in parts += lines.isEmpty ? 0 : 1 }
        #expect(parts > 1)
        #expect(try history().contents().frames == frames)
    }

    @Test func `those of the latest runs that have ended are kept, whenever they began`() throws {
        var record = RunRecord(
            name: "r", job: "night", manifest: "/m", started: 5, workers: 3, memory: 1, request: "{}",
            counts: RunCounts())
        (record.epoch, record.state) = (2, .ended(at: 9, exitCode: 0, reason: nil))
        for number in [99] + (10..<44) {
            try history("run-\(number)").append([.frame(frame(1))], epoch: 1)
            if number == 99 { continue }
            try RunFolder(state: place.path, name: "run-\(number)").write(record)
        }
        #expect(try names() == (14..<44).map { "run-\($0)" } + ["run-99"])
        try RunFolder(state: place.path, name: "run-00").write(record)
        #expect(RunFolder(state: place.path, name: "run-00").end != nil, "it began first, and ended last")
    }

    @Test func `what was published under any coordinator is counted once`() throws {
        try history().append([.frame(frame(1)), .frame(frame(2))], epoch: 1)
        var failed = frame(4)
        failed.state = .failed(cause: "c", message: "m")
        try history().append([.frame(frame(2)), .frame(frame(3)), .frame(failed)], epoch: 2)
        #expect(try history().publishedCount() == 3)
    }

    // The database of the machine that began a run gets the records of other coordinators.

    private func broken(_ message: String) -> BrokenTransfer {
        BrokenTransfer(
            input: "/in/3", page: 0, inode: 7, size: 4, modified: 6, recipe: "blur", message: message, since: 5)
    }

    @Test func `an end comes into the database with all that was done`() throws {
        let store = try JobStore(path: JobStore.databasePath(state: place.path))
        let run = try store.write { writer -> RunID in
            let job = try writer.job(manifest: "/m", name: "night")
            let run = try writer.begin(run: "run-1", of: job, at: 5, workers: 3, request: "{}", counts: "{}")
            for number in 1...3 {
                var open = frame(number)
                open.state = .open
                try writer.put(open, run: run)
            }
            var handedOver = attempt(1, epoch: 1)
            handedOver.state = .running
            try writer.put(handedOver, run: run)
            return run
        }
        let far = RunFolder(state: place.file("far"), name: "run-1")
        try far.log.append([.frame(frame(1)), .attempt(attempt(8, epoch: 2))], epoch: 2)
        try far.log.append([broken("one")], as: .found)
        try far.log.append([broken("one"), broken("two")], as: .found)
        try far.log.append([broken("three")], as: .known)
        #expect(far.log.broken(.found) == [broken("one"), broken("two")])
        let end = RunRecord.End(
            time: 9, exitCode: 1, reason: nil,
            failures: [RunRecord.Failure(input: "/in/3", outputs: ["/out"], cause: "c", message: "m")])
        var counts = RunCounts()
        counts.frames = 7
        let record = RunRecord(
            name: "run-1", job: "night", manifest: "/m", epoch: 2, state: .ended(end), started: 5, workers: 3,
            memory: 1,
            request: "{}", counts: counts)
        try StoredRuns.end(far, record, end, state: place.path)
        try store.read { reader in
            let known = try #require(try reader.run(named: "run-1"))
            #expect(known.state == .ended(at: 9, exitCode: 1, reason: nil))
            #expect(known.epoch == 2 && known.counts == counts)
            #expect(try reader.attempts(of: run) == [attempt(8, epoch: 2)], "what was handed over is no attempt")
            let states = try reader.frames(of: run).map(\.state)
            #expect(states == [.published, .published, .failed(cause: "c", message: "m")])
            let job = try #require(try reader.job(manifest: "/m", name: "night"))
            #expect(try reader.brokenTransfers(of: job) == [broken("two")])
        }
    }

    @Test func `lines with numbers that no run has are left out`() throws {
        try history().append([.frame(frame(1))], epoch: 1)
        let file = URL(filePath: place.file("history/run-1/1"))
        let line = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        for (key, number) in [("number", "9223372036854775807"), ("page", "-1")] {
            let lie = line.replacing(try Regex("\"\(key)\":\\d+"), with: "\"\(key)\":\(number)")
            #expect(lie != line)
            try Data((line + lie).utf8).write(to: file)
            #expect(try history().contents().frames == [frame(1)])
        }
    }

    @Test func `a link in the place of a history is not read, and what it leads to is not removed`() throws {
        try history("real").append([.frame(frame(1))], epoch: 1)
        try FileManager.default.moveItem(atPath: place.file("history/real"), toPath: place.file("elsewhere"))
        try FileManager.default.createSymbolicLink(
            atPath: place.file("history/run-1"), withDestinationPath: place.file("elsewhere"))
        #expect(try history().contents().frames == [])
        RunFolder.sweep(state: place.path)
        #expect(FileManager.default.fileExists(atPath: place.file("elsewhere/1")))
        #expect(!FileManager.default.fileExists(atPath: place.file("history")))
    }
}
