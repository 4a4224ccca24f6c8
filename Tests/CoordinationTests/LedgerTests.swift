import Coordination
import Foundation
import JobModel
import JobStorage
import Runs
import Testing
import TestSupport

/// A ledger's database and indexes on a disk.
@Suite struct LedgerTests {
    let place: TemporaryFolder

    init() throws { place = try TemporaryFolder() }

    var state: String { place.file("state") }
    var index: String { place.file("out/.penumbra-index") }

    func job(_ name: String = "nightly", _ outputs: [OutputTemplate] = [.stem()]) -> JobSpec {
        .make(name, folder: place.path, outputs: outputs)
    }

    func ledger(of job: JobSpec) throws -> Ledger {
        try Ledger(state: state, job: job, folders: OutputFolders.of(job), roots: LockedFolders(of: job))
    }

    func look(_ job: JobSpec) throws -> LedgerContents {
        try Ledger.inspect(state: state, job: job, folders: OutputFolders.of(job))
    }

    /// Writes an output, and makes its record.
    func output(
        _ name: String, _ text: String = "pixels", by ledger: Ledger, radius: Double = 12
    ) throws -> OutputRecord {
        try record(of: name, text, recipe: ledger.id(of: .make([.gaussian(radius)])))
    }

    func record(of name: String, _ text: String = "pixels", recipe: RecipeID) throws -> OutputRecord {
        let path = place.file(name)
        // A rename, as in publishing: the inode is never the old one.
        try write(text, to: path + "-aside")
        _ = try? FileManager.default.removeItem(atPath: path)  // most are new
        try FileManager.default.moveItem(atPath: path + "-aside", toPath: path)
        let found = try #require(stamp(at: path))
        let known = FileStamp(device: 0, inode: found.inode, size: found.size, modified: found.modified, changed: 0)
        return .make(
            path, input: place.file("photos/\(name.split(separator: "/").last ?? "").jpg"),
            source: FileFacts(
                stamp: FileStamp(device: 0, inode: 1, size: 2, modified: 3, changed: 0), digest: .make(1)),
            recipe: recipe, file: FileFacts(stamp: known, digest: .make(UInt64(text.utf8.count))))
    }

    /// Publishes outputs and closes the ledger.
    @discardableResult
    func publish(_ names: [String], for job: JobSpec, text: String = "pixels", radius: Double = 12) throws
        -> [OutputRecord]
    {
        let ledger = try ledger(of: job)
        let records = try names.map { try output($0, text, by: ledger, radius: radius) }
        try ledger.publish(records)
        return records
    }

    func loseDatabase() throws { try FileManager.default.removeItem(atPath: state) }

    /// The records with the texts of their recipes, whose numbers change when the database is lost.
    func known(_ contents: LedgerContents) -> [OutputRecord: String] {
        Dictionary(
            contents.records.map { record in
                var record = record
                let text = contents.recipes[record.recipe] ?? ""
                record.recipe = RecipeID(index: 0)
                return (record, text)
            }, uniquingKeysWith: { $1 })
    }

    func known(_ records: [OutputRecord], radius: Double = 12) -> [OutputRecord: String] {
        var contents = LedgerContents()
        contents.records = records
        for record in records { contents.recipes[record.recipe] = Recipe.make([.gaussian(radius)]).text }
        return known(contents)
    }

    @Test func `published outputs are known to the next run, and to readers`() throws {
        let records = try publish(["out/a", "out/b"], for: job())
        #expect(known(try ledger(of: job()).contents) == known(records))
        #expect(known(try look(job())) == known(records))
    }

