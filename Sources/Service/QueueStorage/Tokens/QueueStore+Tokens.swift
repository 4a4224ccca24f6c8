import FoundationEssentials
import GRDB
package import Queueing

extension QueueStore {
    private static let columns = "id, name, digest, scope, roots, max_priority, created, expires, used, revoked"

    /// Adds a token.
    ///
    /// - Throws: ``QueueStoreError/Problem/nameIsUsed(_:)`` if there is a token with this identifier.
    package func add(_ token: StoredToken, audit: AuditEntry? = nil) throws {
        try write { database in
            guard try database.row("SELECT 1 FROM tokens WHERE id = ?", [token.id]) == nil else {
                throw error(.nameIsUsed("token '\(token.id)'"))
            }
            try database.run(
                "INSERT INTO tokens (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    StoredText.whole(token.id, "identifier"), StoredText.whole(token.name, "name"),
                    Data(token.digest), token.scope.rawValue, StoredText.json(token.roots),
                    token.maxPriority?.value, token.created.milliseconds, token.expires?.milliseconds,
                    token.used?.milliseconds,
                    token.revoked?.milliseconds,
                ])
            if let audit { try append([audit], database) }
        }
    }

    /// All tokens, oldest first, and those that cannot be read.
    package func tokens() throws -> (tokens: [StoredToken], unreadable: [UnreadableRow]) {
        try read { database in
            var result: (tokens: [StoredToken], unreadable: [UnreadableRow]) = ([], [])
            for row in try database.rows("SELECT \(Self.columns) FROM tokens ORDER BY created, id") {
                do {
                    result.tokens.append(try Self.token(row))
                } catch let problem as RowProblem {
                    result.unreadable.append(Self.unreadable(try row.stored("id"), problem))
                }
            }
            return result
        }
    }

    /// Also finds tokens that are expired or revoked.
    ///
    /// - Throws: ``QueueStoreError`` for a row that cannot be read. Such a token allows nothing.
    package func token(_ id: String) throws -> StoredToken? {
        guard StoredText.isWhole(id) else { return nil }
        return try read { database in try token(id, database) }
    }

    /// - Parameter id: without zero bytes.
    private func token(_ id: String, _ database: Database) throws -> StoredToken? {
        guard let row = try database.row("SELECT \(Self.columns) FROM tokens WHERE id = ?", [id]) else { return nil }
        do {
            return try Self.token(row)
        } catch let problem as RowProblem {
            throw error(.unreadable(Self.unreadable(id, problem)))
        }
    }

    private static func unreadable(_ id: String, _ problem: RowProblem) -> UnreadableRow {
        UnreadableRow(subject: "token '\(id)'", words: problem.words)
    }

    static func token(_ row: Row) throws -> StoredToken {
        let word = try row.stored("scope", String.self)
        guard let scope = TokenScope(rawValue: word) else { throw RowProblem(words: "'\(word)' is no scope") }
        let digest = try row.stored("digest", [UInt8].self)
        guard digest.count == 32 else { throw RowProblem(words: "its digest has \(digest.count) bytes, not 32") }
        let maxPriority = try row.stored("max_priority", Int?.self).map(Priority.init(clamping:))
        return try StoredToken(
            id: row.stored("id"), name: row.stored("name"), digest: digest, scope: scope,
            roots: StoredText.value(row.stored("roots"), "roots"), maxPriority: maxPriority,
            created: row.stored("created"),
            expires: row.stored("expires"), used: row.stored("used"), revoked: row.stored("revoked"))
    }

    /// The names of all tokens by their identifiers.
    package func tokenNames() throws -> [String: String] {
        try read { database in
            let rows = try database.rows("SELECT id, name FROM tokens")
            // A row that cannot be read has no name.
            let names = rows.compactMap { row in try? (row.stored("id", String.self), row.stored("name", String.self)) }
            return Dictionary(names) { first, _ in first }
        }
    }

    /// The name of a job's owner. Nil if it has none.
    package func name(of owner: Owner) -> String? {
        guard case .token(let id) = owner else { return nil }
        // A list shows the identifier then.
        return (try? token(id))??.name
    }

    /// Gives a token another secret. The old one and its sessions are invalid from now on, and a token that was revoked or
    /// has expired is valid again. Its jobs stay its own.
    ///
    /// - Returns: whether there is such a token.
    package func renewToken(
        _ id: String, digest: [UInt8], expires: WallTime?, audit: AuditEntry? = nil
    ) throws -> Bool {
        try write { database in
            try database.run(
                "UPDATE tokens SET digest = ?, expires = ?, revoked = NULL WHERE id = ?",
                [Data(digest), expires?.milliseconds, id])
            guard database.changesCount > 0 else { return false }
            try database.run("DELETE FROM sessions WHERE token = ?", [id])
            if let audit { try append([audit], database) }
            return true
        }
    }

    /// Gives a token another limit of priorities, from the next request on. Its jobs keep their priorities.
    ///
    /// - Parameter audit: makes the entry for the list of changes, of the token as it was.
    /// - Returns: The token as it is now. Nil if there is no such token.
    package func changeToken(
        _ id: String, maxPriority: Priority?, audit: (StoredToken) -> AuditEntry? = { _ in nil }
    ) throws -> StoredToken? {
        guard StoredText.isWhole(id) else { return nil }
        return try write { database in
            guard let before = try token(id, database) else { return nil }
            guard before.maxPriority != maxPriority else { return before }
            try database.run("UPDATE tokens SET max_priority = ? WHERE id = ?", [maxPriority?.value, id])
            if let entry = audit(before) { try append([entry], database) }
            return try token(id, database)
        }
    }

    /// Revokes a token until somebody renews it, and ends its sessions. The first time counts.
    ///
    /// - Returns: Whether there is such a token.
    @discardableResult
    package func revokeToken(_ id: String, audit: AuditEntry? = nil, at now: WallTime) throws -> Bool {
        try write { database in
            try database.run(
                "UPDATE tokens SET revoked = coalesce(revoked, ?) WHERE id = ?", [now.milliseconds, id])
            guard database.changesCount > 0 else { return false }
            try database.run("DELETE FROM sessions WHERE token = ?", [id])
            if let audit { try append([audit], database) }
            return true
        }
    }

    /// Stores when tokens were used. A service collects the times, because a write for each request would be too slow.
    package func touchTokens(_ used: [String: WallTime]) throws {
        guard !used.isEmpty else { return }
        try write { database in
            for (id, time) in used {
                try database.run(
                    "UPDATE tokens SET used = max(coalesce(used, 0), ?) WHERE id = ?", [time.milliseconds, id])
            }
        }
    }
}
