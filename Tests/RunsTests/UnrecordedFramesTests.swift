import Foundation
import JobModel
import JobStorage
import Runs
import Scheduling
import TestSupport
import Testing

/// Frames that a run has no record of, because it had nothing to do with them.
@Suite struct UnrecordedFramesTests {
    /// After all files of a test were made.
    private static let later = Int64.max / 4
    private let folder: TemporaryFolder
    private let store: JobStore

    init() throws {
        folder = try TemporaryFolder()
        store = try JobStore(path: folder.file("penumbra.sqlite"))
    }

    private func input(_ name: String) -> String { folder.file("photos/\(name).png") }

    private func write(_ names: String...) throws {
        try FileManager.default.createDirectory(atPath: folder.file("photos"), withIntermediateDirectories: true)
        for name in names { try Data(name.utf8).write(to: URL(filePath: input(name))) }
    }

    /// Records that the job has published an output of each of these inputs.
    private func publish(_ names: String...) throws {
        let facts = FileFacts(
            stamp: FileStamp(device: 0, inode: 1, size: 2, modified: 3, changed: 0), digest: Digest(high: 1, low: 2))
        try store.write { writer in
            let job = try writer.job(manifest: "/jobs/night.yaml", name: "night")
            let recipe = try writer.recipe("r")
            let records = names.map { name in
                OutputRecord(
                    path: "/out/\(name).webp", input: input(name), page: 0, part: 0, source: facts, recipe: recipe,
                    file: facts, width: 1, height: 1)
            }
            try writer.publish(records, job: job)
        }
    }

    /// Records an ended run, in which each frame has a letter of the map. Frames in other states than `s` and `b` are recorded.
    ///
    /// - Parameter frames: as in a map. Nil for pictures with one page.
    private func run(
        _ name: String, frames: String? = nil, _ letters: String, failing failed: String = "", at time: Int64
    ) throws {
        var counts = RunCounts()
        counts.stillBroken = letters.count { $0 == "b" }
        try store.write { writer in
            let job = try writer.job(manifest: "/jobs/night.yaml", name: "night")
            let run = try writer.begin(
                run: name, of: job, at: time, workers: 1, request: "{}", counts: counts.json)
            for (index, letter) in letters.enumerated() where letter == "f" {
                try writer.put(
                    StoredFrame(
                        number: index + 1, page: 0, input: input(failed), recipe: "r", outputs: [],
                        state: .failed(cause: "input", message: "m")), run: run)
            }
            let list = frames ?? "[[1,\(letters.count)]]"
            let text = "{\"version\":1,\"frames\":\(list)}\n" + letters.map { "1\($0)" }.joined()
            try writer.set(run, map: text)
            try writer.end(run, at: time + 1, exitCode: 0, reason: nil)
        }
    }

    private func frame(_ number: Int, of name: String) throws -> StoredFrame? {
        let archive = try RunArchive(state: folder.path)
        return try UnrecordedFrames().frame(FrameID(number), of: archive.run(exactly: name), in: archive)
    }

    @Test func `a frame that was up to date is found with its input and its outputs`() throws {
        try write("a", "b", "c")
        try publish("c", "a", "b")
        try run("run-1", "sss", at: Self.later)
        let found = try #require(try frame(2, of: "run-1"))
        #expect(found.input == input("b"))
        #expect(found.outputs == ["/out/b.webp"])
        #expect(found.recipe == "r")
        #expect(found.state == .skipped())
        #expect(try frame(4, of: "run-1") == nil)
    }

    @Test func `a frame whose output was kept says why`() throws {
        try write("a", "b")
        try publish("a", "b")
        try store.write { writer in
            let job = try writer.job(manifest: "/jobs/night.yaml", name: "night")
            let texts = ["/out/a.webp", "/out/b.webp"].map { KeptNotice.text($0, reason: "\($0) was edited: by hand") }
            _ = try writer.reportNew(texts, kind: KeptNotice.kind, isAll: true, job: job)
        }
        try run("run-1", "sk", at: Self.later)
        #expect(try frame(1, of: "run-1")?.state == .skipped())
        let kept = try #require(try frame(2, of: "run-1"))
        #expect(kept.state == .kept(reason: "/out/b.webp was edited: by hand"))
        #expect(StoredFrameLine(kept, published: nil).reason == "/out/b.webp was edited: by hand")
    }

    @Test func `failed frames count, too`() throws {
        try write("a", "b", "c")
        try publish("a", "c")
        try run("run-1", "sfs", failing: "b", at: Self.later)
        #expect(try frame(3, of: "run-1")?.input == input("c"))
    }