    @Test func `forgotten outputs are not known any more`() throws {
        let records = try publish(["out/a", "out/b"], for: job())
        try ledger(of: job()).forget([records[0].path])
        #expect(known(try ledger(of: job()).contents) == known([records[1]]))
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known([records[1]]))
    }

    @Test func `an adoption beside a gc, which removes recipes without outputs, is recorded`() throws {
        let ledger = try ledger(of: job())
        let record = try output("out/a", by: ledger, radius: 3)
        // The newest recipe always stays.
        _ = try ledger.id(of: .make([.gaussian(4)]))
        try StoredRuns.prune(keeping: 1, state: state)
        try ledger.publish([record])
        #expect(known(try look(job())) == known([record], radius: 3))
    }

    @Test func `an adoption is recorded if its recipe was removed, and another job has stored it under another number`()
        throws
    {
        let ledger = try ledger(of: job())
        let record = try output("out/a", by: ledger, radius: 3)
        _ = try ledger.id(of: .make([.gaussian(4)]))
        try StoredRuns.prune(keeping: 1, state: state)
        let other = try publish(["out/b"], for: job("other"), radius: 3)
        #expect(other[0].recipe != record.recipe)
        try ledger.publish([record])
        #expect(known(try look(job())) == known([record], radius: 3))
    }

    @Test func `reading leaves no trace`() throws {
        #expect(try look(job()).records.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: state))
        #expect(!FileManager.default.fileExists(atPath: place.file("out")))
    }

    @Test func `jobs of one folder know nothing of each other's outputs`() throws {
        let (one, other) = (job("one"), job("other"))
        let records = (try publish(["out/a"], for: one), try publish(["out/b"], for: other, radius: 3))
        for _ in 0..<2 {
            #expect(known(try look(one)) == known(records.0))
            #expect(known(try look(other)) == known(records.1, radius: 3))
            #expect(known(try ledger(of: one).contents) == known(records.0))
            #expect(known(try ledger(of: other).contents) == known(records.1, radius: 3))
            try loseDatabase()
        }
    }

    @Test func `a text is reported once`() throws {
        #expect(try ledger(of: job()).reportOnce("upgrade"))
        #expect(try !ledger(of: job()).reportOnce("upgrade"))
        #expect(try ledger(of: job("other")).reportOnce("upgrade"))
    }
}

/// What remains after a killed run or a lost database.
extension LedgerTests {
    /// A run has recorded its intents, and is killed.
    func intend(_ records: [OutputRecord], _ job: JobSpec) throws {
        let store = try JobStore(path: JobStore.databasePath(state: state))
        try store.write { writer in
            try writer.intend(records, job: try writer.job(manifest: job.manifestPath, name: job.name))
        }
    }

    @Test func `readers see outputs that only an index has`() throws {
        let first = try publish(["out/a", "out/b"], for: job())
        let older = try Data(contentsOf: URL(filePath: JobStore.databasePath(state: state)))
        let second = try publish(["out/c"], for: job(), radius: 3) + publish(["out/a"], for: job(), text: "more pixels")
        try loseDatabase()
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        try older.write(to: URL(filePath: JobStore.databasePath(state: state)))
        let contents = try look(job())
        #expect(Set(contents.records.map(\.path)) == Set((first + second).map(\.path)))
        #expect(contents.records.first { $0.path == second[1].path }?.file == second[1].file)
        let recipes = Set(contents.records.map { contents.recipes[$0.recipe] ?? "" })
        #expect(recipes == [Recipe.make([.gaussian(12)]).text, Recipe.make([.gaussian(3)]).text])
        #expect(try Data(contentsOf: URL(filePath: JobStore.databasePath(state: state))) == older)
    }

    @Test func `an output that was renamed before the run was killed is published`() throws {
        let first = try ledger(of: job())
        let record = try output("out/a", by: first)
        try intend([record], job())
        #expect(known(try ledger(of: job()).contents) == known([record]))
        #expect(known(try ledger(of: job()).contents) == known([record]))
    }

    @Test func `an output that was not renamed yet has its old record or none`() throws {
        let old = try publish(["out/a"], for: job())[0]
        let aside = try record(of: "out/.penumbra-aside", "new pixels", recipe: old.recipe)
        let fresh = try record(of: "out/.penumbra-other", "new pixels", recipe: old.recipe)
        let intents = zip([aside, fresh], ["out/a", "out/b"]).map { record, path in
            var record = record
            record.path = place.file(path)
            return record
        }
        try intend(intents, job())
        #expect(known(try ledger(of: job()).contents) == known([old]))
        #expect(known(try ledger(of: job()).contents) == known([old]))
    }

