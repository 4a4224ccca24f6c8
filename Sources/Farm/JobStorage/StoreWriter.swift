import FoundationEssentials
import GRDB
package import JobModel

/// Changes the database in one transaction.
package struct StoreWriter {
    let database: Database

    package var reader: StoreReader { StoreReader(database: database) }

    /// The number of a job. A new job gets one.
    package func job(manifest: String, name: String) throws -> JobID {
        try database.execute(
            sql: "INSERT OR IGNORE INTO jobs (manifest, name) VALUES (?, ?)", arguments: [manifest, name])
        let number = try Int64.fetchOne(
            database, sql: "SELECT id FROM jobs WHERE manifest = ? AND name = ?", arguments: [manifest, name])
        return JobID(number: number ?? 0)
    }

    /// The number of a recipe. A new recipe gets one.
    package func recipe(_ text: String) throws -> RecipeID {
        try execute("INSERT OR IGNORE INTO recipes (text) VALUES (?)", [text])
        let number = try Int64.fetchOne(database, sql: "SELECT id FROM recipes WHERE text = ?", arguments: [text])
        return RecipeID(number: number ?? 0)
    }

    /// The number of a recipe that had this number. It gets another one if somebody has removed it since then:
    /// ``pruneRecipes(visits:)`` spares only the recipes of runs that go on, and an adoption is no run.
    package func present(_ recipe: RecipeID, text: String) throws -> RecipeID {
        let isKnown = try Int.fetchOne(
            database, sql: "SELECT 1 FROM recipes WHERE id = ?", arguments: [recipe.number])
        return isKnown == nil ? try self.recipe(text) : recipe
    }

    /// These outputs will be renamed to their paths.
    package func intend(_ records: [OutputRecord], job: JobID) throws { try put(records, "intents", job) }

    /// These outputs are at their paths.
    package func publish(_ records: [OutputRecord], job: JobID) throws {
        try put(records, "outputs", job)
        for record in records {
            try forgetIntent(record.path, job: job)
            try execute(
                "DELETE FROM broken WHERE job = ? AND input = ? AND page = ?", [job.number, record.input, record.page])
        }
    }

    private func put(_ records: [OutputRecord], _ table: String, _ job: JobID) throws {
        let marks = Array(repeating: "?", count: 21).joined(separator: ", ")
        let sql = "INSERT OR REPLACE INTO \(table) (job, \(StoreReader.columns)) VALUES (?, \(marks))"
        var encodings: [OutputEncoding: Int64] = [:]
        for record in records {
            if let encoding = record.pixels?.encoding, encodings[encoding] == nil {
                encodings[encoding] = try number(of: encoding)
            }
            let number = record.pixels.flatMap { encodings[$0.encoding] }
            try execute(sql, [job.number] + record.arguments(encoding: number))
        }
    }

    private func number(of encoding: OutputEncoding) throws -> Int64? {
        let text = encoding.text
        try execute("INSERT OR IGNORE INTO encodings (text) VALUES (?)", [text])
        return try Int64.fetchOne(database, sql: "SELECT id FROM encodings WHERE text = ?", arguments: [text])
    }

    package func forgetIntent(_ path: String, job: JobID) throws {
        try execute("DELETE FROM intents WHERE job = ? AND path = ?", [job.number, path])
    }

    package func forget(_ path: String, job: JobID) throws {
        try execute("DELETE FROM outputs WHERE job = ? AND path = ?", [job.number, path])
    }

    package func setBroken(_ record: BrokenRecord, job: JobID) throws {
        try execute(
            """
            INSERT OR REPLACE INTO broken (job, input, page, inode, size, modified, recipe, message, since)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                job.number, record.input, record.page, Int64(bitPattern: record.stamp.inode), record.stamp.size,
                record.stamp.modified, record.recipe.number, record.message, record.since,
            ])
    }

    package func forgetBroken(_ record: BrokenRecord, job: JobID) throws {
        try execute(
            "DELETE FROM broken WHERE job = ? AND input = ? AND page = ?", [job.number, record.input, record.page])
    }

    /// - Returns: false if the text was reported before.
    package func reportOnce(_ text: String, job: JobID) throws -> Bool {
        try execute("INSERT OR IGNORE INTO notices (job, text) VALUES (?, ?)", [job.number, text])
        return database.changesCount > 0
    }

    /// Filters the notices of one kind that are new. Notices that do not apply any more are removed, so that they are
    /// reported again if they apply again.
    ///
    /// - Parameters:
    ///   - texts: all notices that apply now. Each begins with `kind`.
    ///   - isAll: false if other notices may apply, too. Then none is removed.
    /// - Returns: the notices that were not reported before.
    package func reportNew(_ texts: [String], kind: String, isAll: Bool, job: JobID) throws -> [String] {
        let reported = try String.fetchAll(
            database, sql: "SELECT text FROM notices WHERE job = ? AND substr(text, 1, ?) = ?",
            arguments: [job.number, kind.unicodeScalars.count, kind])
        let (old, now) = (Set(reported.map(PathKey.init)), Set(texts.map(PathKey.init)))
        if isAll {
            for text in old.subtracting(now) {
                try execute("DELETE FROM notices WHERE job = ? AND text = ?", [job.number, text.path])
            }
        }
        let new = now.subtracting(old)
        for text in new { try execute("INSERT INTO notices (job, text) VALUES (?, ?)", [job.number, text.path]) }
        return texts.filter { new.contains(PathKey($0)) }
    }

    /// Removes the record of another job, because the output belongs to this job now.
    package func forget(_ path: String, ofManifest manifest: String, name: String) throws {
        try execute(
            "DELETE FROM outputs WHERE path = ? AND job = (SELECT id FROM jobs WHERE manifest = ? AND name = ?)",
            [path, manifest, name])
    }

    package func setIndexMark(_ mark: IndexMark, of job: JobID, at path: String) throws {
        try execute(
            "INSERT OR REPLACE INTO indexes (job, path, inode, size) VALUES (?, ?, ?, ?)",
            [job.number, path, Int64(bitPattern: mark.inode), mark.size])
    }

    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }
}

/// Records runs.
extension StoreWriter {
    package func begin(
        run name: String, of job: JobID, at time: Int64, workers: Int, request: String, counts: String
    ) throws -> RunID {
        try execute(
            """
            INSERT INTO runs (name, job, epoch, state, started, workers, request, counts)
            VALUES (?, ?, 1, 'running', ?, ?, ?, ?)
            """, [name, job.number, time, workers, request, counts])
        return RunID(number: database.lastInsertedRowID)
    }

    /// Records that another coordinator has the run. Running attempts of the last coordinator are lost.
    package func claim(
        _ run: RunID, epoch: Int, at time: Int64, workers: Int, request: String, counts: String
    ) throws {
        try execute(
            """
            UPDATE runs SET epoch = ?, state = 'running', workers = ?, request = ?, counts = ?, ended = NULL,
                exit_code = NULL, reason = NULL
            WHERE id = ?
            """, [epoch, workers, request, counts, run.number])
        try execute(
            """
            UPDATE attempts SET state = 'lost', ended = ?, message = 'the coordinator was killed'
            WHERE run = ? AND state = 'running'
            """, [time, run.number])
    }

    package func set(_ run: RunID, counts: String) throws {
        try execute("UPDATE runs SET counts = ? WHERE id = ?", [counts, run.number])
    }

    package func set(_ run: RunID, map: String) throws {
        try execute("INSERT OR REPLACE INTO maps (run, text) VALUES (?, ?)", [run.number, map])
    }

    /// Only the first end counts.
    package func end(_ run: RunID, at time: Int64, exitCode: Int, reason: String?) throws {
        try execute(
            "UPDATE runs SET state = 'ended', ended = ?, exit_code = ?, reason = ? WHERE id = ? AND state != 'ended'",
            [time, exitCode, reason, run.number])
        try execute(
            "UPDATE attempts SET state = 'dropped', ended = ? WHERE run = ? AND state = 'running'", [time, run.number])
        try execute("UPDATE frames SET state = 'left' WHERE run = ? AND state = 'open'", [run.number])
    }

    package func put(_ frame: StoredFrame, run: RunID) throws {
        let (state, cause, message) = frame.state.columns
        try execute(
            """
            INSERT OR REPLACE INTO frames (run, number, page, input, recipe, outputs, state, cause, message, seconds)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                run.number, frame.number, frame.page, frame.input, frame.recipe,
                String(decoding: try JSONEncoder().encode(frame.outputs), as: UTF8.self), state, cause, message,
                frame.seconds,
            ])
    }

    package func put(_ attempt: StoredAttempt, run: RunID) throws {
        let columns = attempt.state.columns
        try execute(
            """
            INSERT INTO attempts (run, epoch, lease, number, page, kind, tile, attempt, round, worker, started,
                deadline, state, ended, message, receipt, log)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (run, epoch, lease) DO UPDATE SET
                state = excluded.state, ended = excluded.ended, message = excluded.message,
                receipt = excluded.receipt, log = excluded.log
            WHERE state = 'running'
            """,
            [
                run.number, attempt.epoch, attempt.lease, attempt.number, attempt.page, attempt.kind,
                attempt.tile ?? -1, attempt.attempt, attempt.round, attempt.worker, attempt.started, attempt.deadline,
                columns.state, columns.ended, columns.message, columns.receipt, attempt.log,
            ])
    }

    /// Removes the attempts that this machine handed over. Other coordinators record their own.
    package func forgetRunning(of run: RunID) throws {
        try execute("DELETE FROM attempts WHERE run = ? AND state = 'running'", [run.number])
    }

    package func put(_ publication: StoredPublication, run: RunID) throws {
        try execute(
            "INSERT OR IGNORE INTO publications (run, path, number, page, at) VALUES (?, ?, ?, ?, ?)",
            [run.number, publication.path, publication.number, publication.page, publication.at])
    }

    /// Keeps this many runs of each job, and the details of the latest of them.
    ///
    /// - Parameter run: only runs of the job of this run. Then it costs the same, however many other jobs there are.
    package func prune(jobOf run: RunID? = nil, runs: Int = 100, detailed: Int = 10) throws {
        let condition = run.map { "AND job = (SELECT job FROM runs WHERE id = \($0.number))" } ?? ""
        let ranked = """
            SELECT id, ROW_NUMBER() OVER (PARTITION BY job ORDER BY started DESC, id DESC) AS place FROM runs
            WHERE state = 'ended' \(condition)
            """
        try execute("DELETE FROM runs WHERE id IN (SELECT id FROM (\(ranked)) WHERE place > ?)", [runs])
        let old = "run IN (SELECT id FROM (\(ranked)) WHERE place > ?)"
        for table in ["attempts", "frames", "publications"] {
            try execute("DELETE FROM \(table) WHERE \(old)", [detailed])
        }
    }

    /// Removes recipes that no record has.
    ///
    /// While any run goes on, all stay: it may know the number of a recipe before it records an output with it. The newest recipe
    /// stays as well, because SQLite would give its number to another one.
    ///
    /// - Parameter visits: for each removed recipe, SQLite looks at all records once more. So many records take some seconds. What is
    ///   left is removed by later calls.
    /// - Returns: the number of removed recipes.
    @discardableResult
    package func pruneRecipes(visits: Int = 20_000_000) throws -> Int {
        func count(_ sql: String) throws -> Int { try Int.fetchOne(database, sql: sql) ?? 0 }
        guard try count("SELECT COUNT(*) FROM runs WHERE state != 'ended'") == 0 else { return 0 }
        let tables = ["outputs", "intents", "broken"]
        let records = try tables.reduce(0) { try $0 + count("SELECT COUNT(*) FROM \($1)") }
        let used = tables.map { "SELECT recipe FROM \($0)" }.joined(separator: " UNION ")
        try execute(
            """
            DELETE FROM recipes WHERE id IN (
                SELECT id FROM recipes
                WHERE id < (SELECT MAX(id) FROM recipes) AND id NOT IN (\(used)) ORDER BY id LIMIT ?)
            """, [max(1, visits / max(1, records))])
        return database.changesCount
    }
}

extension FrameResult {
    /// The table does not distinguish why nothing was rendered.
    fileprivate var columns: (state: String, cause: String?, message: String?) {
        switch self {
        case .failed(let cause, let message): (kind.rawValue, cause, message)
        case .skipped, .kept, .stillBroken: (Kind.skipped.rawValue, nil, nil)
        case .open, .published, .left: (kind.rawValue, nil, nil)
        }
    }
}

extension StoredAttempt.State {
    fileprivate var columns: (state: String, ended: Int64?, message: String?, receipt: String?) {
        switch self {
        case .running: ("running", nil, nil, nil)
        case .done(let time, let receipt): ("done", time, nil, receipt)
        case .failed(let time, let message): ("failed", time, message, nil)
        case .lost(let time, let message): ("lost", time, message, nil)
        case .dropped(let time): ("dropped", time, nil, nil)
        }
    }
}
