import GRDB
import JobModel

/// Changes of the database, in one transaction.
package struct StoreWriter {
    let database: Database

    package var reader: StoreReader { StoreReader(database: database) }

    /// The job's number, which it gets when it is first asked for.
    package func job(manifest: String, name: String) throws -> JobID {
        try database.execute(
            sql: "INSERT OR IGNORE INTO jobs (manifest, name) VALUES (?, ?)", arguments: [manifest, name])
        let number = try Int64.fetchOne(
            database, sql: "SELECT id FROM jobs WHERE manifest = ? AND name = ?", arguments: [manifest, name])
        return JobID(number: number ?? 0)
    }

    /// The recipe's number, which it gets when it is first asked for.
    package func recipe(_ text: String) throws -> RecipeID {
        try execute("INSERT OR IGNORE INTO recipes (text) VALUES (?)", [text])
        let number = try Int64.fetchOne(database, sql: "SELECT id FROM recipes WHERE text = ?", arguments: [text])
        return RecipeID(number: number ?? 0)
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

    /// - Returns: false when it was told before.
    package func reportOnce(_ text: String, job: JobID) throws -> Bool {
        try execute("INSERT OR IGNORE INTO notices (job, text) VALUES (?, ?)", [job.number, text])
        return database.changesCount > 0
    }

    /// Notices of one kind, of which a person need be told only those that are new. Those that hold no more are forgotten:
    /// should they hold again, they are told again.
    ///
    /// - Parameters:
    ///   - texts: all that hold now, each beginning with `kind`.
    ///   - isAll: false when others may hold, too: then none is forgotten.
    /// - Returns: those that were not told before.
    package func reportNew(_ texts: [String], kind: String, isAll: Bool, job: JobID) throws -> [String] {
        let told = try String.fetchAll(
            database, sql: "SELECT text FROM notices WHERE job = ? AND substr(text, 1, ?) = ?",
            arguments: [job.number, kind.unicodeScalars.count, kind])
        let (old, now) = (Set(told.map(PathKey.init)), Set(texts.map(PathKey.init)))
        if isAll {
            for text in old.subtracting(now) {
                try execute("DELETE FROM notices WHERE job = ? AND text = ?", [job.number, text.path])
            }
        }
        let new = now.subtracting(old)
        for text in new { try execute("INSERT INTO notices (job, text) VALUES (?, ?)", [job.number, text.path]) }
        return texts.filter { new.contains(PathKey($0)) }
    }

    /// Another job's output, which is this job's now.
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