    @Test func `an output that replaced another one before the run was killed is published`() throws {
        let old = try publish(["out/a"], for: job())[0]
        let new = try record(of: "out/a", "new pixels", recipe: old.recipe)
        try intend([new], job())
        #expect(known(try ledger(of: job()).contents) == known([new]))
    }

    /// Its database is lost with its coordinator.
    private func sharedLedger(of job: JobSpec? = nil) throws -> Ledger {
        let log = RunFolder(state: place.file("shared"), name: "run-1").log
        let job = job ?? self.job()
        return try Ledger(
            state: state, job: job, folders: OutputFolders.of(job), roots: LockedFolders(of: job), log: log)
    }

    private var indexHasIntents: Bool {
        get throws { try String(contentsOfFile: index, encoding: .utf8).contains("\"intent\"") }
    }

    @Test func `an output of a shared run that was renamed before the run was killed is published`() throws {
        try publish(["out/a", "out/b"], for: job())
        try loseDatabase()
        let ledger = try sharedLedger()
        let records = try ["out/a", "out/b"].map { try output($0, "new pixels", by: ledger, radius: 3) }
        try ledger.intend(records)
        // It had time for one.
        try ledger.publish([records[1]])
        for _ in 0..<2 {
            try loseDatabase()
            #expect(known(try look(job())) == known(records, radius: 3))
            let found = try RecordSearch(state: state).outputs(at: records[0].path)
            #expect(found.map(\.record.file) == [records[0].file])
            #expect(known(try sharedLedger().contents) == known(records, radius: 3))
        }
        // From the end of the next run on it is known whatever becomes of the file.
        try self.ledger(of: job()).tidyIndexes { "\($0)/.penumbra-aside" }
        try write("edited", to: records[0].path)
        try loseDatabase()
        #expect(known(try look(job())) == known(records, radius: 3))
    }

    @Test func `an output of a shared run that was not renamed yet is unknown, or what it was`() throws {
        let old = try publish(["out/a"], for: job())
        try loseDatabase()
        let ledger = try sharedLedger()
        let intents = try ["out/a", "out/b"].map { name in
            var record = try output("\(name)-aside", "new pixels", by: ledger, radius: 3)
            record.path = place.file(name)
            return record
        }
        try ledger.intend(intents)
        try loseDatabase()
        #expect(known(try look(job())) == known(old))
        #expect(known(try sharedLedger().contents) == known(old))
    }

    @Test func `when a shared run ends, its intents leave the index`() throws {
        let ledger = try sharedLedger()
        let records = try ["out/a", "out/b"].map { try output($0, by: ledger) }
        try ledger.intend(records)
        try ledger.publish(records)
        #expect(try indexHasIntents)
        try ledger.tidyIndexes { "\($0)/.penumbra-aside" }
        #expect(try !indexHasIntents)
        try loseDatabase()
        #expect(known(try look(job())) == known(records))
        #expect(known(try sharedLedger().contents) == known(records))
    }

    @Test func `an output that a shared run renamed but could not record is known after its end`() throws {
        let ledger = try sharedLedger()
        let records = try ["out/a", "out/b"].map { try output($0, by: ledger) }
        try ledger.intend(records)
        try ledger.publish([records[1]])
        try ledger.tidyIndexes { "\($0)/.penumbra-aside" }
        #expect(try !indexHasIntents)
        try loseDatabase()
        #expect(known(try look(job())) == known(records))
    }

    @Test func `when the next run ends, the intents of a killed shared run leave the index`() throws {
        let killed = try sharedLedger()
        let records = try ["out/a", "out/b"].map { try output($0, by: killed) }
        try killed.intend(records)
        try killed.publish(records)
        try loseDatabase()
        try self.ledger(of: job()).tidyIndexes { "\($0)/.penumbra-aside" }
        #expect(try !indexHasIntents)
        try loseDatabase()
        #expect(known(try look(job())) == known(records))
    }

