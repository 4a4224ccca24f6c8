import Coordination
import Foundation
import JobModel
import JobStorage
import TestSupport
import Testing

@Suite struct OutputSampleTests {
    @Test(arguments: [
        (OutputSample.count(12), 1200, 12), (.count(12), 5, 5), (.percent(1), 1200, 12), (.percent(1), 1201, 13),
        (.percent(0.1), 3, 1), (.percent(100), 7, 7), (.percent(5), 0, 0),
    ])
    func `a sample has the size that was asked for`(sample: OutputSample, total: Int, size: Int) {
        let places = sample.indexes(of: total, seed: 5)
        #expect(places.count == size)
        #expect(Set(places).count == size)
        #expect(places == places.sorted())
        #expect(places.allSatisfy((0..<total).contains))
    }

    @Test func `the same seed always chooses the same outputs`() {
        #expect(OutputSample.count(5).indexes(of: 100, seed: 42) == [2, 9, 13, 83, 86])
    }

    @Test func `every output is chosen about as often as any other`() {
        var counts = Array(repeating: 0, count: 10)
        for seed in 0..<2000 {
            for place in OutputSample.count(3).indexes(of: 10, seed: UInt64(seed)) { counts[place] += 1 }
        }
        #expect(counts.allSatisfy { (500...700).contains($0) }, "\(counts)")
    }
}

/// Records of outputs in the database, in indexes and in receipts.
@Suite struct RecordSearchTests {
    private let ledgers: LedgerTests

    init() throws { ledgers = try LedgerTests() }

    private func search() throws -> RecordSearch { try RecordSearch(state: ledgers.state) }

    private func found(_ name: String) throws -> [String] {
        try search().outputs(at: name == "." ? ledgers.place.path : ledgers.place.file(name)).map { output in
            "\(output.job): \(PathNames.relative(output.record.path, to: ledgers.place.path) ?? "")"
        }
    }

    @Test func `outputs of all jobs are found by their paths and folders, with the database and without`() throws {
        try ledgers.publish(["out/a", "out/sub/b"], for: ledgers.job("one"))
        try ledgers.publish(["out/sub/c"], for: ledgers.job("other"))
        for _ in 0..<2 {
            #expect(try found("out/a") == ["one: out/a"])
            #expect(try found("out/sub/c") == ["other: out/sub/c"])
            #expect(try found("out/sub") == ["one: out/sub/b", "other: out/sub/c"])
            #expect(try found("out") == ["one: out/a", "one: out/sub/b", "other: out/sub/c"])
            #expect(try found(".") == ["one: out/a", "one: out/sub/b", "other: out/sub/c"])
            #expect(try found("out/su") == [])
            #expect(try found("out/d") == [])
            let output = try #require(try search().outputs(at: ledgers.place.file("out/a")).first)
            #expect(output.recipe == Recipe.make([.gaussian(12)]).text)
            #expect(output.record.pixels == .make())
            if FileManager.default.fileExists(atPath: ledgers.state) { try ledgers.loseDatabase() }
        }
    }

    @Test func `the database overrides an index`() throws {
        try ledgers.publish(["out/a"], for: ledgers.job())
        let old = try Data(contentsOf: URL(filePath: ledgers.index))
        let newer = try ledgers.publish(["out/a"], for: ledgers.job(), text: "new pixels")
        try old.write(to: URL(filePath: ledgers.index))
        let output = try #require(try search().outputs(at: ledgers.place.file("out/a")).first)
        #expect(output.record.file.digest == newer[0].file.digest)
    }

    @Test func `an index of an older version is read and has no digests of pixels`() throws {
        try ledgers.publish(["out/a"], for: ledgers.job())
        let text = try String(contentsOfFile: ledgers.index, encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix(#"{"encoding""#) }.map { line in
            String(line).replacing(/"encoding":0,/, with: "").replacing(/"pixels":"[0-9a-f]*",/, with: "")
        }
        #expect(lines.count == 3)
        #expect(!lines.joined().contains("encoding") && !lines.joined().contains("pixels\":\""))
        try write(lines.map { $0 + "\n" }.joined(), to: ledgers.index)
        try ledgers.loseDatabase()
        let output = try #require(try search().outputs(at: ledgers.place.file("out/a")).first)
        #expect(output.record.pixels == nil)
        #expect(try ledgers.ledger(of: ledgers.job()).contents.records.map(\.pixels) == [nil])
    }

    @Test func `encodings are numbered once in an index`() throws {
        let ledger = try ledgers.ledger(of: ledgers.job())
        var records = try ["out/a", "out/b", "out/c"].map { try ledgers.output($0, by: ledger) }
        records[1].pixels = .make(8, encoder: "libvips 9")
        records[2].pixels = nil
        try ledger.publish(records)
        let text = try String(contentsOfFile: ledgers.index, encoding: .utf8)
        #expect(text.ranges(of: #"{"encoding":{"#).count == 2)
        for _ in 0..<2 {
            #expect(ledgers.known(try ledgers.ledger(of: ledgers.job()).contents) == ledgers.known(records))
            try ledgers.loseDatabase()
        }
    }
}
