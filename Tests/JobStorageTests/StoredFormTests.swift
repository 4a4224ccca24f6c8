import Foundation
import JobModel
import JobStorage
import Testing

/// Run folders and the database hold these texts. Version 0.1 has written them.
@Suite struct StoredFormTests {
    /// Swift writes the names of cases and properties.
    private static let results: [(FrameResult, String)] = [
        (.open, #"{"open":{}}"#), (.published, #"{"published":{}}"#), (.skipped(), #"{"skipped":{}}"#),
        (.failed(cause: "c", message: "m"), #"{"failed":{"cause":"c","message":"m"}}"#), (.left, #"{"left":{}}"#),
    ]

    private func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    @Test(arguments: results) func `a frame's result keeps its stored form`(result: FrameResult, stored: String) throws
    {
        #expect(try text(result) == stored)
        #expect(try JSONDecoder().decode(FrameResult.self, from: Data(stored.utf8)) == result)
    }

    @Test func `a frame of a run's history keeps its stored form`() throws {
        let stored =
            #"{"input":"/in/1","number":7,"outputs":["/out/1"],"page":0,"recipe":"r","seconds":0.5,"state":{"published":{}}}"#
        let frame = try JSONDecoder().decode(StoredFrame.self, from: Data(stored.utf8))
        #expect(frame.state == .published && frame.number == 7 && frame.seconds == 0.5)
        #expect(try text(frame) == stored)
    }

    @Test func `the numbers of a run keep their stored form`() throws {
        let stored =
            #"{"bytesWritten":31327,"failed":1,"failedByCause":{"worker crashed":1},"frames":20,"kept":0,"left":0,"#
            + #""megapixels":0.5,"notes":["n"],"published":19,"remaking":{"only":["a*"]},"seconds":1.5,"skipped":0,"#
            + #""stillBroken":0,"work":20}"#
        let counts = RunCounts(json: stored)
        #expect(counts.published == 19 && counts.failedByCause == ["worker crashed": 1])
        #expect(counts.rerun == FullRerun(only: ["a*"], limit: nil, list: nil))
        #expect(try text(counts) == stored)
    }

    @Test func `numbers that an older version stored without causes and notes are read`() {
        let counts = RunCounts(
            json:
                #"{"work":20,"skipped":2,"published":0,"stillBroken":0,"kept":0,"left":0,"seconds":0,"megapixels":0,"frames":20,"failed":0,"bytesWritten":0}"#
        )
        #expect(counts.frames == 20 && counts.skipped == 2 && counts.failedByCause == nil && counts.notes == nil)
    }

    /// `run.json`
    private static let running =
        #"{"command":"c","counts":"{\"work\":20,\"skipped\":0,\"published\":0,\"stillBroken\":0,\"kept\":0,\"left\":0,"#
        + #"\"seconds\":0,\"megapixels\":0,\"frames\":20,\"failed\":0,\"bytesWritten\":0}","#
        + #""disks":{"folders":[{"disk":"d","mount":"/","path":"/out"}],"host":"vm"},"job":"night","manifest":"/m.yaml","#
        + #""memory":7,"request":"{\"arguments\":[\"m.yaml\"]}","run":"run-1","started":5,"workers":3}"#

    private func object(_ text: String) throws -> NSDictionary {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? NSDictionary)
    }

    @Test func `the record of a run that has not ended keeps its stored form`() throws {
        let record = try JSONDecoder().decode(RunRecord.self, from: Data(Self.running.utf8))
        #expect((record.name, record.job, record.manifest, record.started) == ("run-1", "night", "/m.yaml", 5))
        #expect((record.workers, record.memory, record.command) == (3, 7, "c"))
        #expect(record.request == #"{"arguments":["m.yaml"]}"# && record.counts.work == 20 && !record.state.isEnded)
        #expect(
            record.disks
                == RecordedDisks(host: "vm", folders: [RecordedDisks.Folder(path: "/out", mount: "/", disk: "d")]))
        #expect(record.isPlausible)
        // Texts within the text have keys in any order.
        let written = try JSONDecoder().decode(RunRecord.self, from: Data(try text(record).utf8))
        #expect(written == record)
        #expect(
            try Set(object(try text(record)).allKeys.map { "\($0)" })
                == Set(object(Self.running).allKeys.map { "\($0)" }))
    }

    @Test func `the end of a run keeps its stored form`() throws {
        let stored =
            #"{"ended":9,"epoch":2,"exitCode":1,"failures":[{"cause":"c","input":"/in","message":"m","outputs":["/out"]}],"#
            + #""hasMoreFailures":false,"reason":"r","record":\#(Self.running)}"#
        let record = try JSONDecoder().decode(RunRecord.self, from: Data(stored.utf8))
        let failure = RunRecord.Failure(input: "/in", outputs: ["/out"], cause: "c", message: "m")
        let end = RunRecord.End(time: 9, exitCode: 1, reason: "r", failures: [failure], hasMoreFailures: false)
        #expect(record.state == .ended(end) && record.epoch == 2 && record.name == "run-1")
        let again = try text(record)
        #expect(try JSONDecoder().decode(RunRecord.self, from: Data(again.utf8)) == record)
        #expect(try Set(object(again).allKeys.map { "\($0)" }) == Set(object(stored).allKeys.map { "\($0)" }))
    }

    @Test func `numbers that no run has are not believed`() throws {
        let record = try JSONDecoder().decode(RunRecord.self, from: Data(Self.running.utf8))
        var (late, ended) = (record, record)
        late.started = .max
        ended.state = .ended(at: 9, exitCode: 256, reason: nil)
        #expect(record.isPlausible && !late.isPlausible && !ended.isPlausible)
    }
}

