package import FoundationEssentials
package import Queueing

/// Judges whether a job has succeeded in time, once a day.
///
/// At the time of day a success since the same time of the day before is expected. A change of clocks neither skips nor
/// doubles the time, as with schedules.
package struct LatenessPolicy: Hashable, Sendable {
    private let schedule: Schedule

    /// - Parameter minute: The time of day, in minutes since midnight.
    package init(minute: Int, zone: TimeZone) throws(InputError) {
        let cron = try CronExpression("\(minute % 60) \(minute / 60) * * *")
        schedule = try Schedule(name: "late", cron: cron, zone: zone)
    }

    package struct Decision: Hashable, Sendable {
        /// The time by which the job should have succeeded. Nil if it is not late.
        package let lateSince: WallTime?
        /// To be stored in the transaction of the notice, so that each day is reported once.
        package let judged: WallTime
        /// When to decide again.
        package let next: WallTime?

        package init(lateSince: WallTime?, judged: WallTime, next: WallTime?) {
            self.lateSince = lateSince
            self.judged = judged
            self.next = next
        }
    }

    /// What to report now.
    ///
    /// If no service was running at the time, it is judged later. A success that came meanwhile counts, because then
    /// nobody has to act any more. Of several days that were missed only the last one is judged.
    ///
    /// - Parameters:
    ///   - judged: The last time that was judged, or the moment at which the rule was made.
    ///   - lastSuccess: When the job succeeded last. Nil if it never did.
    package func decision(since judged: WallTime, lastSuccess: WallTime?, at now: WallTime) -> Decision {
        guard let due = latest(after: judged, through: now) else {
            return Decision(lateSince: nil, judged: judged, next: schedule.next(after: judged))
        }
        // Days last up to 26 h, and zones that cross the date line drop a whole one.
        let before = latest(after: due + .seconds(-50 * 3600), through: due + .milliseconds(-1))
        let isLate = lastSuccess.map { success in before.map { success <= $0 } ?? false } ?? true
        return Decision(lateSince: isLate ? due : nil, judged: due, next: schedule.next(after: due))
    }

    private func latest(after first: WallTime, through end: WallTime) -> WallTime? {
        switch schedule.decision(since: first, lastJob: nil, at: end).action {
        case .submit(_, let time), .pass(let time, _): time
        case nil: nil
        }
    }
}
