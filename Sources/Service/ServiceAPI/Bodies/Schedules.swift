package import JobModel
package import Queueing

/// The body of `POST /schedules`: a schedule or a watched folder, and the job that it submits.
package struct ScheduleRequest: Hashable, Sendable {
    package enum Trigger: Hashable, Sendable {
        /// - Parameter zone: A name of the time zone database. Nil for the zone of the service's machine.
        case times(CronExpression, zone: String?, missed: MissedTimes, overlap: OverlapRule)
        /// The folders of the manifest's inputs have changed.
        ///
        /// - Parameters:
        ///   - quiet: There must be no changes for this long.
        ///   - minAge: The youngest file must have this age.
        case changes(quiet: Duration, minAge: Duration)
    }

    package let name: String
    package let trigger: Trigger
    package let job: SubmitRequest
    package private(set) var isEnabled: Bool

    /// - Throws: ``InputError`` if the name is wrong.
    package init(name: String, trigger: Trigger, job: SubmitRequest, isEnabled: Bool = true) throws(InputError) {
        guard ShortName.isSchedule(name) else { throw .scheduleName(name) }
        self.name = name
        self.trigger = trigger
        self.job = job
        self.isEnabled = isEnabled
    }

    package func with(isEnabled: Bool) -> ScheduleRequest {
        var other = self
        other.isEnabled = isEnabled
        return other
    }

    package static let longestZone = 64
}

/// `{"name": "nightly", "cron": "0 2 * * *", "zone": "Europe/Berlin", "submit": {"manifest": "/srv/a/night.yaml"}}`, or
/// `{"name": "scans", "watch": {"quiet": 1, "min_age": 2}, "submit": {"manifest": "/srv/a/scans.yaml"}}`
extension ScheduleRequest: Codable {
    fileprivate enum CodingKeys: String, CodingKey, CaseIterable {
        case name, cron, zone, missed, overlap, watch, submit
        case isEnabled = "enabled"
    }

    private enum WatchKeys: String, CodingKey, CaseIterable {
        case quiet
        case minAge = "min_age"
    }

    /// Reads a watch with its own keys alone.
    private struct Watch: Codable {
        let quiet: Double
        let minAge: Double

        init(quiet: Duration, minAge: Duration) {
            (self.quiet, self.minAge) = (quiet / .seconds(1), minAge / .seconds(1))
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.request(keyedBy: WatchKeys.self)
            quiet = try values.seconds(.quiet, in: WatchTimes.quiets) ?? WatchTimes.usualQuiet
            minAge = try values.seconds(.minAge, in: WatchTimes.ages) ?? WatchTimes.usualAge
        }

        func encode(to encoder: any Encoder) throws {
            var values = encoder.container(keyedBy: WatchKeys.self)
            try values.encode(quiet, forKey: .quiet)
            try values.encode(minAge, forKey: .minAge)
        }
    }

    package init(from decoder: any Decoder) throws {
        try self.init(members: try decoder.request(keyedBy: CodingKeys.self))
    }

    fileprivate init(members values: KeyedDecodingContainer<CodingKeys>) throws {
        let name = try values.decode(String.self, forKey: .name)
        let trigger: Trigger
        switch (values.contains(.cron), values.contains(.watch)) {
        case (true, true), (false, false):
            throw BodyError(
                .refused(
                    "a schedule has either 'cron' or 'watch'\n   = 'cron' has times: {\"cron\": \"0 2 * * *\"}; with "
                        + "'watch' it waits for changes in the folders of its manifest's inputs: {\"watch\": {}}"))
        case (true, false):
            let zone: String? = try values.optional(.zone)
            if let zone, !(1...Self.longestZone).contains(zone.utf8.count) { throw InputError.timeZone(zone) }
            trigger = .times(
                try CronExpression(values.decode(String.self, forKey: .cron)), zone: zone,
                missed: try values.word(.missed) ?? .once, overlap: try values.word(.overlap) ?? .queue)
        case (false, true):
            for key in [CodingKeys.zone, .missed, .overlap] where values.contains(key) {
                throw values.fault(key, "it belongs to 'cron', and the schedule has 'watch'")
            }
            let watch = try values.decode(Watch.self, forKey: .watch)
            trigger = .changes(quiet: .seconds(watch.quiet), minAge: .seconds(watch.minAge))
        }
        let job = try values.decode(SubmitRequest.self, forKey: .submit)
        guard job.after.isEmpty, !job.isHeld, job.notBefore == nil else {
            throw values.fault(
                .submit,
                "the job of a schedule has no 'after', 'hold' or 'not_before'\n   = leave them out: the schedule "
                    + "says when the job comes")
        }
        try self.init(name: name, trigger: trigger, job: job, isEnabled: try values.optional(.isEnabled) ?? true)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(name, forKey: .name)
        switch trigger {
        case .times(let cron, let zone, let missed, let overlap):
            try values.encode(cron.text, forKey: .cron)
            try values.encodeIfPresent(zone, forKey: .zone)
            try values.encode(missed, forKey: .missed)
            try values.encode(overlap, forKey: .overlap)
        case .changes(let quiet, let minAge): try values.encode(Watch(quiet: quiet, minAge: minAge), forKey: .watch)
        }
        try values.encode(job, forKey: .submit)
        try values.encode(isEnabled, forKey: .isEnabled)
    }
}

