package import QueueStorage
package import ServiceAPI

/// What the database keeps of a schedule as JSON: its times and its job, and where it comes from.
package struct ScheduleSpecification: Hashable, Sendable, Codable {
    package let origin: ScheduleEntry.Origin
    package let schedule: ScheduleRequest

    package init(_ schedule: ScheduleRequest, origin: ScheduleEntry.Origin) {
        self.origin = origin
        self.schedule = schedule
    }

    /// - Throws: ``BodyError`` or ``InputError``, also for the text of a later version.
    package init(_ stored: StoredSchedule) throws {
        self = try StrictJSON.decode(Self.self, from: Array(stored.spec.utf8), limit: Self.longest)
    }

    /// A request has at most a megabyte, and this repeats it.
    private static let longest = 2 << 20

    package func text() throws -> String { String(decoding: try StrictJSON.encode(self), as: UTF8.self) }

    package var kind: StoredSchedule.Kind {
        switch schedule.trigger {
        case .times: .cron
        case .changes: .watch
        }
    }
}
