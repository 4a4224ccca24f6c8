import JobModel

/// The place of a job among others. Lower ranks come first.
///
/// 1. Jobs that are to run next. Of several, the one that was asked for last.
/// 2. Jobs of a higher level: the priority, and with ``Aging`` what the wait has added to it.
/// 3. Earlier jobs.
package struct Rank: Comparable, Sendable {
    /// What workers are shared by: 0–100, or above them for jobs that are to run next.
    package struct Level: Hashable, Comparable, Sendable {
        package let value: Int

        /// Of jobs that are to run next.
        package static let next = Level(value: 101)

        package static func < (a: Level, b: Level) -> Bool { a.value < b.value }
    }

    package let level: Level
    private let expedited: WallTime?
    package let id: JobID

    init(_ job: Submission, waited: Duration, aging: Aging?) {
        id = job.id
        expedited = job.expedited
        level = Level(job, waited: waited, aging: aging)
    }

    package static func < (a: Rank, b: Rank) -> Bool {
        if a.level != b.level { return a.level > b.level }
        if let one = a.expedited, let other = b.expedited, one != other { return one > other }
        return a.id < b.id
    }

    package static func == (a: Rank, b: Rank) -> Bool { a.id == b.id }
}

extension Rank.Level {
    package init(_ priority: Priority) { value = priority.value }

    init(_ job: Submission, waited: Duration, aging: Aging?) {
        guard job.expedited == nil else {
            self = .next
            return
        }
        value = min(job.priority.value + (aging?.points(for: waited) ?? 0), Priority.highest.value)
    }
}

/// Raises the level of jobs that wait, so that none starves. Off by default.
///
/// Only time counts in which a job could have started, or in which its run had work and no worker. What a job has
/// gained stays until its end: otherwise it would lose its workers at once.
package struct Aging: Hashable, Sendable {
    package let points: Int
    package let time: Duration

    /// - Parameters:
    ///   - points: At least 1.
    ///   - time: At least a second.
    package init?(points: Int, per time: Duration) {
        guard (1...100).contains(points), time >= .seconds(1), time <= .seconds(366 * 86_400) else { return nil }
        self.points = points
        self.time = time
    }

    /// Reads `1/10min`, `5/h`; nil for `off`.
    package static func read(_ text: String) throws(InputError) -> Aging? {
        if text == "off" { return nil }
        guard let rate = AgingRate(text: text), let aging = Aging(points: rate.points, per: .seconds(rate.seconds))
        else {
            throw .aging(text)
        }
        return aging
    }

    /// The points that a wait has added.
    func points(for waited: Duration) -> Int {
        guard waited > .zero else { return 0 }
        // At most 100 points count, so that no product overflows.
        return points * Int(min(100, waited.clampedMilliseconds / time.clampedMilliseconds))
    }

    /// How much longer it has to wait for further points.
    func rest(after waited: Duration) -> Duration {
        let step = time.clampedMilliseconds
        return .milliseconds(step - max(0, waited.clampedMilliseconds) % step)
    }
}
