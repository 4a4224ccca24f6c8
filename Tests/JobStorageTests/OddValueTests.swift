import Catalogs
import Foundation
import GRDB
import JobModel
import JobStorage
import TestSupport
import Testing

/// SQLite keeps values of any type in any column. Somebody's script, or a bad disk, may have put them there.
@Suite struct OddValueTests {
    let folder: TemporaryFolder
    private let path: String
    private let job: JobID
    private let run: RunID

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("penumbra.sqlite")
        (job, run) = try Self.fill(path)
    }

    private static let facts = FileFacts(
        stamp: FileStamp(device: 0, inode: 1, size: 2, modified: 3, changed: 0), digest: Digest(high: 4, low: 5))

    /// One row in every table.
    private static func fill(_ path: String) throws -> (job: JobID, run: RunID) {
        try JobStore(path: path).write { writer in
            let (job, recipe) = (try writer.job(manifest: "/m.yaml", name: "a"), try writer.recipe("{}"))
            var output = OutputRecord(
                path: "/out/a.webp", input: "/in/a.jpg", page: 0, part: 0, source: facts, recipe: recipe, file: facts,
                width: 30, height: 20)
            output.pixels = EncodedPixels(
                digest: facts.digest,
                encoding: OutputEncoding(
                    encoder: "libvips 8", layout: .rgb, samples: .u8, frames: 1, shrink: 1, penumbra: "0.1.0"))
            try writer.publish([output], job: job)
            try writer.intend([output], job: job)
            try writer.setBroken(
                BrokenRecord(
                    input: "/in/b.jpg", page: 0, stamp: facts.stamp, recipe: recipe, message: "cut", since: 7),
                job: job)
            try writer.setIndexMark(IndexMark(inode: 1, size: 2), of: job, at: "/out")
            try writer.setKnownDisks(
                KnownDisks(
                    inputs: [PathKey("/in/*"): 1], mounts: [PathKey("/in"): KnownDisks.Mount(path: "/", disk: "x")]),
                of: job)
            try writer.setPreview(facts.stamp, at: "/p.png")
            let run = try writer.begin(run: "run-1", of: job, at: 1, workers: 2, request: "{}", counts: "{}")
            try writer.put(
                StoredFrame(
                    number: 1, page: 0, input: "/in/a.jpg", recipe: "{}", outputs: [],
                    state: .failed(cause: "data", message: "cut"), seconds: 1.5), run: run)
            try writer.put(
                StoredAttempt(
                    epoch: 1, lease: 1, number: 1, page: 0, kind: "frame", tile: nil, attempt: 1, round: 0, worker: 1,
                    started: 1, deadline: 2, state: .done(at: 2, receipt: "{}"), log: "words"), run: run)
            try writer.put(StoredPublication(path: "/out/a.webp", number: 1, page: 0, at: 3), run: run)
            try writer.end(run, at: 4, exitCode: 1, reason: "stopped")
            return (job, run)
        }
    }

    private func readAll(_ path: String) throws {
        try JobStore(readOnly: path).read { reader in
            _ = (try reader.runs(), try reader.runs(of: job), try reader.run(named: "run-1"))
            _ = (try reader.frames(of: run), try reader.attempts(of: run), try reader.publications(of: run))
            _ = (try reader.outputs(of: job), try reader.intents(of: job), try reader.recipes(of: job))
            _ = (try reader.outputs(at: "/out/a.webp"), try reader.outputs(below: "/out"))
            _ = (try reader.outputs { _ in true }, try reader.paths(of: [Self.facts.digest]))
            _ = (try reader.brokenTransfers(of: job), try reader.indexMark(of: job, at: "/out"))
            _ = (try reader.knownDisks(of: job), try reader.preview(at: "/p.png"))
        }
    }

    private struct Column {
        let table: String
        let name: String
        let type: String
        /// It is what rows are looked up by, and is not read: a row with another value is not found.
        var isKey: Bool {
            ["id", "job", "run"].contains(name) || ["indexes.path", "previews.path"].contains("\(table).\(name)")
        }
    }

    private func columns() throws -> [Column] {
        try DatabaseQueue(path: path).read { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT m.name, c.name, lower(c.type) FROM sqlite_master AS m, pragma_table_info(m.name) AS c
                    WHERE m.type = 'table' AND m.name NOT IN ('grdb_migrations', 'notices')
                    """)
            return rows.map { Column(table: $0[0], name: $0[1], type: $0[2]) }
        }
    }

    /// - Returns: the type that the column holds then; nil where the database does not take the value.
    private func put(_ value: String, in column: Column, _ path: String) throws -> String? {
        let database = try DatabaseQueue(path: path)
        return try database.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
            do {
                try database.execute(sql: "UPDATE \(column.table) SET \(column.name) = \(value)")
            } catch let error as DatabaseError where error.resultCode == .SQLITE_MISMATCH {
                return nil
            }
            return try String.fetchOne(database, sql: "SELECT typeof(\(column.name)) FROM \(column.table)")
        }
    }

    @Test(arguments: ["'abc'", "x'ff00'", "1.5"])
    func `a value of another type is damage, in whichever column it is`(value: String) throws {
        let columns = try columns()
        #expect(columns.count > 80)
        try readAll(path)
        for column in columns {
            let copy = folder.file("\(column.table)-\(column.name).sqlite")
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            guard let found = try put(value, in: column, copy) else { continue }
            let outcome = Result { try readAll(copy) }
            guard found != column.type, !column.isKey else { continue }
            let name = "\(column.table).\(column.name): \(found)"
            guard case .failure(let problem as StoreError) = outcome else {
                Issue.record("\(name) is taken for \(column.type)")
                continue
            }
            #expect(problem.isDamaged, "\(name)")
            #expect(problem.message.contains(" in the column '\(column.name)', which is for "), "\(problem.message)")
        }
    }

    @Test func `a number to which nothing could be added is damage`() throws {
        _ = try put("9223372036854775807", in: Column(table: "attempts", name: "page", type: "integer"), path)
        let problem = #expect(throws: StoreError.self) { try readAll(path) }
        #expect(
            problem?.message.contains("a whole number in the column 'page', which is for whole numbers below 2^62")
                == true)
    }

    @Test func `a value of the wrong type is reported by its type`() throws {
        _ = try put("'abc'", in: Column(table: "runs", name: "started", type: "integer"), path)
        let problem = #expect(throws: StoreError.self) { try readAll(path) }
        #expect(
            problem?.message
                == "\(path): the database is damaged: a text in the column 'started', which is for whole numbers\n   = move "
                + "it away and run again: what it knew of outputs is read from the '.penumbra-index' files beside them, and "
                + "nothing is rendered again")
    }
}