@Suite struct RunCountsTests {
    @Test func `each frame is counted once, and those that are not counted are open`() {
        var counts = RunCounts()
        counts.frames = 9
        let results: [FrameResult] = [
            .published, .skipped(), .kept(reason: "edited"), .stillBroken(since: 0, message: "m"),
            .failed(cause: "c", message: "m"), .left, .open,
        ]
        for result in results { counts.add(result) }
        #expect(FrameResult.Kind.ended.allSatisfy { counts[$0] == 1 })
        #expect(counts.concluded == 5 && counts.open == 3 && counts[.open] == 3)
    }

    @Test func `causes are counted where they are asked for`() {
        var (plain, counts) = (RunCounts(), RunCounts())
        counts.failedByCause = ["c": 0, "d": 0]
        for _ in 0..<2 {
            plain.add(.failed(cause: "c", message: "m"))
            counts.add(.failed(cause: "c", message: "m"))
        }
        #expect(plain.failedByCause == nil && counts.failedByCause == ["c": 2, "d": 0])
    }

    @Test func `kept frames are counted by their reasons, of which some are told apart`() {
        var counts = RunCounts()
        for _ in 0..<2 { counts.add(.kept(reason: "edited")) }
        counts.add(.kept(reason: ""))
        #expect(counts.keptByReason == ["edited": 2, "other reasons": 1])
        for number in 1...20 { counts.add(.kept(reason: "of job \(number)")) }
        #expect(counts.kept == 23)
        #expect(counts.keptByReason?.count == 16)
        #expect(counts.keptByReason?["other reasons"] == 7)
        #expect(counts.keptByReason?.values.reduce(0, +) == 23)
        #expect(RunCounts(json: counts.json) == counts)
        #expect(RunCounts(json: #"{"keptByReason":{"edited":-1}}"#) == RunCounts())
        var sum = RunCounts()
        sum += counts
        #expect(sum.keptByReason == counts.keptByReason)
    }

    @Test func `the numbers of several runs add up`() {
        var (sum, other) = (RunCounts(), RunCounts())
        (other.frames, other.published, other.left, other.seconds) = (3, 2, 1, 0.5)
        (other.failedByCause, other.notes) = (["c": 1], ["n"])
        sum += other
        #expect(sum == other)
        sum += other
        #expect((sum.frames, sum.published, sum.left, sum.seconds) == (6, 4, 2, 1))
        #expect(sum.failedByCause == ["c": 2] && sum.notes == ["n", "n"])
        sum += RunCounts()
        #expect(sum.failedByCause == ["c": 2] && sum.notes == ["n", "n"])
    }
}
