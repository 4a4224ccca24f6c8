import GRDB
package import Queueing

extension QueueStore {
    private static let columns = "name, kind, spec, enabled, last, last_job, submitted"

    /// All schedules by name, and those that cannot be read.
    package func schedules() throws -> (schedules: [StoredSchedule], unreadable: [UnreadableRow]) {
        try read { database in
            var result: (schedules: [StoredSchedule], unreadable: [UnreadableRow]) = ([], [])
            for row in try database.rows("SELECT \(Self.columns) FROM schedules ORDER BY name") {
                do {
                    result.schedules.append(try Self.schedule(row))
                } catch let problem as RowProblem {
                    result.unreadable.append(Self.unreadable(try row.stored("name"), problem))
                }
            }
            return result
        }
    }

    package func schedule(named name: String) throws -> StoredSchedule? {
        guard StoredText.isWhole(name) else { return nil }
        return try read { database in
            guard let row = try database.row("SELECT \(Self.columns) FROM schedules WHERE name = ?", [name]) else {
                return nil
            }
            do {
                return try Self.schedule(row)
            } catch let problem as RowProblem {
                throw error(.unreadable(Self.unreadable(name, problem)))
            }
        }
    }

    private static func unreadable(_ name: String, _ problem: RowProblem) -> UnreadableRow {
        UnreadableRow(subject: "schedule '\(name)'", words: problem.words)
    }

    static func schedule(_ row: Row) throws -> StoredSchedule {
        let word = try row.stored("kind", String.self)
        guard let kind = StoredSchedule.Kind(rawValue: word) else {
            throw RowProblem(words: "'\(word)' is no kind of schedules")
        }
        return try StoredSchedule(
            name: row.stored("name"), kind: kind, spec: row.stored("spec"), isEnabled: row.stored("enabled"),
            last: row.stored("last"), lastJob: row.stored("last_job", Int?.self).map { JobID($0) },
            submitted: row.stored("submitted"))
    }

    /// Adds a schedule.
    ///
    /// - Throws: ``QueueStoreError/Problem/nameIsUsed(_:)``.
    package func add(_ schedule: StoredSchedule, audit: AuditEntry? = nil) throws {
        try write { database in
            guard try database.row("SELECT 1 FROM schedules WHERE name = ?", [schedule.name]) == nil else {
                throw error(.nameIsUsed("schedule '\(schedule.name)'"))
            }
            try database.run(
                "INSERT INTO schedules (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    StoredText.whole(schedule.name, "name"), schedule.kind.rawValue,
                    StoredText.whole(schedule.spec, "schedule"), schedule.isEnabled, schedule.last.milliseconds,
                    schedule.lastJob?.number, schedule.submitted,
                ])
            if let audit { try append([audit], database) }
        }
    }

    /// Changes what a schedule does. How far it has come stays.
    ///
    /// - Parameter last: For a schedule that was disabled: times before this moment are not made up for.
    package func changeSchedule(
        named name: String, spec: String, isEnabled: Bool, last: WallTime? = nil, audit: AuditEntry? = nil
    ) throws {
        try write { database in
            try database.run(
                "UPDATE schedules SET spec = ?, enabled = ?, last = coalesce(?, last) WHERE name = ?",
                [StoredText.whole(spec, "schedule"), isEnabled, last?.milliseconds, name])
            guard database.changesCount > 0 else { throw error(.unknownName("schedule '\(name)'")) }
            if let audit { try append([audit], database) }
        }
    }

    /// The jobs that it has submitted stay.
    ///
    /// - Returns: Whether there was such a schedule.
    @discardableResult
    package func removeSchedule(named name: String, audit: AuditEntry? = nil) throws -> Bool {
        try write { database in
            try database.run("DELETE FROM schedules WHERE name = ?", [name])
            guard database.changesCount > 0 else { return false }
            if let audit { try append([audit], database) }
            return true
        }
    }

    /// A time passes without a job.
    package func pass(_ step: ScheduleStep) throws {
        try write { database in
            try database.run(
                "UPDATE schedules SET last = ? WHERE name = ?", [step.last.milliseconds, step.name])
            guard database.changesCount > 0 else { throw error(.unknownName("schedule '\(step.name)'")) }
        }
    }

    /// A job that an earlier schedule of the name submitted counts, too. Otherwise a watch would have its key for ever.
    func advance(_ step: ScheduleStep, submitting job: JobID, _ database: Database) throws {
        try database.run(
            "UPDATE schedules SET last = ?, last_job = ?, submitted = submitted + 1 WHERE name = ?",
            [step.last.milliseconds, job.number, step.name])
        // Somebody has removed it meanwhile, so its job is not wanted any more.
        guard database.changesCount > 0 else { throw error(.unknownName("schedule '\(step.name)'")) }
    }
}
