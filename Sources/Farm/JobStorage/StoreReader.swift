import FoundationEssentials
import GRDB
package import JobModel

/// Reads the database at one moment.
package struct StoreReader {
    let database: Database

    static let columns = """
        path, input, page, part, input_inode, input_size, input_modified, input_high, input_low, recipe, inode, size, \
        modified, high, low, width, height, adopted, pixels_high, pixels_low, encoding
        """

    /// For a database of an older version. Read-only opens do not migrate it.
    private static let oldColumns =
        columns.replacing("pixels_high, pixels_low, encoding", with: "NULL, NULL, NULL")

    /// The columns of this database that stand for ``columns``.
    func knownColumns() throws -> String {
        try database.tableExists("encodings") ? Self.columns : Self.oldColumns
    }

    /// Few encodings have many outputs.
    func encodings() throws -> [Int64: OutputEncoding] {
        guard try database.tableExists("encodings") else { return [:] }
        var result: [Int64: OutputEncoding] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT id, text FROM encodings")
        while let row = try rows.next() { result[try row.stored(0)] = OutputEncoding(text: try row.stored(1)) }
        return result
    }

    /// Nil for a job that never ran.
    package func job(manifest: String, name: String) throws -> JobID? {
        try Int64.fetchOne(
            database, sql: "SELECT id FROM jobs WHERE manifest = ? AND name = ?", arguments: [manifest, name]
        ).map(JobID.init(number:))
    }

    package func outputs(of job: JobID) throws -> [OutputRecord] { try records("outputs", of: job) }

    /// Outputs that a run was about to publish when it ended.
    package func intents(of job: JobID) throws -> [OutputRecord] { try records("intents", of: job) }

    private func records(_ table: String, of job: JobID) throws -> [OutputRecord] {
        let encodings = try encodings()
        let statement = try database.cachedStatement(
            sql: "SELECT \(try knownColumns()) FROM \(table) WHERE job = ?")
        var result: [OutputRecord] = []
        let rows = try Row.fetchCursor(statement, arguments: [job.number])
        while let row = try rows.next() { result.append(try OutputRecord(row, encodings)) }
        return result
    }

    /// Counts the outputs of all jobs that have lines in an index.
    package func outputCount(indexedAt path: String) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM outputs WHERE job IN (SELECT job FROM indexes WHERE path = ?)",
            arguments: [path]) ?? 0
    }

    /// The texts of the recipes of a job's outputs and broken pictures. They may be long, because outlines are parts of them. So nobody
    /// reads the texts of all jobs.
    package func recipes(of job: JobID) throws -> [RecipeID: String] {
        var result: [RecipeID: String] = [:]
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT id, text FROM recipes WHERE id IN (
                    SELECT recipe FROM outputs WHERE job = ?1 UNION SELECT recipe FROM intents WHERE job = ?1
                    UNION SELECT recipe FROM broken WHERE job = ?1)
                """, arguments: [job.number])
        while let row = try rows.next() { result[RecipeID(number: try row.stored(0))] = try row.stored(1, String.self) }
        return result
    }

    /// The text of a recipe. Nil if there is none with this number.
    package func recipe(_ id: RecipeID) throws -> String? {
        try String.fetchOne(database, sql: "SELECT text FROM recipes WHERE id = ?", arguments: [id.number])
    }

    /// Why the latest run of a job that looked at an output has kept it. Nil if it has not.
    package func keptReason(of job: JobID, output path: String) throws -> String? {
        let beginning = KeptNotice.beginning(path)
        let text = try String.fetchOne(
            database, sql: "SELECT text FROM notices WHERE job = ? AND substr(text, 1, ?) = ?",
            arguments: [job.number, beginning.unicodeScalars.count, beginning])
        return text.map { String($0.unicodeScalars.dropFirst(beginning.unicodeScalars.count)) }
    }

    package func broken(of job: JobID) throws -> [BrokenRecord] {
        let rows = try Row.fetchAll(
            database,
            sql: "SELECT input, page, inode, size, modified, recipe, message, since FROM broken WHERE job = ?",
            arguments: [job.number])
        return try rows.map { row in
            try BrokenRecord(
                input: row.stored(0), page: row.stored(1),
                stamp: FileStamp(
                    device: 0, inode: row.storedBits(2), size: row.stored(3), modified: row.stored(4), changed: 0),
                recipe: RecipeID(number: row.stored(5)), message: row.stored(6), since: row.stored(7))
        }
    }

    package func indexMark(of job: JobID, at path: String) throws -> IndexMark? {
        try Row.fetchOne(
            database, sql: "SELECT inode, size FROM indexes WHERE job = ? AND path = ?",
            arguments: [job.number, path]
        ).map { try IndexMark(inode: $0.storedBits(0), size: $0.stored(1)) }
    }
}

extension OutputRecord {
    /// - Parameter row: a row of ``StoreReader/columns``.
    init(_ row: Row, _ encodings: [Int64: OutputEncoding]) throws {
        try self.init(
            path: row.stored(0), input: row.stored(1), page: row.stored(2), part: row.stored(3),
            source: FileFacts(
                stamp: FileStamp(
                    device: 0, inode: row.storedBits(4), size: row.stored(5), modified: row.stored(6), changed: 0),
                digest: Digest(high: row.storedBits(7), low: row.storedBits(8))),
            recipe: RecipeID(number: row.stored(9)),
            file: FileFacts(
                stamp: FileStamp(
                    device: 0, inode: row.storedBits(10), size: row.stored(11), modified: row.stored(12), changed: 0),
                digest: Digest(high: row.storedBits(13), low: row.storedBits(14))),
            width: row.stored(15), height: row.stored(16), isAdopted: row.stored(17),
            pixels: EncodedPixels(row, encodings))
    }

    /// - Parameter encoding: the number of ``pixels``' encoding.
    func arguments(encoding: Int64?) -> StatementArguments {
        [
            path, input, page, part, Int64(bitPattern: source.stamp.inode), source.stamp.size, source.stamp.modified,
            Int64(bitPattern: source.digest.high), Int64(bitPattern: source.digest.low), recipe.number,
            Int64(bitPattern: file.stamp.inode), file.stamp.size, file.stamp.modified,
            Int64(bitPattern: file.digest.high), Int64(bitPattern: file.digest.low), width, height, isAdopted,
            pixels.map { Int64(bitPattern: $0.digest.high) }, pixels.map { Int64(bitPattern: $0.digest.low) }, encoding,
        ]
    }
}

extension EncodedPixels {
    fileprivate init?(_ row: Row, _ encodings: [Int64: OutputEncoding]) throws {
        guard let high = try row.stored(18, Int64?.self), let low = try row.stored(19, Int64?.self),
            let number = try row.stored(20, Int64?.self), let encoding = encodings[number]
        else { return nil }
        self.init(
            digest: Digest(high: UInt64(bitPattern: high), low: UInt64(bitPattern: low)), encoding: encoding)
    }
}

/// Looks up outputs by their paths, across jobs.
extension StoreReader {
    /// The records of every job that published this path. Mostly only the latest job has one.
    package func outputs(at path: String) throws -> [OwnedRecord] {
        try owned(from: "outputs", "path = ?", [path])
    }

    /// The outputs that were about to be published at this path.
    package func intents(at path: String) throws -> [OwnedRecord] {
        try owned(from: "intents", "path = ?", [path])
    }

    /// - Parameter folder: an absolute path. Its subfolders are included.
    package func outputs(below folder: String) throws -> [OwnedRecord] {
        let prefix = folder == "/" ? "/" : folder + "/"
        // The character after the slash ends the range of paths below the folder.
        return try owned(from: "outputs", "path > ? AND path < ?", [prefix, prefix.dropLast() + "0"])
    }

    /// The paths of outputs that were published with these digests, in order.
    package func paths(of digests: Set<Digest>) throws -> [Digest: [String]] {
        guard !digests.isEmpty else { return [:] }
        var result: [Digest: [String]] = [:]
        let rows = try Row.fetchCursor(database, sql: "SELECT high, low, path FROM outputs ORDER BY path")
        while let row = try rows.next() {
            let digest = Digest(high: try row.storedBits(0), low: try row.storedBits(1))
            if digests.contains(digest) { result[digest, default: []].append(try row.stored(2)) }
        }
        return result
    }

    /// The wanted outputs of all jobs, the latest job first. Scans all outputs, which takes a second for a million.
    package func outputs(where isWanted: (FileFacts) -> Bool) throws -> [OwnedRecord] {
        let encodings = try encodings()
        var result: [OwnedRecord] = []
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT \(try knownColumns()), jobs.name, jobs.manifest FROM outputs JOIN jobs ON job = jobs.id
                ORDER BY job DESC, path
                """)
        while let row = try rows.next() {
            let record = try OutputRecord(row, encodings)
            guard isWanted(record.file) else { continue }
            result.append(try OwnedRecord(record: record, job: row.stored(21), manifest: row.stored(22)))
        }
        return result
    }

    /// The table's key begins with the job, so each job is searched.
    private func owned(
        from table: String, _ condition: String, _ arguments: StatementArguments
    ) throws -> [OwnedRecord] {
        let encodings = try encodings()
        let statement = try database.cachedStatement(
            sql: """
                SELECT \(try knownColumns()), jobs.name, jobs.manifest FROM jobs CROSS JOIN \(table) ON job = jobs.id AND \(condition)
                ORDER BY path, job DESC
                """)
        return try Row.fetchAll(statement, arguments: arguments).map { row in
            try OwnedRecord(record: OutputRecord(row, encodings), job: row.stored(21), manifest: row.stored(22))
        }
    }
}

