import GRDB
package import Queueing

/// When jobs of one name have last succeeded.
package struct LastSuccesses: Hashable, Sendable {
    package struct Success: Hashable, Sendable {
        /// The name of the manifest's job.
        package let job: String
        package let time: WallTime

        package init(job: String, time: WallTime) {
            self.job = job
            self.time = time
        }
    }

    /// One for each name, the latest first.
    package let latest: [Success]
    /// How many names have succeeded, with those that are left out.
    package let names: Int

    package init(_ latest: [Success], names: Int) {
        self.latest = latest
        self.names = names
    }
}

extension QueueStore {
    /// The last successes of all names that the history has, at most so many. A row that cannot be read is left out.
    package func lastSuccesses(limit: Int) throws -> LastSuccesses {
        try read { database in
            let rows = try database.rows(
                """
                SELECT name, max(ended) AS time FROM submissions WHERE state = 'done'
                GROUP BY name ORDER BY time DESC, name LIMIT ?
                """, [limit])
            let count = try database.row(
                "SELECT count(DISTINCT name) AS names FROM submissions WHERE state = 'done'", [])
            let found = rows.compactMap { row in
                // `queue` lists rows that cannot be read.
                try? LastSuccesses.Success(job: row.stored("name"), time: row.stored("time"))
            }
            return LastSuccesses(found, names: try count?.stored("names") ?? 0)
        }
    }
}
