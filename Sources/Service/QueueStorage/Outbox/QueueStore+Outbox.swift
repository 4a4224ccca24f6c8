import GRDB
import JobModel
package import Queueing

extension QueueStore {
    /// Stores messages that belong to no change of a job, and what led to them, in one transaction.
    package func enqueue(
        _ messages: [OutboxMessage], setting: (name: Setting, value: String)? = nil, at now: WallTime
    ) throws {
        try write { database in
            for message in messages { try enqueue(message, at: now, database) }
            if let setting { try put(setting.name, setting.value, database) }
        }
    }

    func enqueue(_ message: OutboxMessage, at now: WallTime, _ database: Database) throws {
        try database.run(
            """
            INSERT INTO outbox (event, target, body, tries, next) VALUES (?, ?, ?, 0, ?) ON CONFLICT (event) DO NOTHING
            """,
            [
                StoredText.whole(message.event, "event"), StoredText.whole(message.target, "target"),
                StoredText.whole(message.body, "message"), now.milliseconds,
            ])
    }

    /// The messages that are due, the longest due first.
    ///
    /// A message that cannot be read is left out. ``checkIntegrity()`` reports it.
    package func dueMessages(at now: WallTime, limit: Int) throws -> [OutboxEntry] {
        try read { database in
            // Beyond the limit, because unreadable rows must not hold up the others for ever.
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT event, target, body, tries, next, error FROM outbox WHERE done IS NULL AND next <= ?
                    ORDER BY next, id
                    """, arguments: [now.milliseconds])
            var entries: [OutboxEntry] = []
            while entries.count < limit, let row = try rows.next() {
                // A damaged message is left out, so that the others are sent.
                if let entry = try? Self.entry(row) { entries.append(entry) }
            }
            return entries
        }
    }

    /// The messages that are due to one target about one job: those whose JSON has it as `job`.
    package func dueMessages(at now: WallTime, to target: String, about job: String, limit: Int) throws -> [OutboxEntry]
    {
        try read { database in
            let rows = try database.rows(
                """
                SELECT event, target, body, tries, next, error FROM outbox
                WHERE done IS NULL AND next <= ? AND target = ? AND \(Self.isAboutJob) ORDER BY next, id LIMIT ?
                """, [now.milliseconds, target, job, limit])
            // A damaged message is left out, so that the others are sent.
            return rows.compactMap { try? Self.entry($0) }
        }
    }

    /// When a message about a job has reached a target last. Nil if none has, or if it was removed since.
    package func lastDelivery(to target: String, about job: String) throws -> WallTime? {
        try read { database in
            try database.row(
                """
                SELECT max(done) AS done FROM outbox
                WHERE done IS NOT NULL AND error IS NULL AND target = ? AND \(Self.isAboutJob)
                """, [target, job])?.stored("done")
        }
    }

    /// The messages whose last try has failed, by target. Those that were given up earlier are left out, and those that were given up
    /// before the last delivery to the same target: the target works again.
    package func undeliveredMessages(since earliest: WallTime) throws -> [UndeliveredMessages] {
        try read { database in
            // SQLite takes the error from the row of the greatest id.
            let rows = try database.rows(
                """
                SELECT target, count(*) AS count, error, max(id),
                    (SELECT min(next) FROM outbox WHERE target = failed.target AND done IS NULL AND error IS NOT NULL) AS next
                FROM outbox AS failed
                WHERE error IS NOT NULL AND (done IS NULL OR done >= ? AND done > coalesce(
                    (SELECT max(done) FROM outbox WHERE target = failed.target AND error IS NULL), -1))
                GROUP BY target ORDER BY target
                """, [earliest.milliseconds])
            // A damaged row is left out, so that the others are shown.
            return rows.compactMap { row in
                try? UndeliveredMessages(
                    target: row.stored("target"), count: row.stored("count"), next: row.stored("next"),
                    error: row.stored("error"))
            }
        }
    }

    private static let isAboutJob = "CASE WHEN json_valid(body) THEN json_extract(body, '$.job') = ? ELSE 0 END"

    /// Messages have to wait, although no try has failed.
    package func postpone(_ events: [String], until next: WallTime) throws {
        try write { database in
            for event in events {
                try database.run(
                    "UPDATE outbox SET next = ? WHERE event = ? AND done IS NULL", [next.milliseconds, event])
            }
        }
    }

    static func entry(_ row: Row) throws -> OutboxEntry {
        try OutboxEntry(
            message: OutboxMessage(
                event: row.stored("event"), target: row.stored("target"), body: row.stored("body")),
            tries: row.stored("tries"), next: row.stored("next"), error: row.stored("error"))
    }

    /// When the next message is due. Nil if none is left.
    package func nextMessageTime() throws -> WallTime? {
        try read { database in
            try database.row("SELECT min(next) AS next FROM outbox WHERE done IS NULL", [])?.stored("next")
        }
    }

    /// A message has reached its target. It is never due again.
    package func delivered(_ event: String, at now: WallTime) throws { try delivered([event], at: now) }

    /// The same for several that were sent as one.
    package func delivered(_ events: [String], at now: WallTime) throws {
        try write { database in
            for event in events {
                try database.run(
                    """
                    UPDATE outbox SET tries = tries + 1, next = NULL, error = NULL, done = ?
                    WHERE event = ? AND done IS NULL
                    """,
                    [now.milliseconds, event])
            }
        }
    }

    /// A try has failed.
    ///
    /// - Parameter next: When to try again. Nil to give up.
    package func failed(_ event: String, error: String, next: WallTime?, at now: WallTime) throws {
        try write { database in
            try database.run(
                "UPDATE outbox SET tries = tries + 1, next = ?, error = ?, done = ? WHERE event = ? AND done IS NULL",
                [
                    next?.milliseconds, VisibleText.line(String(error.prefix(1000))),
                    next == nil ? now.milliseconds : nil, event,
                ])
        }
    }

    /// Removes messages that were delivered or given up. Their events may be stored again afterwards.
    package func pruneMessages(doneBefore time: WallTime) throws {
        try write { database in try database.run("DELETE FROM outbox WHERE done < ?", [time.milliseconds]) }
    }
}
