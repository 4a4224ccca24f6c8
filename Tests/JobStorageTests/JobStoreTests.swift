import Catalogs
import Dispatch
import Foundation
import GRDB
import Glibc
import JobModel
import JobStorage
import Synchronization
import TestSupport
import Testing

@Suite struct JobStoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store() throws -> JobStore { try JobStore(path: folder.file("penumbra.sqlite")) }

    private func mode(_ name: String) -> mode_t {
        var found = stat()
        return stat(folder.file(name), &found) == 0 ? found.st_mode & 0o777 : 0
    }

    @Test func `nobody else reads what a user's pictures are called`() throws {
        let first = try store()
        for name in ["penumbra.sqlite", "penumbra.sqlite-wal"] { #expect(mode(name) == 0o600) }
        // As an earlier version left it.
        chmod(folder.file("penumbra.sqlite"), 0o644)
        let second = try store()
        #expect(mode("penumbra.sqlite") == 0o600)
        withExtendedLifetime((first, second)) {}
    }

    private func facts(_ number: Int) -> FileFacts {
        FileFacts(
            stamp: FileStamp(device: 0, inode: UInt64.max - UInt64(number), size: number, modified: -5, changed: 0),
            digest: Digest(high: .max, low: UInt64(number)))
    }

    private func record(_ path: String, _ recipe: RecipeID) -> OutputRecord {
        OutputRecord(
            path: path, input: "/in/a.jpg", page: 2, part: 1, source: facts(1), recipe: recipe, file: facts(2),
            width: 30, height: 20, isAdopted: true)
    }

    @Test func `what was published is read back, by another process too`() throws {
        let store = try store()
        let (job, recipe) = try store.write { (try $0.job(manifest: "/m.yaml", name: "a"), try $0.recipe("{}")) }
        try store.write { try $0.publish([record("/out/a.webp", recipe)], job: job) }
        let again = try self.store()
        let found = try again.read {
            (try $0.outputs(of: job), try $0.recipes(of: job), try $0.job(manifest: "/m.yaml", name: "a"))
        }
        #expect(found.0 == [record("/out/a.webp", recipe)])
        #expect(found.1 == [recipe: "{}"])
        #expect(found.2 == job)
    }

    @Test func `pixels and their encodings are read back, and many outputs share one encoding`() throws {
        let store = try store()
        try store.write { writer in
            let (job, recipe) = (try writer.job(manifest: "/m.yaml", name: "a"), try writer.recipe("{}"))
            let records = (0..<5).map { number in
                var record = record("/out/\(number).webp", recipe)
                record.pixels = number == 4 ? nil : .made(UInt64(number), by: number < 2 ? "libvips 8" : "libvips 9")
                return record
            }
            try writer.intend(records, job: job)
            try writer.publish(records, job: job)
            #expect(try Set(writer.reader.outputs(of: job)) == Set(records))
            #expect(
                try writer.reader.outputs(at: "/out/1.webp") == [
                    OwnedRecord(record: records[1], job: "a", manifest: "/m.yaml")
                ])
            #expect(try writer.reader.outputs(below: "/out").map(\.record) == records)
            #expect(try writer.reader.outputs(below: "/").map(\.record) == records)
            #expect(try writer.reader.outputs(below: "/ou").isEmpty)
            #expect(
                try writer.reader.paths(of: [facts(2).digest]) == [facts(2).digest: (0..<5).map { "/out/\($0).webp" }])
        }
        let raw = try DatabaseQueue(path: folder.file("penumbra.sqlite"))
        #expect(try raw.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM encodings") } == 2)
    }

    @Test(arguments: [false, true]) func `a power loss while the database was made is no reason not to open it`(
        _ onlyReads: Bool
    ) throws {
        // In the middle of a transaction, as in the one that gives a new database the journal mode WAL, both files are copied.
        let raw = try DatabaseQueue(path: folder.file("raw.sqlite"))
        let path = folder.file("penumbra.sqlite")
        try raw.writeWithoutTransaction { database in
            try database.execute(sql: "CREATE TABLE first (a); PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
            try database.execute(sql: "BEGIN IMMEDIATE; INSERT INTO first VALUES (zeroblob(100000))")
            try FileManager.default.copyItem(atPath: folder.file("raw.sqlite"), toPath: path)
            try FileManager.default.copyItem(atPath: folder.file("raw.sqlite-journal"), toPath: path + "-journal")
            try database.execute(sql: "ROLLBACK")
        }
        #expect(throws: DatabaseError.self) {
            var configuration = Configuration()
            configuration.readonly = true
            _ = try DatabaseQueue(path: path, configuration: configuration).read { try $0.tableExists("first") }
        }
        if onlyReads {
            #expect(try JobStore.unmigrated(at: path) == nil)
        } else {
            #expect(try JobStore.existing(at: path)?.read { try $0.recipe(RecipeID(index: 1)) } == .some(nil))
        }
        #expect(!FileManager.default.fileExists(atPath: path + "-journal"))
    }

    /// Makes of the database what the version before had.
    private func goBack() throws {
        let raw = try DatabaseQueue(path: folder.file("penumbra.sqlite"))
        try raw.write { database in
            for table in ["outputs", "intents"] {
                for column in ["encoding", "pixels_low", "pixels_high"] {
                    try database.execute(sql: "ALTER TABLE \(table) DROP COLUMN \(column)")
                }
            }
            try database.execute(
                sql: """
                    DROP TABLE encodings; DROP TABLE input_counts; DROP TABLE mounts; DROP TABLE previews;
                    DROP TABLE maps;
                    DELETE FROM grdb_migrations WHERE identifier IN ('3', '4', '5', '6')
                    """)
        }
    }

    private var migrations: [String] {
        get throws {
            let raw = try DatabaseQueue(path: folder.file("penumbra.sqlite"))
            return try raw.read { try String.fetchAll($0, sql: "SELECT identifier FROM grdb_migrations ORDER BY 1") }
        }
    }

    @Test func `a read-only open leaves an older database unchanged, and a run migrates it`() throws {
        let path = folder.file("penumbra.sqlite")
        let job = try store().write { writer in
            let job = try writer.job(manifest: "/m.yaml", name: "a")
            try writer.publish([record("/out/a.webp", try writer.recipe("{}"))], job: job)
            return job
        }
        try goBack()
        let look = try JobStore(readOnly: path)
        #expect(try look.read { try $0.outputs(of: job) }.map(\.pixels) == [nil])
        #expect(try look.read { try $0.outputs(at: "/out/a.webp") }.map(\.job) == ["a"])
        #expect(try look.read { try $0.knownDisks(of: job) } == KnownDisks())
        #expect(try look.read { try $0.preview(at: "/p.png") } == nil)
        #expect(try look.read { try $0.map(of: RunID(number: 1)) } == nil)
        #expect(try migrations == ["1", "2"])
        let store = try store()
        #expect(try migrations == ["1", "2", "3", "4", "5", "6"])
        #expect(try store.read { try $0.outputs(of: job) }.map(\.path) == ["/out/a.webp"])
        try store.write { writer in
            var record = record("/out/b.webp", try writer.recipe("{}"))
            record.pixels = .made(1, by: "libvips 8")
            try writer.publish([record], job: job)
            #expect(try writer.reader.outputs(at: "/out/b.webp").map(\.record) == [record])
        }
    }

    @Test func `places and previews are read back, and only the last ones`() throws {
        let store = try store()
        try store.write { writer in
            let (job, other) = (
                try writer.job(manifest: "/m.yaml", name: "a"), try writer.job(manifest: "/m.yaml", name: "b")
            )
            // Two patterns to a file system, and one to Swift's strings.
            let counts = [PathKey("/caf\u{E9}/*"): 3, PathKey("/cafe\u{301}/*"): 0]
            try writer.setKnownDisks(KnownDisks(inputs: [PathKey("/old/*"): 1]), of: job)
            let places = KnownDisks(
                inputs: counts,
                mounts: [
                    PathKey("/disk"): KnownDisks.Mount(path: "/disk", disk: "ef53-1"),
                    PathKey("/photos/new"): KnownDisks.Mount(path: "/media/card"),
                ])
            try writer.setKnownDisks(places, of: job)
            #expect(try writer.reader.knownDisks(of: job) == places)
            #expect(try writer.reader.knownDisks(of: other) == KnownDisks())
            for size in [10, 20] {
                try writer.setPreview(
                    FileStamp(device: 0, inode: .max, size: size, modified: -5, changed: 0), at: "/p.png")
            }
            #expect(
                try writer.reader.preview(at: "/p.png")
                    == FileStamp(device: 0, inode: .max, size: 20, modified: -5, changed: 0))
        }
    }

    @Test func `only new notices of a kind are reported, and those that do not apply any more are forgotten`() throws {
        try store().write { writer in
            let job = try writer.job(manifest: "/m.yaml", name: "a")
            func tell(_ texts: [String], isAll: Bool = true) throws -> [String] {
                try writer.reportNew(texts, kind: "kept: ", isAll: isAll, job: job)
            }
            #expect(try writer.reportOnce("upgrade", job: job))
            #expect(try tell(["kept: b", "kept: a"]) == ["kept: b", "kept: a"])
            #expect(try tell(["kept: a", "kept: c"], isAll: false) == ["kept: c"])
            #expect(try tell(["kept: a", "kept: b", "kept: c"]) == [])
            #expect(try tell([]) == [])
            #expect(try tell(["kept: a"]) == ["kept: a"])
            #expect(try !writer.reportOnce("upgrade", job: job))
        }
    }

    @Test func `jobs of one name in two manifests know nothing of each other`() throws {
        let store = try store()
        try store.write { writer in
            let (one, other) = (
                try writer.job(manifest: "/1.yaml", name: "a"), try writer.job(manifest: "/2.yaml", name: "a")
            )
            #expect(one != other)
            try writer.publish([record("/out/a.webp", try writer.recipe("{}"))], job: one)
            #expect(try writer.reader.outputs(of: other).isEmpty)
        }
    }

    @Test func `an intent is no output, and is gone once its output is published or forgotten`() throws {
        let store = try store()
        try store.write { writer in
            let job = try writer.job(manifest: "/m.yaml", name: "a")
            let recipe = try writer.recipe("{}")
            let records = [record("/out/a.webp", recipe), record("/out/b.webp", recipe)]
            try writer.intend(records, job: job)
            #expect(try writer.reader.outputs(of: job).isEmpty)
            #expect(try writer.reader.intents(of: job).count == 2)
            try writer.publish([records[0]], job: job)
            try writer.forgetIntent("/out/b.webp", job: job)
            #expect(try writer.reader.intents(of: job).isEmpty)
            #expect(try writer.reader.outputs(of: job) == [records[0]])
        }
    }

    @Test func `a broken picture is forgotten when an output of it is published`() throws {
        let store = try store()
        try store.write { writer in
            let job = try writer.job(manifest: "/m.yaml", name: "a")
            let recipe = try writer.recipe("{}")
            let broken = BrokenRecord(
                input: "/in/a.jpg", page: 2, stamp: facts(3).stamp, recipe: recipe, message: "cut", since: 1_700_000_000
            )
            try writer.setBroken(broken, job: job)
            #expect(try writer.reader.broken(of: job) == [broken])
            try writer.publish([record("/out/a.webp", recipe)], job: job)
            #expect(try writer.reader.broken(of: job).isEmpty)
        }
    }

    @Test func `recipes that no record has are removed, but for the newest, whose number no other one may get`() throws
    {
        let store = try store()
        try store.write { writer in
            let job = try writer.job(manifest: "/m.yaml", name: "a")
            let recipes = try (1...6).map { try writer.recipe("{\"number\": \($0)}") }
            try writer.publish([record("/out/a.webp", recipes[1])], job: job)
            try writer.intend([record("/out/b.webp", recipes[2])], job: job)
            try writer.setBroken(
                BrokenRecord(
                    input: "/in/b.jpg", page: 2, stamp: facts(3).stamp, recipe: recipes[3], message: "cut", since: 1),
                job: job)
            #expect(try writer.pruneRecipes() == 2)
            let left = try recipes.filter { try writer.reader.recipe($0) != nil }
            #expect(left == [recipes[1], recipes[2], recipes[3], recipes[5]])
            #expect(try !recipes.contains(writer.recipe("{}")))
            #expect(try writer.pruneRecipes() == 1)
        }
    }

    @Test func `one call removes as few recipes as its time allows, and the next one continues`() throws {
        let store = try store()
        try store.write { writer in
            let job = try writer.job(manifest: "/m.yaml", name: "a")
            let recipes = try (1...6).map { try writer.recipe("{\"number\": \($0)}") }
            try writer.publish((0..<4).map { record("/out/\($0).webp", recipes[5]) }, job: job)
            #expect(try writer.pruneRecipes(visits: 8) == 2)
            #expect(try writer.pruneRecipes(visits: 1) == 1)
            #expect(try writer.pruneRecipes() == 2)
            #expect(try writer.reader.recipe(recipes[5]) != nil)
        }
    }

    @Test func `while a run goes on, all recipes stay`() throws {
        let store = try store()
        try store.write { writer in
            let job = try writer.job(manifest: "/m.yaml", name: "a")
            _ = try [writer.recipe("{}"), writer.recipe("{\"number\": 2}")]
            let run = try writer.begin(run: "a", of: job, at: 1, workers: 1, request: "{}", counts: "{}")
            #expect(try writer.pruneRecipes() == 0)
            try writer.end(run, at: 2, exitCode: 0, reason: nil)
            #expect(try writer.pruneRecipes() == 1)
        }
    }

    @Test func `a notice is reported once for each job`() throws {
        let store = try store()
        try store.write { writer in
            let (one, other) = (
                try writer.job(manifest: "/1.yaml", name: "a"), try writer.job(manifest: "/2.yaml", name: "a")
            )
            #expect(try writer.reportOnce("news", job: one))
            #expect(try !writer.reportOnce("news", job: one))
            #expect(try writer.reportOnce("news", job: other))
        }
    }

    @Test func `a transaction that fails leaves nothing`() throws {
        struct Stop: Error {}
        let store = try store()
        #expect(throws: StoreError.self) {
            try store.write { writer in
                _ = try writer.recipe("{}")
                throw Stop()
            }
        }
        #expect(try store.read { try $0.recipe(RecipeID(index: 1)) } == nil)
    }

    @Test func `a file that is no database is refused in words that help`() throws {
        try Data("This is a letter, and no database at all, however long it may be.".utf8)
            .write(to: URL(filePath: folder.file("penumbra.sqlite")))
        let problem = #expect(throws: StoreError.self) { try store() }
        #expect(problem?.isDamaged == true)
        #expect(
            problem?.message
                == "\(folder.file("penumbra.sqlite")): the database is damaged: file is not a database\n   = move it away "
                + "and run again: what it knew of outputs is read from the '.penumbra-index' files beside them, and "
                + "nothing is rendered again")
    }

    @Test func `a database that several open first at once is made once`() throws {
        for round in 0..<20 {
            let path = folder.file("shared-\(round).sqlite")
            let failures = Mutex<[String]>([])
            DispatchQueue.concurrentPerform(iterations: 6) { _ in
                do {
                    _ = try JobStore(path: path).read { try $0.runs() }
                } catch {
                    failures.withLock { $0.append("\(error)") }
                }
            }
            #expect(failures.withLock { $0 } == [])
        }
    }
}

extension EncodedPixels {
    fileprivate static func made(_ number: UInt64, by encoder: String) -> EncodedPixels {
        EncodedPixels(
            digest: Digest(high: .max - number, low: number),
            encoding: OutputEncoding(
                encoder: encoder, layout: .grayAlpha, samples: .u16, frames: 3, shrink: 4, penumbra: "0.1.0"))
    }
}
