import Coordination
import Foundation
import Glibc
import JobModel
import JobStorage
import SafeFiles
import TestSupport
import Testing

/// Indexes that another user wrote, moved or cut.
extension LedgerTests {
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: place.file("out")).sorted() }
    }

    private func tidy(_ job: JobSpec) throws { try ledger(of: job).tidyIndexes { "\($0)/.penumbra-aside" } }

    private func makeReadOnly(_ path: String, _ permissions: Int = 0o444) throws {
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    @Test func `a link in place of the index is replaced, and its target is neither read nor written`() throws {
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

    @Test func `an index with another name is replaced, and the file of that name stays as it is`() throws {
        let records = try publish(["out/a"], for: job())
        try FileManager.default.linkItem(atPath: index, toPath: place.file("snapshot"))
        let before = try String(contentsOfFile: place.file("snapshot"), encoding: .utf8)
        let ledger = try ledger(of: job())
        let record = try output("out/b", by: ledger)
        try ledger.publish([record])
        #expect(try String(contentsOfFile: place.file("snapshot"), encoding: .utf8) == before)
        #expect(try names == [".penumbra-index", "a", "b"])
        try loseDatabase()
        #expect(known(try self.ledger(of: job()).contents) == known(records + [record]))
    }

    private func putFolderInPlaceOfIndex() throws {
        try FileManager.default.removeItem(atPath: index)
        try FileManager.default.createDirectory(atPath: index, withIntermediateDirectories: false)
    }

    @Test func `an empty folder in place of the index is replaced while a run publishes`() throws {
        let records = try publish(["out/a"], for: job())
        let ledger = try ledger(of: job())
        try putFolderInPlaceOfIndex()
        let record = try output("out/b", by: ledger)
        try ledger.publish([record])
        try ledger.tidyIndexes { "\($0)/.penumbra-aside" }
        #expect(try names == [".penumbra-index", "a", "b"])
        try loseDatabase()
        #expect(known(try self.ledger(of: job()).contents) == known(records + [record]))
    }

    @Test func `an empty folder in place of the index is replaced by a run that publishes nothing`() throws {
        let records = try publish(["out/a"], for: job())
        try putFolderInPlaceOfIndex()
        try tidy(job())
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known(records))
    }

    @Test func `a folder with files in place of the index stays as it is, and the message says to move it`() throws {
        try publish(["out/a"], for: job())
        let ledger = try ledger(of: job())
        try putFolderInPlaceOfIndex()
        try write("a letter", to: "\(index)/letter")
        let record = try output("out/b", by: ledger)
        let message =
            "\(index): cannot write the index of the outputs: Is a directory\n   = a folder that is not empty, or cannot "
            + "be removed, has this name: move it away, and run again"
        #expect(#expect(throws: FileError.self) { try ledger.publish([record]) }?.message == message)
        #expect(#expect(throws: FileError.self) { try tidy(job()) }?.message == message)
        #expect(try String(contentsOfFile: "\(index)/letter", encoding: .utf8) == "a letter")
        #expect(try names == [".penumbra-index", "a", "b"])
    }

    @Test func `no index is written in a folder that took the place of the one that the run locked`() throws {
        let records = try publish(["out/a"], for: job())
        let ledger = try ledger(of: job())
        try write("a photo", to: place.file("photos/a"))
        try FileManager.default.moveItem(atPath: place.file("out"), toPath: place.file("out-before"))
        try FileManager.default.createSymbolicLink(atPath: place.file("out"), withDestinationPath: "photos")
        let trouble = FileError(
            path: place.file("out"), code: ESTALE, action: "write the index of the outputs there",
            reason: "the folder was replaced by another one, or by a link, while the run went on",
            remedy: "put the folder back, and run the job again")
        #expect(throws: trouble) { try ledger.publish(records) }
        #expect(throws: trouble) { try ledger.forget(records.map(\.path)) }
        // To the database the index is lost.
        #expect(throws: trouble) { try ledger.tidyIndexes { "\($0)/.penumbra-aside" } }
        #expect(try names == ["a"])
    }

    @Test func `an index that ends in a hole of a terabyte is read up to the end of its lines`() throws {
        let records = try publish(["out/a"], for: job())
        try loseDatabase()
        #expect(truncate(index, 1 << 40) == 0)
        #expect(known(try ledger(of: job()).contents) == known(records))
    }

    private static let remedy =
        "\n   = if it is right, give it to the user who runs the job, and let only that user write to it (chown, chmod 644); "
        + "'penumbra adopt' accepts the outputs one by one"

    private func priorOutputs(_ contents: LedgerContents, at name: String) throws -> [PathKey: PriorOutput] {
        let path = place.file(name)
        let key = RecipeTable(catalog: .make(), texts: [:]).key(of: .make())
        let output = FrameFiles.Output(path: path, stamp: stamp(at: path), recipe: key)
        return try #require(contents.priorLookup).outputs([output]) { _, _ in nil }
    }

    private func distrust(_ reason: String) -> String {
        "\(index): cannot trust the index of the outputs: \(reason)\(Self.remedy)"
    }

    @Test(.enabled(if: geteuid() == 0, "files of another user take root"))
    func `an index of another user is not trusted, and that is reported`() throws {
        try publish(["out/a"], for: job())
        try loseDatabase()
        chown(index, 12345, 12345)

        for contents in try [look(job()), ledger(of: job()).contents] {
            #expect(contents.records.isEmpty)
            #expect(contents.distrusted.map(\.message) == [distrust("it belongs to another user (uid 12345)")])
            #expect(try priorOutputs(contents, at: "out/a").isEmpty)
        }
        // Another job would take over its outputs.
        let other = try look(job("other"))
        #expect(try priorOutputs(other, at: "out/a").isEmpty)
        #expect(other.distrusted.isEmpty)
    }

    @Test func `an index of another user without new outputs is not reported`() throws {
        let records = try publish(["out/a"], for: job())
        try makeReadOnly(index, 0o666)
        // Another user's job has run here.
        try write(String(contentsOfFile: index, encoding: .utf8) + "\n", to: index)
        chmod(index, 0o666)

        let contents = try ledger(of: job()).contents
        #expect(known(contents) == known(records))
        #expect(contents.distrusted.isEmpty)
    }

    @Test(arguments: [(0o666, false), (0o662, false), (0o664, false), (0o644, true), (0o600, true)])
    func `an index that others may write to decides nothing`(mode: Int, isBelieved: Bool) throws {
        try publish(["out/a"], for: job())
        try loseDatabase()
        // A group that is not the group of a single user.
        chown(index, geteuid(), geteuid() == 0 ? 4242 : getegid())
        try makeReadOnly(index, mode)
        let isOwnGroup = geteuid() != 0 && geteuid() == getegid() && mode == 0o664

        let contents = try ledger(of: job()).contents
        #expect(contents.records.isEmpty == !(isBelieved || isOwnGroup))
        #expect(
            contents.distrusted.map(\.message)
                == (isBelieved || isOwnGroup ? [] : [distrust("other users may write to it")]))
    }

    @Test func `an index that a user's own group may write to is that user's`() throws {
        let records = try publish(["out/a"], for: job())
        try loseDatabase()
        guard chown(index, geteuid(), geteuid()) == 0 else { return }
        try makeReadOnly(index, 0o664)

        #expect(known(try ledger(of: job()).contents) == known(records))
    }

    @Test func `lines that another user may have written are not copied`() throws {
        try publish(["out/b"], for: job("other"))
        try publish(["out/a"], for: job("one"))
        let lines = try String(contentsOfFile: index, encoding: .utf8)
        // The index is so long that it is rewritten.
        try write(lines + String(repeating: "\n", count: 110_000), to: index)
        chmod(index, 0o666)
        try tidy(job("one"))

        let written = try String(contentsOfFile: index, encoding: .utf8)
        #expect(lines.contains("other") && !written.contains("other"))
        #expect(written.contains("\"path\":\"a\""))
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
    func `an index that can be neither written nor replaced is reported with a remedy`() throws {
        let ledger = try ledger(of: job())
        let record = try output("out/a", by: ledger)
        try write("", to: index)
        try makeReadOnly(index)
        try makeReadOnly(place.file("out"), 0o555)
        let trouble = #expect(throws: FileError.self) { try ledger.publish([record]) }
        try makeReadOnly(place.file("out"), 0o755)
        #expect(
            trouble?.message
                == "\(index): cannot write the index of the outputs: Permission denied\n   = remove this file, or give it "
                + "and its folder to the user who runs the job: the database has its records")
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

    @Test func `a cut index is rewritten by a later run if a run was killed before`() throws {
        let records = try publish(["out/a", "out/b"], for: job())
        try cutIndex(outputs: 1)
        let late = try publish(["out/c"], for: job())
        try tidy(job())
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known(records + late))
    }

    @Test func `an index with old lines of outputs that were published again is rewritten`() throws {
        try publish(["out/a"], for: job())
        let old = try Data(contentsOf: URL(filePath: index))
        let newer = try publish(["out/a"], for: job(), text: "new pixels")
        try old.write(to: URL(filePath: index))
        try tidy(job())
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known(newer))
    }

    @Test func `a complete index is not rewritten`() throws {
        try publish(["out/a", "out/b"], for: job())
        let before = try #require(stamp(at: index))
        try write(String(contentsOfFile: index, encoding: .utf8) + "\n", to: index)
        let longer = try #require(stamp(at: index))
        try tidy(job())
        #expect(stamp(at: index)?.size == longer.size)
        #expect(longer.size == before.size + 1)
    }

    @Test func `readers distinguish the recipes of two indexes`() throws {
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

    @Test func `outputs whose names look the same are different`() throws {
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

    @Test func `a renamed output is recognised by size and time if inodes change`() throws {
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