/// A record with its job.
package struct OwnedRecord: Hashable, Sendable {
    package let record: OutputRecord
    /// The job's name.
    package let job: String
    /// The real path of the job's manifest.
    package let manifest: String

    package init(record: OutputRecord, job: String, manifest: String) {
        self.record = record
        self.job = job
        self.manifest = manifest
    }
}

/// Reads runs.
extension StoreReader {
    private static let runColumns = """
        SELECT runs.id, runs.name, jobs.name, jobs.manifest, epoch, state, started, workers, request, counts, ended,
            exit_code, reason
        FROM runs JOIN jobs ON jobs.id = runs.job
        """

    /// The latest first.
    ///
    /// - Parameter ended: how many of those that have ended. Nil for all.
    package func runs(ended: Int? = nil) throws -> [RunRecord] {
        let condition =
            ended == nil
            ? ""
            : """
            WHERE state != 'ended' OR runs.id IN
                (SELECT id FROM runs WHERE state = 'ended' ORDER BY started DESC, id DESC LIMIT ?)
            """
        return try Row.fetchAll(
            database, sql: "\(Self.runColumns) \(condition) ORDER BY started DESC, runs.id DESC",
            arguments: ended.map { [$0] } ?? []
        ).map { try RunRecord($0) }
    }

    /// The runs with these names, as far as there are any. The latest first.
    package func runs(named names: [String]) throws -> [RunRecord] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                \(Self.runColumns) WHERE runs.name IN (\(databaseQuestionMarks(count: names.count)))
                ORDER BY started DESC, runs.id DESC
                """, arguments: StatementArguments(names))
        return try rows.map { try RunRecord($0) }
    }

    /// The latest first.
    package func runs(of job: JobID) throws -> [RunRecord] {
        let rows = try Row.fetchAll(
            database, sql: "\(Self.runColumns) WHERE job = ? ORDER BY started DESC, runs.id DESC",
            arguments: [job.number])
        return try rows.map { try RunRecord($0) }
    }

    /// The runs of the same job that began after a run, the earliest first.
    package func runs(after run: RunRecord, limit: Int) throws -> [RunRecord] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                \(Self.runColumns) WHERE runs.job = (SELECT job FROM runs WHERE id = ?) AND (started, runs.id) > (?, ?)
                ORDER BY started, runs.id LIMIT ?
                """, arguments: [run.id.number, run.started, run.id.number, limit])
        return try rows.map { try RunRecord($0) }
    }

    package func run(named name: String) throws -> RunRecord? {
        try Row.fetchOne(database, sql: "\(Self.runColumns) WHERE runs.name = ?", arguments: [name]).map {
            try RunRecord($0)
        }
    }

    /// What became of the frames of an ended run; nil if that is not known.
    package func map(of run: RunID) throws -> String? {
        guard try database.tableExists("maps") else { return nil }
        return try String.fetchOne(database, sql: "SELECT text FROM maps WHERE run = ?", arguments: [run.number])
    }

    /// The number of begun frames that have been concluded.
    package func concluded(of run: RunID) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT COUNT(*) FROM frames WHERE run = ? AND state != 'open' AND recipe != ''",
            arguments: [run.number]) ?? 0
    }

    /// The inputs of frames that a run began and did not conclude.
    package func unfinishedInputs(of run: RunID) throws -> [String] {
        let rows = try Row.fetchAll(
            database, sql: "SELECT input FROM frames WHERE run = ? AND state IN ('open', 'left') AND recipe != ''",
            arguments: [run.number])
        return try rows.map { try $0.stored(0) }
    }

    /// When a run of the job has ended with exit code 0 last, in nanoseconds since 1970. Nil if none has.
    package func latestSuccess(ofJob name: String) throws -> Int64? {
        try Int64.fetchOne(
            database,
            sql: """
                SELECT max(ended) FROM runs JOIN jobs ON jobs.id = runs.job
                WHERE jobs.name = ? AND state = 'ended' AND exit_code = 0 AND typeof(ended) = 'integer'
                """, arguments: [name])
    }

    /// How many frames of a run are published, whichever coordinator did it.
    package func publishedCount(of run: RunID) throws -> Int {
        try Int.fetchOne(
            database, sql: "SELECT count(*) FROM frames WHERE run = ? AND state = 'published'", arguments: [run.number])
            ?? 0
    }

    /// The first failed frames of a run.
    package func failedFrames(of run: RunID, limit: Int) throws -> [StoredFrame] {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT number, page, input, recipe, outputs, state, cause, message, seconds FROM frames
                WHERE run = ? AND state = 'failed' ORDER BY number, page LIMIT ?
                """, arguments: [run.number, limit])
        return try rows.map { try StoredFrame($0, of: run) }
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
    init(_ row: Row, of run: RunID) throws {
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
        // The error shows the text itself.
        guard let outputs = try? JSONDecoder().decode([String].self, from: Data(text.utf8)) else {
            throw DatabaseError(unknown: "list of outputs", of: key, text)
        }
        try self.init(
            number: number, page: page, input: row.stored(2), recipe: row.stored(3), outputs: outputs,
            state: state, seconds: row.stored(8))
    }
}

extension StoredAttempt {
    init(_ row: Row, of run: RunID) throws {
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
    /// This version never writes such a value, so it is damage.
    fileprivate init(unknown what: String, of record: String, _ found: String) {
        self.init(resultCode: .SQLITE_CORRUPT, message: "'\(found)' as the \(what) of \(record)")
    }
}

extension StoreReader {
    /// Checks the whole database, which takes a second for some hundred thousand outputs.
    ///
    /// - Throws: the first damage.
    package func refuseDamage() throws {
        let finding = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? ""
        guard finding == "ok" else { throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: finding) }
    }
}
