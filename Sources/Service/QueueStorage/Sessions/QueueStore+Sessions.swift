import FoundationEssentials
import GRDB
package import Queueing

extension QueueStore {
    private static let columns = "digest, token, created, expires"

    /// A token has at most so many sessions. The oldest one ends when another begins.
    package static let mostSessions = 32

    /// Adds a session of an existing token.
    ///
    /// - Parameter replaced: The digest of the browser's earlier session, which ends.
    /// - Returns: The digests of the sessions that have ended by this.
    package func add(
        _ session: StoredSession, replacing replaced: [UInt8]? = nil, audit: AuditEntry? = nil
    ) throws -> [[UInt8]] {
        try write { database in
            var ended: [[UInt8]] = []
            if let replaced {
                try remove(replaced, database)
                ended.append(replaced)
            }
            let surplus = try database.rows(
                """
                SELECT digest FROM sessions WHERE token = ? ORDER BY created DESC, digest LIMIT -1 OFFSET ?
                """, [session.token, Self.mostSessions - 1])
            for row in surplus {
                let digest = try row.stored("digest", [UInt8].self)
                try remove(digest, database)
                ended.append(digest)
            }
            try database.run(
                "INSERT INTO sessions (\(Self.columns)) VALUES (?, ?, ?, ?)",
                [
                    Data(session.digest), StoredText.whole(session.token, "identifier"),
                    session.created.milliseconds, session.expires.milliseconds,
                ])
            if let audit { try append([audit], database) }
            return ended
        }
    }

    /// Also finds sessions that have expired. Nil for a row that cannot be read, so that its browser can sign in again.
    /// ``checkIntegrity()`` reports it.
    package func session(_ digest: [UInt8]) throws -> StoredSession? {
        try read { database in
            guard let row = try database.row("SELECT \(Self.columns) FROM sessions WHERE digest = ?", [Data(digest)])
            else { return nil }
            do { return try Self.session(row) } catch is RowProblem { return nil }
        }
    }

    static func session(_ row: Row) throws -> StoredSession {
        try StoredSession(
            digest: row.stored("digest"), token: row.stored("token"), created: row.stored("created"),
            expires: row.stored("expires"))
    }

    /// Ends a session.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    package func removeSession(_ digest: [UInt8], audit: AuditEntry? = nil) throws -> Bool {
        try write { database in
            guard try remove(digest, database) else { return false }
            if let audit { try append([audit], database) }
            return true
        }
    }

    @discardableResult
    private func remove(_ digest: [UInt8], _ database: Database) throws -> Bool {
        try database.run("DELETE FROM sessions WHERE digest = ?", [Data(digest)])
        return database.changesCount > 0
    }

    /// Removes sessions that have expired, which nobody can use any more.
    ///
    /// - Returns: How many they were.
    @discardableResult
    package func removeExpiredSessions(at now: WallTime) throws -> Int {
        try write { database in
            try database.run("DELETE FROM sessions WHERE expires <= ?", [now.milliseconds])
            return database.changesCount
        }
    }
}
