import FoundationEssentials
import GRDB
package import JobModel

/// What is known of runs.
extension StoreReader {
    private static let runColumns = """
        SELECT runs.id, runs.name, jobs.name, jobs.manifest, epoch, state, started, workers, request, counts, ended,
            exit_code, reason
        FROM runs JOIN jobs ON jobs.id = runs.job
        """

    /// The latest ones first.
    package func runs() throws -> [RunRecord] {
        try Row.fetchAll(database, sql: "\(Self.runColumns) ORDER BY started DESC, runs.id DESC").map {
            try RunRecord($0)
        }
    }

    /// The latest ones first.
    package func runs(of job: JobID) throws -> [RunRecord] {
        let rows = try Row.fetchAll(
            database, sql: "\(Self.runColumns) WHERE job = ? ORDER BY started DESC, runs.id DESC",
            arguments: [job.number])
        return try rows.map { try RunRecord($0) }
    }

    package func run(named name: String) throws -> RunRecord? {
        try Row.fetchOne(database, sql: "\(Self.runColumns) WHERE runs.name = ?", arguments: [name]).map {
            try RunRecord($0)
        }
    }

    /// How many of the frames that were begun have come to an end.
    package func concluded(of run: RunID) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM frames WHERE run = ? AND state != 'open' AND recipe != ''",
            arguments: [run.number]) ?? 0
    }

    /// The inputs of frames that were begun in a run and have not come to an end in it.
    package func unfinishedInputs(of run: RunID) throws -> [String] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT input FROM frames WHERE run = ? AND state IN ('open', 'left') AND recipe != ''",
            arguments: [run.number])
        return try rows.map { try $0.stored(0) }
    }

    package func frames(of run: RunID) throws -> [StoredFrame] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT number, page, input, recipe, outputs, state, cause, message, seconds FROM frames WHERE run = ?
                ORDER BY number, page
                """, arguments: [run.number])
        return try rows.map { try StoredFrame($0, of: run) }
    }

    /// In the order of their starts.
    package func attempts(of run: RunID) throws -> [StoredAttempt] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT epoch, lease, number, page, kind, tile, attempt, round, worker, started, deadline, state, ended,
                    message, receipt, log
                FROM attempts WHERE run = ? ORDER BY epoch, lease
                """, arguments: [run.number])
        return try rows.map { try StoredAttempt($0, of: run) }
    }

    package func publications(of run: RunID) throws -> [StoredPublication] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT path, number, page, at FROM publications WHERE run = ? ORDER BY at, path",
            arguments: [run.number])
        return try rows.map { row in
            try StoredPublication(
                path: row.stored(0), number: row.stored(1), page: row.stored(2), at: row.stored(3))
        }
    }
}

extension RunRecord {
    fileprivate init(_ row: Row) throws {
        let state: RunRecord.State =
            switch try row.stored(5, String.self) {
            case "running": .running
            case "ended":
                .ended(at: try row.stored(10), exitCode: try row.stored(11), reason: try row.stored(12))
            case let other:
                throw DatabaseError(unknown: "state", of: "the run '\(try row.stored(1, String.self))'", other)
            }
        try self.init(
            id: RunID(number: row.stored(0)), name: row.stored(1), job: row.stored(2), manifest: row.stored(3),
            epoch: row.stored(4), state: state, started: row.stored(6), workers: row.stored(7), request: row.stored(8),
            counts: RunCounts(json: row.stored(9)))
    }
}

extension StoredFrame {
    fileprivate init(_ row: Row, of run: RunID) throws {
        let (number, page): (Int, Int) = (try row.stored(0), try row.stored(1))
        let key = "the frame (run \(run.number), number \(number), page \(page))"
        let state: FrameResult =
            switch try row.stored(5, String.self) {
            case "published": .published
            case "skipped": .skipped()
            case "failed":
                .failed(
                    cause: try row.stored(6, String?.self) ?? "", message: try row.stored(7, String?.self) ?? "")
            case "left": .left
            case "open": .open
            case let other: throw DatabaseError(unknown: "state", of: key, other)
            }
        let text = try row.stored(4, String.self)
        guard let outputs = try? JSONDecoder().decode([String].self, from: Data(text.utf8)) else {
            throw DatabaseError(unknown: "list of outputs", of: key, text)
        }
        try self.init(
            number: number, page: page, input: row.stored(2), recipe: row.stored(3), outputs: outputs,
            state: state, seconds: row.stored(8))
    }
}

extension StoredAttempt {
    fileprivate init(_ row: Row, of run: RunID) throws {
        let (epoch, lease): (Int, Int) = (try row.stored(0), try row.stored(1))
        let (ended, message) = (try row.stored(12, Int64?.self) ?? 0, try row.stored(13, String?.self) ?? "")
        let state: State =
            switch try row.stored(11, String.self) {
            case "done": .done(at: ended, receipt: try row.stored(14, String?.self) ?? "")
            case "failed": .failed(at: ended, message: message)
            case "lost": .lost(at: ended, message: message)
            case "dropped": .dropped(at: ended)
            case "running": .running
            case let other:
                throw DatabaseError(
                    unknown: "state", of: "the attempt (run \(run.number), epoch \(epoch), lease \(lease))", other)
            }
        let tile = try row.stored(5, Int.self)
        try self.init(
            epoch: epoch, lease: lease, number: row.stored(2), page: row.stored(3), kind: row.stored(4),
            tile: tile < 0 ? nil : tile, attempt: row.stored(6), round: row.stored(7), worker: row.stored(8),
            started: row.stored(9), deadline: row.stored(10), state: state, log: row.stored(15))
    }
}

extension DatabaseError {
    /// Nothing of this version writes that: it is damage, and not what it may look like.
    fileprivate init(unknown what: String, of record: String, _ found: String) {
        self.init(resultCode: .SQLITE_CORRUPT, message: "'\(found)' as the \(what) of \(record)")
    }
}