extension KeyedDecodingContainer {
    fileprivate func seconds(_ key: Key, in range: ClosedRange<Double>) throws -> Double? {
        guard let value: Double = try optional(key) else { return nil }
        guard range.contains(value) else {
            throw fault(key, "\(value) is not a number of seconds from \(range.lowerBound) to \(range.upperBound)")
        }
        return value
    }

    fileprivate func word<Value: CaseIterable & RawRepresentable>(_ key: Key) throws -> Value?
    where Value.RawValue == String {
        guard let text: String = try optional(key) else { return nil }
        guard let value = Value(rawValue: text) else {
            throw fault(
                key,
                "'\(BodyError.shown(text))' is none of its words\n   = the words are "
                    + Value.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return value
    }
}

/// A schedule as the service has it.
package struct ScheduleEntry: Hashable, Sendable {
    /// Where a schedule comes from.
    package enum Origin: String, Hashable, Sendable, Codable, CaseIterable {
        /// The config file has it.
        case config
        /// The config file had it. It submits nothing until the file has it again.
        case removed
        case api
    }

    package let request: ScheduleRequest
    package let origin: Origin
    /// The time of its last decision, or of its creation.
    package let last: WallTime
    /// The next time. Nil for a watch, and for a schedule that is disabled.
    package let next: WallTime?
    /// The job that it submitted last. It may have been removed since.
    package let lastJob: JobID?
    /// How many jobs it has submitted.
    package let submitted: Int
    /// Why it did not submit a job at its last time, or why it cannot. Nil if nothing is wrong.
    package let problem: String?

    package init(
        _ request: ScheduleRequest, origin: Origin, last: WallTime, next: WallTime?, lastJob: JobID?, submitted: Int,
        problem: String?
    ) {
        self.request = request
        self.origin = origin
        self.last = last
        self.next = next
        self.lastJob = lastJob
        self.submitted = submitted
        self.problem = problem
    }
}

/// The members of the request, and those of its state.
extension ScheduleEntry: Codable {
    private enum CodingKeys: String, CodingKey {
        case origin, last, next
        case lastJob = "last_job"
        case submitted, problem
    }

    package init(from decoder: any Decoder) throws {
        request = try ScheduleRequest(members: decoder.container(keyedBy: ScheduleRequest.CodingKeys.self))
        let values = try decoder.container(keyedBy: CodingKeys.self)
        origin = try values.decode(Origin.self, forKey: .origin)
        last = try values.decode(WallTime.self, forKey: .last)
        next = try values.decodeIfPresent(WallTime.self, forKey: .next)
        lastJob = try values.decodeIfPresent(JobID.self, forKey: .lastJob)
        submitted = try values.decode(Int.self, forKey: .submitted)
        problem = try values.decodeIfPresent(String.self, forKey: .problem)
    }

    package func encode(to encoder: any Encoder) throws {
        try request.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(origin, forKey: .origin)
        try values.encode(last, forKey: .last)
        try values.encodeIfPresent(next, forKey: .next)
        try values.encodeIfPresent(lastJob, forKey: .lastJob)
        try values.encode(submitted, forKey: .submitted)
        try values.encodeIfPresent(problem, forKey: .problem)
    }
}

/// The answer to `GET /schedules`.
package struct ScheduleList: Hashable, Sendable, Codable {
    package let schedules: [ScheduleEntry]
    /// Schedules that cannot be read, in words. They submit nothing.
    package let unreadable: [String]

    package init(_ schedules: [ScheduleEntry], unreadable: [String]) {
        self.schedules = schedules
        self.unreadable = unreadable
    }
}

/// The body of `PATCH /schedules/{name}`: `{"enabled": false}`.
package struct ScheduleChange: Hashable, Sendable {
    package let isEnabled: Bool

    package init(isEnabled: Bool) { self.isEnabled = isEnabled }
}

extension ScheduleChange: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable { case isEnabled = "enabled" }

    package init(from decoder: any Decoder) throws {
        isEnabled = try decoder.request(keyedBy: CodingKeys.self).decode(Bool.self, forKey: .isEnabled)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(isEnabled, forKey: .isEnabled)
    }
}