    @Test func `an index that has nothing but intents of a killed shared run loses them at the end of the next run`()
        throws
    {
        let killed = try sharedLedger()
        var intended = try output("out/a-aside", by: killed)
        intended.path = place.file("out/a")
        try killed.intend([intended])
        #expect(try indexHasIntents)
        try loseDatabase()
        for _ in 0..<2 {
            try self.ledger(of: job()).tidyIndexes { "\($0)/.penumbra-aside" }
            #expect(try !indexHasIntents)
        }
        #expect(known(try look(job())) == [:])
    }

    @Test func `the intents of another job stay in the index`() throws {
        let (one, other) = (job("one"), job("other"))
        let killed = try sharedLedger(of: other)
        let intended = try output("out/b", by: killed)
        try killed.intend([intended])
        let ledger = try sharedLedger(of: one)
        let record = try output("out/a", by: ledger)
        try ledger.intend([record])
        try ledger.publish([record])
        try ledger.tidyIndexes { "\($0)/.penumbra-aside" }
        #expect(try indexHasIntents)
        try loseDatabase()
        #expect(known(try look(one)) == known([record]))
        #expect(known(try look(other)) == known([intended]))
    }

    @Test func `an index whose own intents are removed keeps the outputs of another job`() throws {
        let (one, other) = (job("one"), job("other"))
        let published = try publish(["out/b"], for: other)
        let killed = try sharedLedger(of: one)
        var intended = try output("out/a-aside", by: killed)
        intended.path = place.file("out/a")
        try killed.intend([intended])
        try loseDatabase()
        try self.ledger(of: one).tidyIndexes { "\($0)/.penumbra-aside" }
        #expect(try !indexHasIntents)
        #expect(known(try look(other)) == known(published))
    }

    @Test func `a run that this machine alone sees keeps its intents in the database`() throws {
        let ledger = try ledger(of: job())
        let records = try ["out/a", "out/b"].map { try output($0, by: ledger) }
        try ledger.publish([records[0]])
        let before = try Data(contentsOf: URL(filePath: index))
        try ledger.intend([records[1]])
        #expect(try Data(contentsOf: URL(filePath: index)) == before)
        #expect(known(try look(job())) == known(records))
    }

