import GRDB
package import JobModel

/// Outputs by their paths, whatever job published them.
extension StoreReader {
    /// Of every job that published this path: of the latest one alone, mostly.
    package func outputs(at path: String) throws -> [OwnedRecord] {
        try owned(from: "outputs", "path = ?", [path])
    }

    /// What was about to be put at this path.
    package func intents(at path: String) throws -> [OwnedRecord] {
        try owned(from: "intents", "path = ?", [path])
    }

    /// - Parameter folder: absolute; with all folders below.
    package func outputs(below folder: String) throws -> [OwnedRecord] {
        let prefix = folder == "/" ? "/" : folder + "/"
        // The character that follows the slash ends the range of what begins with the folder's path.
        return try owned(from: "outputs", "path > ? AND path < ?", [prefix, prefix.dropLast() + "0"])
    }

    /// The outputs that were published with these bytes, in their order.
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

    /// Outputs of all jobs whose files are wanted, those of the latest job first. Looks through all of them: a second for a
    /// million.
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

    /// The key of the table begins with the job: each is looked through by itself.
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
