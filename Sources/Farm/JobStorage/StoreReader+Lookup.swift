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
            let digest = Digest(high: UInt64(bitPattern: row[0]), low: UInt64(bitPattern: row[1]))
            if digests.contains(digest) { result[digest, default: []].append(row[2]) }
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
            OwnedRecord(record: OutputRecord(row, encodings), job: row[21], manifest: row[22])
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
