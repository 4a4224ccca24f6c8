package import Queueing

/// The answer to `GET /diagnosis`: what an administrator should know of the service's health.
package struct ServiceDiagnosis: Hashable, Sendable, Codable {
    /// Of the program.
    package let version: String
    package let pid: Int
    package let isDrained: Bool
    /// Why the database could not be used last. Nil if it could.
    package let trouble: String?
    /// What is wrong with the database: damage, and rows that cannot be read. Empty if nothing is.
    package let problems: [String]
    /// Why schedules and watched folders submit no jobs now. Nil from a service of an earlier version.
    package let schedules: [String]?
    /// Notices that did not reach their targets, a line for each target. Nil from a service of an earlier version.
    package let undelivered: [String]?
    /// When the newest backup was made. Nil if there is none.
    package let lastBackup: WallTime?
    /// The clock of the service.
    package let now: WallTime

    package init(
        version: String, pid: Int, isDrained: Bool, trouble: String?, problems: [String], schedules: [String],
        undelivered: [String], lastBackup: WallTime?, now: WallTime
    ) {
        self.version = version
        self.pid = pid
        self.isDrained = isDrained
        self.trouble = trouble
        self.problems = problems
        self.schedules = schedules
        self.undelivered = undelivered
        self.lastBackup = lastBackup
        self.now = now
    }

    private enum CodingKeys: String, CodingKey {
        case version, pid
        case isDrained = "drained"
        case trouble, problems, schedules, undelivered
        case lastBackup = "last_backup"
        case now
    }
}
