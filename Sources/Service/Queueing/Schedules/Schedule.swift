package import FoundationEssentials
package import JobModel

/// Submits a job again and again.
package struct Schedule: Hashable, Sendable {
    package typealias Missed = MissedTimes
    package typealias Overlap = OverlapRule

    package let name: String
    package let cron: CronExpression
    package let zone: TimeZone
    package let missed: Missed
    package let overlap: Overlap

    /// A time that is later than this was missed. A service that lives looks several times a second, and one that is
    /// replaced by its next version is away for some seconds.
    package static let grace = Duration.seconds(60)

    package init(
        name: String, cron: CronExpression, zone: TimeZone, missed: Missed = .once, overlap: Overlap = .queue
    ) throws(InputError) {
        guard ShortName.isSchedule(name) else { throw .scheduleName(name) }
        self.name = name
        self.cron = cron
        self.zone = zone
        self.missed = missed
        self.overlap = overlap
    }

    /// A zone by its name in the time zone database. Needs Foundation's data, which programs have that link Foundation.
    package static func zone(named name: String) throws(InputError) -> TimeZone {
        guard let zone = TimeZone(identifier: name) else { throw .timeZone(name) }
        return zone
    }

    /// The next time at which a job is to be submitted. Nil after the year 9999.
    ///
    /// A time that the zone's clocks skip comes at the moment when they are moved, together with all others that they
    /// skip. A time that they show twice comes the first time alone. So a change of clocks neither skips nor doubles a
    /// time.
    package func next(after time: WallTime) -> WallTime? {
        let local = LocalTime { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double($0))) }
        guard let next = cron.nextLocalTime(after: local.reached(at: time.seconds)) else { return nil }
        let moment = WallTime(seconds: local.moment(of: next))
        return moment > time ? moment : nil
    }

    /// The job of a time. A service that is killed between two steps submits it once, because of its key.
    package func key(for time: WallTime) -> String { "schedule:\(name):\(time)" }

    /// What became of its last job.
    package enum LastJob: Hashable, Sendable {
        case ended
        /// It has not started yet.
        case waiting(JobID)
        case running(JobID)
    }

    package enum Action: Hashable, Sendable {
        case submit(key: String, time: WallTime)
        /// The time passes without a job.
        case pass(time: WallTime, reason: PassReason)
    }

    package enum PassReason: Hashable, Sendable {
        case missed
        /// The last job has not ended.
        case overlaps(JobID)
        /// A job that waits serves for this time, too.
        case waits(JobID)
    }

    package struct Decision: Hashable, Sendable {
        /// Nil if no time has come.
        package let action: Action?
        /// To be stored as `last` in the transaction of the submission.
        package let last: WallTime
        /// When to decide again.
        package let next: WallTime?

        package init(action: Action?, last: WallTime, next: WallTime?) {
            self.action = action
            self.last = last
            self.next = next
        }
    }

    /// What to do now.
    ///
    /// - Parameters:
    ///   - last: The time of the last decision that had an action, or the moment at which the schedule was made.
    ///   - lastJob: Of the job that it submitted last. Nil if there was none.
    package func decision(since last: WallTime, lastJob: LastJob?, at now: WallTime) -> Decision {
        guard let due = latest(after: last, through: now) else {
            // A clock that was set back changes nothing: no time comes twice.
            return Decision(action: nil, last: last, next: next(after: last))
        }
        let action: Action
        if missed == .skip, now - due > Self.grace {
            action = .pass(time: due, reason: .missed)
        } else {
            switch lastJob {
            case .ended, nil: action = .submit(key: key(for: due), time: due)
            case .waiting(let job):
                action = .pass(time: due, reason: overlap == .skip ? .overlaps(job) : .waits(job))
            case .running(let job):
                action =
                    overlap == .skip
                    ? .pass(time: due, reason: .overlaps(job)) : .submit(key: key(for: due), time: due)
            }
        }
        return Decision(action: action, last: due, next: next(after: due))
    }

    /// The last time of the schedule in a range, by bisection: a service that was away for a year does not count all
    /// its minutes.
    private func latest(after first: WallTime, through end: WallTime) -> WallTime? {
        guard let next = next(after: first), next <= end else { return nil }
        var latest = next
        // `latest` is a time of the schedule, and behind `limit` there is none.
        var limit = end.seconds
        while latest.seconds < limit {
            let middle = latest.seconds + (limit - latest.seconds) / 2
            if let found = self.next(after: WallTime(seconds: middle)), found <= end {
                latest = found
            } else {
                limit = middle
            }
        }
        return latest
    }
}

extension Schedule.PassReason {
    package var words: String {
        switch self {
        case .missed: "the service was not running at this time"
        case .overlaps(let job): "\(job) of the schedule has not ended"
        case .waits(let job): "\(job) of the schedule still waits, and serves for this time, too"
        }
    }
}