    @Test func `an earlier run of the job is not certain any more`() throws {
        try write("a", "b")
        try publish("a", "b")
        try run("run-1", "ss", at: Self.later)
        try run("run-2", "ss", at: Self.later + 10)
        #expect(try frame(1, of: "run-1") == nil)
        #expect(try frame(1, of: "run-2")?.input == input("a"))
    }

    @Test func `what was found of a run is forgotten when a later run begins`() throws {
        try write("a", "b")
        try publish("a", "b")
        try run("run-1", "ss", at: Self.later)
        let archive = try RunArchive(state: folder.path)
        let frames = UnrecordedFrames()
        #expect(try frames.frame(FrameID(1), of: archive.run(exactly: "run-1"), in: archive)?.input == input("a"))
        try run("run-2", "ss", at: Self.later + 10)
        #expect(try frames.frame(FrameID(1), of: archive.run(exactly: "run-1"), in: archive) == nil)
    }

    @Test func `outputs of pictures that were removed before the run do not count`() throws {
        try write("a", "c")
        try publish("a", "b", "c")
        try run("run-1", "ss", at: Self.later)
        #expect(try frame(2, of: "run-1")?.input == input("c"))
    }

    @Test func `a picture that may have been removed after the run makes nothing certain`() throws {
        try write("a", "c")
        try publish("a", "b", "c")
        // Before the folder has changed last.
        try run("run-1", "ss", at: 1_000_000_000)
        #expect(try frame(2, of: "run-1") == nil)
    }

    @Test func `outputs of pictures that the job does not take any more make nothing certain`() throws {
        try write("a", "b", "c")
        try publish("a", "b", "c")
        try run("run-1", "ss", at: Self.later)
        #expect(try frame(1, of: "run-1") == nil)
    }

    // MARK: Still broken

    /// Records that these pages failed because of their data, before all runs of a test.
    private func spoil(_ pages: (name: String, page: Int)...) throws {
        try store.write { writer in
            let job = try writer.job(manifest: "/jobs/night.yaml", name: "night")
            let recipe = try writer.recipe("r")
            for (name, page) in pages {
                try writer.setBroken(
                    BrokenRecord(
                        input: input(name), page: page,
                        stamp: FileStamp(device: 0, inode: 1, size: 2, modified: 3, changed: 0), recipe: recipe,
                        message: "cut off", since: 1), job: job)
            }
        }
    }

    /// Frames with the names of their inputs.
    private func stillBroken(in name: String) throws -> [String] {
        let archive = try RunArchive(state: folder.path)
        let run = try archive.run(exactly: name)
        return try UnrecordedFrames().stillBroken(in: run, archive.details(of: run), archive).map { line in
            let frame = line.frame.map { FramePlace.text(FrameID($0, page: line.page)) } ?? "?"
            return "\(frame) \(URL(filePath: line.input).lastPathComponent)"
        }
    }

    @Test func `pictures that are still broken have their frames`() throws {
        try write("a", "b", "c")
        try publish("b")
        try spoil(("c", 0), ("a", 0))
        try run("run-1", "bsb", at: Self.later)
        #expect(try stillBroken(in: "run-1") == ["1 a.png", "3 c.png"])
    }

    @Test func `a broken picture that was removed is not listed`() throws {
        try write("a", "b")
        try publish("b")
        try spoil(("c", 0), ("a", 0))
        try run("run-1", "bs", at: Self.later)
        #expect(try stillBroken(in: "run-1").map { $0.suffix(5) } == ["a.png"])
    }

    @Test func `a broken picture that has another state in the run does not move the others`() throws {
        try write("a", "b", "c")
        try publish("a", "b")
        try spoil(("a", 0), ("c", 0))
        try run("run-1", "ssb", at: Self.later)
        #expect(try stillBroken(in: "run-1") == ["? a.png", "3 c.png"])
    }

    @Test func `pages that are still broken have their frames`() throws {
        try write("a")
        try spoil(("a", 1), ("a", 2))
        try run("run-1", frames: "[[1,0,3]]", "sbb", at: Self.later)
        #expect(try stillBroken(in: "run-1") == ["1p2 a.png", "1p3 a.png"])
    }

    @Test func `after a later run, frames of broken pictures are not certain`() throws {
        try write("a", "b")
        try publish("b")
        try spoil(("a", 0))
        try run("run-1", "bs", at: Self.later)
        try run("run-2", "bs", at: Self.later + 10)
        #expect(try stillBroken(in: "run-1") == ["? a.png"])
        #expect(try stillBroken(in: "run-2") == ["1 a.png"])
    }

    @Test func `recorded frames at other places than their inputs make nothing certain`() throws {
        try write("a", "b", "c")
        try publish("a", "b")
        try run("run-1", "fss", failing: "c", at: Self.later)
        #expect(try frame(2, of: "run-1") == nil)
    }
}
