package import Scheduling

/// The elements that were submitted and whose results have not come, as a pure value. The cluster's word only tells whether a result
/// may still come.
package struct ElementTracker: Sendable {
    private struct Followed {
        let job: String
        let index: Int
        let submission: String
        /// How long it may work.
        let limit: Duration
        var seen: ArrayElement?
        /// Since when it looks as though no result will come.
        var doubtfulSince: Timestamp?
        var runningSince: Timestamp?
    }

    /// A shard whose element will leave no result.
    package struct Lost: Hashable, Sendable {
        package let shard: Int
        package let loss: ElementFailure
        /// The element that must not go on; nil for one that has ended.
        package let cancelled: String?
    }

    private var followed: [Int: Followed] = [:]
    private var reasons = PendingReasons()
    private let grace: Duration
    private let logs: String
    private let logName: BatchTraits.LogName

    /// - Parameters:
    ///   - grace: how long the shared file system may take to show a result.
    ///   - logs: the folder of what elements print.
    package init(grace: Duration, logs: String, named logName: BatchTraits.LogName = .job) {
        self.grace = grace
        self.logs = logs
        self.logName = logName
    }

    /// The job arrays whose elements are waited for.
    package var jobs: [String] { Set(followed.values.map(\.job)).sorted() }

    package mutating func begin(_ submission: ArrayJob, as job: String, limits: [Int: Duration]) {
        for (index, shard) in submission.shards.enumerated() {
            guard let limit = limits[shard] else { continue }
            followed[shard] = Followed(job: job, index: index, submission: submission.name, limit: limit)
        }
    }

    package mutating func end(_ shard: Int) { followed[shard] = nil }

    /// What the element of a shard printed.
    package func log(of shard: Int) -> String {
        guard let one = followed[shard] else { return logs }
        return switch logName {
        case .job: "\(logs)/\(one.job)_\(one.index).out"
        case .submission: "\(logs)/\(one.submission)_\(one.index).out"
        }
    }

    /// - Returns: the shards that are lost; they are followed no more.
    package mutating func look(at elements: [ArrayElement], now: Timestamp) -> [Lost] {
        let rows = Dictionary(elements.map { ($0.id, $0) }) { $1 }
        var lost: [Lost] = []
        for shard in followed.keys.sorted() {
            guard let one = followed[shard] else { continue }
            let row = rows["\(one.job)_\(one.index)"]
            // Of the same number may be somebody else's.
            if let found = judge(one, row?.submission == one.submission ? row : nil, shard, now) { lost.append(found) }
        }
        for one in lost { followed[one.shard] = nil }
        return lost
    }

    /// Why elements wait for what may never come. Each reason is told once.
    package mutating func pendingReasons(of elements: [ArrayElement]) -> [String] {
        let own = Set(followed.values.map(\.submission))
        return reasons.news(of: elements.filter { own.contains($0.submission) })
    }

    private mutating func judge(_ one: Followed, _ row: ArrayElement?, _ shard: Int, _ now: Timestamp) -> Lost? {
        var one = one
        defer { followed[shard] = one }
        let name = "\(one.job)_\(one.index)"
        if let row, let seen = one.seen, row.restarts != seen.restarts { one.runningSince = nil }
        one.seen = row ?? one.seen
        switch row?.condition {
        // What stands still uses up none of its time; when it goes on it has all of it again.
        case .waiting, .suspended: (one.doubtfulSince, one.runningSince) = (nil, nil)
        case .running:
            one.doubtfulSince = nil
            let since = one.runningSince ?? now
            one.runningSince = since
            guard now.elapsed - since.elapsed > one.limit else { return nil }
            return Lost(
                shard: shard, loss: ElementFailure(overdue: row?.name ?? "element \(name)", log: log(of: shard)),
                cancelled: name)
        case .stuck, .ended, nil:
            let since = one.doubtfulSince ?? now
            one.doubtfulSince = since
            guard now.elapsed - since.elapsed >= grace else { return nil }
            let loss = ElementFailure(row, name: one.seen?.name ?? "element \(name)", log: log(of: shard))
            return Lost(shard: shard, loss: loss, cancelled: row?.condition == .stuck ? name : nil)
        }
        return nil
    }
}
