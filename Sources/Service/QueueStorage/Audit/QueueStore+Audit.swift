import GRDB
import JobModel
import Queueing

extension QueueStore {
    /// So many entries are kept. Older ones are removed.
    package static let mostAuditEntries = 100_000

    /// The longest text of an entry, in characters. The rest is cut.
    private static let longestAuditText = 2000

    package func append(_ entries: [AuditEntry]) throws {
        try write { try append(entries, $0) }
    }

    func append(_ entries: [AuditEntry], _ database: Database) throws {
        guard !entries.isEmpty else { return }
        // An entry is for people, so what cannot be seen is made visible once and for all.
        func shown(_ text: String) -> String { VisibleText.line(String(text.prefix(Self.longestAuditText))) }
        for entry in entries {
            try database.run(
                "INSERT INTO audit (at, caller, address, action, subject, detail) VALUES (?, ?, ?, ?, ?, ?)",
                [
                    entry.at.milliseconds, shown(entry.caller), entry.address.map(shown), shown(entry.action),
                    shown(entry.subject), shown(entry.detail),
                ])
        }
        try database.run("DELETE FROM audit WHERE id <= ?", [Int(database.lastInsertedRowID) - Self.mostAuditEntries])
    }

    /// Entries, newest first. Those that cannot be read are left out. ``checkIntegrity()`` reports them.
    ///
    /// - Parameter number: Only entries before the one with this number.
    package func auditEntries(before number: Int? = nil, limit: Int) throws -> [NumberedAuditEntry] {
        // A damaged entry is left out, so that the others are shown.
        try read { database in
            try database.rows(
                """
                SELECT id, at, caller, address, action, subject, detail FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?
                """,
                [number ?? .max, max(0, limit)]
            ).compactMap { try? Self.auditEntry($0) }
        }
    }

    static func auditEntry(_ row: Row) throws -> NumberedAuditEntry {
        try NumberedAuditEntry(
            number: row.stored("id"),
            entry: AuditEntry(
                at: row.stored("at"), caller: row.stored("caller"), address: row.stored("address"),
                action: row.stored("action"), subject: row.stored("subject"), detail: row.stored("detail")))
    }
}
