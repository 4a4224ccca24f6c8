import Coordination
import Foundation
import JobModel
import JobStorage
import SafeFiles
import TestSupport
import Testing

/// What becomes of an index that somebody else has made, moved or cut.
extension LedgerTests {
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: place.file("out")).sorted() }
    }

    private func tidy(_ job: JobSpec) throws { try ledger(of: job).tidyIndexes { "\($0)/.penumbra-aside" } }

    private func makeReadOnly(_ path: String, _ permissions: Int = 0o444) throws {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    @Test func `a link in the index's place is replaced, and what it leads to is neither read nor written`() throws {
        let records = try publish(["out/a"], for: job())
        try FileManager.default.removeItem(atPath: index)
        try write("a letter", to: place.file("letter"))
        try FileManager.default.createSymbolicLink(atPath: index, withDestinationPath: place.file("letter"))
        let ledger = try ledger(of: job())
        let record = try output("out/b", by: ledger)
        try ledger.publish([record])
        try ledger.tidyIndexes { "\($0)/.penumbra-aside" }
        #expect(try String(contentsOfFile: place.file("letter"), encoding: .utf8) == "a letter")
        #expect(try !String(contentsOfFile: index, encoding: .utf8).contains("letter"))
        #expect(try names == [".penumbra-index", "a", "b"])
        try loseDatabase()
        #expect(known(try self.ledger(of: job()).contents) == known(records + [record]))
    }

    @Test func `an index that goes on as a hole of a terabyte is read as far as it has lines`() throws {
        let records = try publish(["out/a"], for: job())
        try loseDatabase()
        #expect(truncate(index, 1 << 40) == 0)
        #expect(known(try ledger(of: job()).contents) == known(records))
    }

    /// Root may write to any file.
    @Test(.enabled(if: getuid() != 0))
    func `an index that belongs to somebody else is replaced, with all that is in it`() throws {
        let (one, other) = (job("one"), job("other"))
        let others = try publish(["out/b"], for: other, radius: 3)
        let before = try publish(["out/a"], for: one)
        try makeReadOnly(index)
        let after = try publish(["out/c"], for: one)
        #expect(try names == [".penumbra-index", "a", "b", "c"])
        try loseDatabase()
        #expect(known(try ledger(of: one).contents) == known(before + after))
        #expect(known(try ledger(of: other).contents) == known(others, radius: 3))
    }

    @Test(.enabled(if: getuid() != 0))
    func `an index that can be neither written nor replaced is told with what to do`() throws {
        let ledger = try ledger(of: job())
        let record = try output("out/a", by: ledger)
        try write("", to: index)
        try makeReadOnly(index)
        try makeReadOnly(place.file("out"), 0o555)
        let trouble = #expect(throws: FileTrouble.self) { try ledger.publish([record]) }
        try makeReadOnly(place.file("out"), 0o755)
        #expect(
            trouble?.message
                == "\(index): cannot write the index of the outputs: Permission denied\n   = remove this file, or give it "
                + "and its folder to the user who runs the job: the database knows what is in it")
    }

    /// Leaves the job's first line, its recipe and so many outputs.
    private func cutIndex(outputs: Int) throws {
        let lines = try String(contentsOfFile: index, encoding: .utf8).split(separator: "\n")
        try write(lines.prefix(2 + outputs).map { "\($0)\n" }.joined(), to: index)
    }

    @Test(arguments: [0, 1, 2])
    func `an index that was cut is written anew, with what only the database knows`(left: Int) throws {
        let records = try publish(["out/a", "out/b", "out/c"], for: job())
        try cutIndex(outputs: left)
        #expect(known(try ledger(of: job()).contents) == known(records))
        try tidy(job())
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known(records))
    }

    @Test func `an index that was cut is written anew by a later run, when one is killed before that`() throws {
        let records = try publish(["out/a", "out/b"], for: job())
        try cutIndex(outputs: 1)
        let late = try publish(["out/c"], for: job())
        try tidy(job())
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known(records + late))
    }

    @Test func `an index with old lines of outputs that were published again is written anew`() throws {
        try publish(["out/a"], for: job())
        let old = try Data(contentsOf: URL(filePath: index))
        let newer = try publish(["out/a"], for: job(), text: "new pixels")
        try old.write(to: URL(filePath: index))
        try tidy(job())
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known(newer))
    }

    @Test func `an index that is whole is left alone`() throws {
        try publish(["out/a", "out/b"], for: job())
        let before = try #require(stamp(at: index))
        try write(String(contentsOfFile: index, encoding: .utf8) + "\n", to: index)
        let longer = try #require(stamp(at: index))
        try tidy(job())
        #expect(stamp(at: index)?.size == longer.size)
        #expect(longer.size == before.size + 1)
    }

    @Test func `those who only look tell recipes of two indexes apart`() throws {
        let job = job("nightly", [.stem("out/"), .stem("thumbs/")])
        try publish(["out/a"], for: job, radius: 1)
        try publish(["out/b"], for: job, radius: 2)
        try publish(["thumbs/a"], for: job, radius: 3)
        try loseDatabase()
        let contents = try look(job)
        let texts = Dictionary(contents.records.map { ($0.path, contents.recipes[$0.recipe]) }) { $1 }
        let radii = [(1.0, "out/a"), (2, "out/b"), (3, "thumbs/a")]
        for (radius, name) in radii { #expect(texts[place.file(name)] == Recipe.make([.gaussian(radius)]).text) }
    }

    @Test func `outputs whose names look the same are two`() throws {
        let names = ["out/caf\u{E9}", "out/cafe\u{301}", "out/\u{301}e"]
        let records = try publish(names, for: job())
        let paths = Set(names.map { PathKey(place.file($0)) })
        for _ in 0..<2 {
            #expect(Set(try ledger(of: job()).contents.records.map { PathKey($0.path) }) == paths)
            #expect(known(try ledger(of: job()).contents) == known(records))
            #expect(Set(try look(job()).records.map { PathKey($0.path) }) == paths)
            try loseDatabase()
            #expect(Set(try look(job()).records.map { PathKey($0.path) }) == paths)
        }
    }

    @Test func `where inodes wander a renamed output is known by its size and time`() throws {
        var job = job()
        let first = try ledger(of: job)
        var record = try output("out/a", by: first)
        let stamp = record.file.stamp
        record.file = FileFacts(
            stamp: FileStamp(
                device: 0, inode: stamp.inode + 1, size: stamp.size, modified: stamp.modified, changed: 0),
            digest: record.file.digest)
        for (compare, isKnown) in [(ComparePolicy.stamp, false), (.size, true)] {
            job.compare = compare
            try intend([record], job)
            #expect(try ledger(of: job).contents.records.isEmpty == !isKnown)
        }
    }
}
