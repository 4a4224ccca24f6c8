import Foundation
import JobModel
import JobStorage
import TestSupport
import Testing

@Suite struct JobStoreTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func store() throws -> JobStore { try JobStore(path: folder.file("penumbra.sqlite")) }

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
            (try $0.outputs(of: job), try $0.recipes(), try $0.job(manifest: "/m.yaml", name: "a"))
        }
        #expect(found.0 == [record("/out/a.webp", recipe)])
        #expect(found.1 == [recipe: "{}"])
        #expect(found.2 == job)
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

    @Test func `a thing is told once for each job`() throws {
        let store = try store()
        try store.write { writer in
            let (one, other) = (
                try writer.job(manifest: "/1.yaml", name: "a"), try writer.job(manifest: "/2.yaml", name: "a")
            )
            #expect(try writer.tellOnce("news", job: one))
            #expect(try !writer.tellOnce("news", job: one))
            #expect(try writer.tellOnce("news", job: other))
        }
    }

    @Test func `a transaction that fails leaves nothing`() throws {
        struct Stop: Error {}
        let store = try store()
        #expect(throws: StoreProblem.self) {
            try store.write { writer in
                _ = try writer.recipe("{}")
                throw Stop()
            }
        }
        #expect(try store.read { try $0.recipes().isEmpty })
    }

    @Test func `a file that is no database is refused in words that help`() throws {
        try Data("This is a letter, and no database at all, however long it may be.".utf8)
            .write(to: URL(filePath: folder.file("penumbra.sqlite")))
        let problem = #expect(throws: StoreProblem.self) { try store() }
        #expect(problem?.isDamaged == true)
        #expect(
            problem?.message
                == "\(folder.file("penumbra.sqlite")): the database is damaged: file is not a database\n   = move it away "
                + "and run again: what it knew of outputs is read from the '.penumbra-index' files beside them, and "
                + "nothing is rendered again")
    }
}
