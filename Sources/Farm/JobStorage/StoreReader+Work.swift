import GRDB
package import JobModel

/// What a run has done: its frames, attempts and publications. Runs may have hundred thousands of them, so there are pages.
extension StoreReader {
    private static let frameColumns = "number, page, input, recipe, outputs, state, cause, message, seconds"
    private static let attemptColumns = """
        epoch, lease, number, page, kind, tile, attempt, round, worker, started, deadline, state, ended, message, receipt, \
        log
        """

    package func frames(of run: RunID) throws -> [StoredFrame] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT \(Self.frameColumns) FROM frames WHERE run = ? ORDER BY number, page",
            arguments: [run.number])
        return try rows.map { try StoredFrame($0, of: run) }
    }

    /// The first frames behind a frame, at most `limit` of them.
    ///
    /// - Parameters:
    ///   - frame: nil for the first frames of the run.
    ///   - state: only frames with this state, as the column has it.
    package func frames(
        of run: RunID, after frame: (number: Int, page: Int)?, state: String?, limit: Int
    ) throws -> [StoredFrame] {
        let frame = frame ?? (0, 0)
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT \(Self.frameColumns) FROM frames WHERE run = ? AND (number, page) > (?, ?)
                    AND state = IFNULL(?, state)
                ORDER BY number, page LIMIT ?
                """, arguments: [run.number, frame.number, frame.page, state, limit])
        return try rows.map { try StoredFrame($0, of: run) }
    }

    /// All inputs that the database connects with a job, and those of one run's frames: of published outputs, of broken pictures, and of
    /// frames that the run had work with. Each once, in any order.
    package func knownInputs(of job: JobID, run: RunID) throws -> [String] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT input FROM outputs WHERE job = ? UNION SELECT input FROM broken WHERE job = ?
                UNION SELECT input FROM frames WHERE run = ?
                """, arguments: [job.number, job.number, run.number]
        ).map { try $0.stored(0) }
    }

    /// The published outputs of one frame of a job, in the order of the job's outputs, with the texts of their recipes.
    package func outputs(
        of job: JobID, input: String, page: Int
    ) throws -> [(path: String, recipe: String)] {
        try Row.fetchAll(
            database,
            sql: """
                SELECT path, text FROM outputs JOIN recipes ON recipes.id = recipe
                WHERE job = ? AND input = ? AND page = ? ORDER BY part, path
                """, arguments: [job.number, input, page]
        ).map { (try $0.stored(0), try $0.stored(1)) }
    }

    /// The number of the job's latest run. Nil if it never ran.
    package func latestRun(of job: JobID) throws -> RunID? {
        try Int64.fetchOne(
            database, sql: "SELECT id FROM runs WHERE job = ? ORDER BY started DESC, id DESC LIMIT 1",
            arguments: [job.number]
        ).map(RunID.init(number:))
    }

    /// In the order of their begin.
    package func attempts(of run: RunID) throws -> [StoredAttempt] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT \(Self.attemptColumns) FROM attempts WHERE run = ? ORDER BY epoch, lease",
            arguments: [run.number])
        return try rows.map { try StoredAttempt($0, of: run) }
    }

    /// Those of a frame and of its pages, in the order of their begin.
    package func attempts(of run: RunID, number: Int) throws -> [StoredAttempt] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT \(Self.attemptColumns) FROM attempts INDEXED BY attempts_of_frame
                WHERE run = ? AND number = ? ORDER BY epoch, lease
                """, arguments: [run.number, number])
        return try rows.map { try StoredAttempt($0, of: run) }
    }

    /// The first attempts behind an attempt, at most `limit` of them.
    ///
    /// - Parameters:
    ///   - attempt: nil for the first attempts of the run.
    ///   - number: only those of this frame, and of its pages.
    package func attempts(
        of run: RunID, after attempt: (epoch: Int, lease: Int)?, number: Int?, limit: Int
    ) throws -> [StoredAttempt] {
        let attempt = attempt ?? (-1, -1)
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT \(Self.attemptColumns) FROM attempts WHERE run = ? AND (epoch, lease) > (?, ?)
                    AND number = IFNULL(?, number)
                ORDER BY epoch, lease LIMIT ?
                """, arguments: [run.number, attempt.epoch, attempt.lease, number, limit])
        return try rows.map { try StoredAttempt($0, of: run) }
    }

    /// The number of attempts for each kind of task, by their states.
    package func attemptCounts(of run: RunID) throws -> [String: [String: Int]] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT kind, state, COUNT(*) FROM attempts WHERE run = ? GROUP BY kind, state",
            arguments: [run.number])
        var counts: [String: [String: Int]] = [:]
        for row in rows { counts[try row.stored(0), default: [:]][try row.stored(1)] = try row.stored(2) }
        return counts
    }

    /// Whether a worker has had a frame of the run.
    package func hasBegunFrames(_ run: RunID) throws -> Bool {
        try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM frames WHERE run = ? AND recipe != '')",
            arguments: [run.number]) ?? false
    }

    package func publications(of run: RunID) throws -> [StoredPublication] {
        try publications("WHERE run = ?", [run.number])
    }

    /// Those of the frames with these numbers.
    package func publications(of run: RunID, numbers: ClosedRange<Int>) throws -> [StoredPublication] {
        try publications(
            "WHERE run = ? AND number BETWEEN ? AND ?", [run.number, numbers.lowerBound, numbers.upperBound])
    }

    /// Whether a run has published this path.
    package func hasPublished(_ path: String, in run: RunID) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM publications WHERE run = ? AND path = ?)")
        return try Bool.fetchOne(statement, arguments: [run.number, path]) ?? false
    }

    /// Whether a run has published this frame, and the frame had this input.
    package func hasPublished(input: String, number: Int, page: Int, in run: RunID) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM frames
                    WHERE run = ? AND number = ? AND page = ? AND input = ? AND state = 'published')
                """)
        return try Bool.fetchOne(statement, arguments: [run.number, number, page, input]) ?? false
    }

    /// The name of the run that published this path last. The table's key begins with the run, so each run is searched.
    package func latestPublisher(of path: String) throws -> String? {
        try String.fetchOne(
            database,
            sql: """
                SELECT runs.name FROM runs CROSS JOIN publications ON publications.run = runs.id AND path = ?
                ORDER BY at DESC LIMIT 1
                """, arguments: [path])
    }

    private func publications(_ condition: String, _ arguments: StatementArguments) throws -> [StoredPublication] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT path, number, page, at FROM publications \(condition) ORDER BY at, path",
            arguments: arguments)
        return try rows.map { row in
            try StoredPublication(
                path: row.stored(0), number: row.stored(1), page: row.stored(2), at: row.stored(3))
        }
    }
}
