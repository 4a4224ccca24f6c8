import FoundationEssentials
import GRDB

/// What is known of runs.
extension StoreReader {
    private static let runColumns = """
        SELECT runs.id, runs.name, jobs.name, jobs.manifest, epoch, state, started, workers, request, counts, ended,
            exit_code, reason
        FROM runs JOIN jobs ON jobs.id = runs.job
        """

    /// The latest ones first.
    package func runs() throws -> [StoredRun] {
        try Row.fetchAll(database, sql: "\(Self.runColumns) ORDER BY started DESC, runs.id DESC").map {
            try StoredRun($0)
        }
    }

    /// The latest ones first.
    package func runs(of job: JobID) throws -> [StoredRun] {
        let rows = try Row.fetchAll(
            database, sql: "\(Self.runColumns) WHERE job = ? ORDER BY started DESC, runs.id DESC",
            arguments: [job.number])
        return try rows.map { try StoredRun($0) }
    }

    package func run(named name: String) throws -> StoredRun? {
        try Row.fetchOne(database, sql: "\(Self.runColumns) WHERE runs.name = ?", arguments: [name]).map {
            try StoredRun($0)
        }
    }

    /// How many of its frames have come to an end.
    package func concluded(of run: RunID) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM frames WHERE run = ? AND state != 'open'", arguments: [run.number])
            ?? 0
    }

    package func frames(of run: RunID) throws -> [StoredFrame] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT number, page, input, recipe, outputs, state, cause, message, seconds FROM frames WHERE run = ?
                ORDER BY number, page
                """, arguments: [run.number])
        return try rows.map { try StoredFrame($0) }
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
        return try rows.map { try StoredAttempt($0) }
    }

    package func publications(of run: RunID) throws -> [StoredPublication] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT path, number, page, at FROM publications WHERE run = ? ORDER BY at, path",
            arguments: [run.number])
        return rows.map { StoredPublication(path: $0[0], number: $0[1], page: $0[2], at: $0[3]) }
    }
}

extension StoredRun {
    fileprivate init(_ row: Row) throws {
        let state: RunState =
            switch row[5] as String {
            case "running": .running
            case "ended": .ended(at: row[10], exitCode: row[11], reason: row[12])
            case let other: throw DatabaseError(unknown: "state", of: "a run", other)
            }
        self.init(
            id: RunID(number: row[0]), name: row[1], job: row[2], manifest: row[3], epoch: row[4], state: state,
            started: row[6], workers: row[7], request: row[8], counts: row[9])
    }
}

extension StoredFrame {
    fileprivate init(_ row: Row) throws {
        let state: State =
            switch row[5] as String {
            case "published": .published
            case "skipped": .skipped
            case "failed": .failed(cause: row[6] ?? "", message: row[7] ?? "")
            case "left": .left
            case "open": .open
            case let other: throw DatabaseError(unknown: "state", of: "a frame", other)
            }
        let text: String = row[4]
        guard let outputs = try? JSONDecoder().decode([String].self, from: Data(text.utf8)) else {
            throw DatabaseError(unknown: "list of outputs", of: "a frame", text)
        }
        self.init(
            number: row[0], page: row[1], input: row[2], recipe: row[3], outputs: outputs, state: state, seconds: row[8]
        )
    }
}

extension StoredAttempt {
    fileprivate init(_ row: Row) throws {
        let (ended, message): (Int64, String) = (row[12] ?? 0, row[13] ?? "")
        let state: State =
            switch row[11] as String {
            case "done": .done(at: ended, receipt: row[14] ?? "")
            case "failed": .failed(at: ended, message: message)
            case "lost": .lost(at: ended, message: message)
            case "dropped": .dropped(at: ended)
            case "running": .running
            case let other: throw DatabaseError(unknown: "state", of: "an attempt", other)
            }
        let tile: Int = row[5]
        self.init(
            epoch: row[0], lease: row[1], number: row[2], page: row[3], kind: row[4], tile: tile < 0 ? nil : tile,
            attempt: row[6], round: row[7], worker: row[8], started: row[9], deadline: row[10], state: state,
            log: row[15])
    }
}

extension DatabaseError {
    /// Nothing of this version writes that: it is damage, and not what it may look like.
    fileprivate init(unknown what: String, of record: String, _ found: String) {
        self.init(resultCode: .SQLITE_CORRUPT, message: "'\(found)' as the \(what) of \(record)")
    }
}