    @Test func `an output that was settled after a kill outlives the database, too`() throws {
        let first = try publish(["out/a"], for: job())
        let record = try record(of: "out/b", recipe: first[0].recipe)
        try intend([record], job())
        _ = try ledger(of: job())
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known(first + [record]))
    }

    @Test func `a lost database is rebuilt from the index beside the outputs`() throws {
        let records =
            try publish(["out/a", "out/b"], for: job(), radius: 3)
            + publish(["out/c", "out/odd \"\n\\ ä 名"], for: job(), radius: 3)
        try loseDatabase()
        #expect(known(try look(job())) == known(records, radius: 3))
        #expect(known(try ledger(of: job()).contents) == known(records, radius: 3))
        try FileManager.default.removeItem(atPath: index)
        #expect(known(try ledger(of: job()).contents) == known(records, radius: 3))
    }

    @Test func `a lost database is rebuilt from the indexes of two folders, one in the other`() throws {
        let job = job("nightly", [.stem("out/"), .stem("out/thumbs/", ext: "png")])
        let records = try publish(["out/a", "out/thumbs/a"], for: job)
        #expect(FileManager.default.fileExists(atPath: place.file("out/thumbs/.penumbra-index")))
        try loseDatabase()
        #expect(known(try look(job)) == known(records))
        #expect(known(try ledger(of: job).contents) == known(records))
    }

    @Test func `of several lines for one output the last one counts`() throws {
        try publish(["out/a"], for: job())
        let again = try publish(["out/a"], for: job(), text: "more pixels", radius: 3)
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known(again, radius: 3))
    }

    @Test func `without database and index nothing is known`() throws {
        try publish(["out/a"], for: job())
        try loseDatabase()
        try FileManager.default.removeItem(atPath: index)
        #expect(try ledger(of: job()).contents.records.isEmpty)
        #expect(try look(job()).records.isEmpty)
    }

    private func tearIndex() throws {
        let file = try #require(FileHandle(forWritingAtPath: index))
        try file.seekToEnd()
        try file.write(contentsOf: Data(#"{"output":{"_0":{"path":"tor"#.utf8))
        try file.close()
    }

    @Test func `a torn last line affects no other line`() throws {
        let before = try publish(["out/a"], for: job())
        try tearIndex()
        let after = try publish(["out/b"], for: job())
        try tearIndex()
        try loseDatabase()
        #expect(known(try look(job())) == known(before + after))
        #expect(known(try ledger(of: job()).contents) == known(before + after))
    }

    @Test func `a torn last line does not give a job's outputs to another one`() throws {
        let (one, other) = (job("one"), job("other"))
        let before = try publish(["out/a"], for: one)
        try tearIndex()
        let after = try publish(["out/b"], for: other)
        try loseDatabase()
        #expect(known(try ledger(of: one).contents) == known(before))
        #expect(known(try ledger(of: other).contents) == known(after))
    }

    @Test(arguments: ["", "\n\n", "{}\n", "no index\n", #"{"job":{"name":"nightly"}}"# + "\n", "\u{0}\u{1}\n"])
    func `an index that is none is no trouble`(text: String) throws {
        try write(text, to: index)
        let records = try publish(["out/a"], for: job())
        try loseDatabase()
        #expect(known(try ledger(of: job()).contents) == known(records))
    }

    @Test func `the file decides if an old database and an index disagree`() throws {
        try publish(["out/a"], for: job())
        let backup = place.file("backup")
        try FileManager.default.copyItem(atPath: state, toPath: backup)
        let newer = try publish(["out/a"], for: job(), text: "new pixels")
        try loseDatabase()
        try FileManager.default.moveItem(atPath: backup, toPath: state)
        #expect(known(try ledger(of: job()).contents) == known(newer))
    }

    @Test func `the file decides if a database and an old index disagree`() throws {
        try publish(["out/a"], for: job())
        let old = try Data(contentsOf: URL(filePath: index))
        let newer = try publish(["out/a"], for: job(), text: "new pixels")
        try old.write(to: URL(filePath: index))
        #expect(known(try ledger(of: job()).contents) == known(newer))
    }

    @Test func `an index is rewritten with other jobs' lines if it is lost or much too long`()
        throws
    {
        let (one, other) = (job("one"), job("other"))
        let others = try publish(["out/b"], for: other, radius: 3)
        let ledger = try ledger(of: one)
        let record = try output("out/a", by: ledger)
        for _ in 0..<400 { try ledger.publish([record]) }
        let long = try #require(stamp(at: index)?.size)
        try ledger.tidyIndexes { "\($0)/.penumbra-aside" }
        let short = try #require(stamp(at: index)?.size)
        #expect(short < long / 50)
        try ledger.tidyIndexes { "\($0)/.penumbra-aside" }
        #expect(stamp(at: index)?.size == short)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: place.file("out")).sorted() == [
                ".penumbra-index", "a", "b",
            ])
        // Outputs that are published later are known, too.
        let late = try output("out/c", by: ledger)
        try ledger.publish([late])
        try loseDatabase()
        #expect(known(try self.ledger(of: one).contents) == known([record, late]))
        #expect(known(try self.ledger(of: other).contents) == known(others, radius: 3))

        try FileManager.default.removeItem(atPath: index)
        try self.ledger(of: one).tidyIndexes { "\($0)/.penumbra-aside" }
        try loseDatabase()
        #expect(known(try self.ledger(of: one).contents) == known([record, late]))
    }

    @Test func `outputs that several threads publish at once are all in the index`() async throws {
        let ledger = try ledger(of: job())
        let records = try (0..<64).map { try output("out/\($0)", by: ledger, radius: Double($0 % 8)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for record in records { group.addTask { try ledger.publish([record]) } }
            try await group.waitForAll()
        }
        let before = known(try self.ledger(of: job()).contents)
        #expect(before.count == 64)
        try loseDatabase()
        #expect(known(try self.ledger(of: job()).contents) == before)
    }
}
