package import Scheduling
package import WorkerProtocol

/// Gathers tasks into shards, by their estimates: pure, so that sizes can be tried without a cluster.
///
/// A shard is closed when its tasks take an element as long as is wanted, or there are too many, or when nothing has come for
/// a moment: then nothing will, before something is done.
package struct ShardBatcher: Sendable {
    /// A result of so many tasks is still written and read in a moment.
    package static let mostTasks = 1000
    /// Long enough for the coordinator to hand out what it has, short beside a cluster's queue.
    package static let lull = Duration.milliseconds(300)

    private let coreSeconds: Double
    private let cores: Int
    private var open: [Lease] = []
    private var gathered = 0.0
    private var latest = Timestamp.start
    private var closed: [[Lease]] = []

    /// - Parameters:
    ///   - seconds: how long an element is to work.
    ///   - cores: that it has.
    package init(seconds: Double, cores: Int) {
        coreSeconds = seconds * Double(cores)
        self.cores = cores
    }

    package mutating func add(_ lease: Lease, at now: Timestamp) {
        // A single task that is too much has a shard of its own.
        if !open.isEmpty, gathered + lease.estimate > coreSeconds, open.count >= cores { close() }
        open.append(lease)
        gathered += lease.estimate
        latest = now
        if gathered >= coreSeconds && open.count >= cores || open.count >= Self.mostTasks { close() }
    }

    /// The run wants it no more.
    package mutating func remove(_ lease: LeaseID) -> Bool {
        let before = open.count + closed.reduce(0) { $0 + $1.count }
        open.removeAll { $0.id == lease }
        closed = closed.map { $0.filter { $0.id != lease } }.filter { !$0.isEmpty }
        return open.count + closed.reduce(0) { $0 + $1.count } < before
    }

    /// The shards that are ready to be handed on, at most `count`. None while tasks still come, which may make more: one
    /// submission is better than several.
    package mutating func take(_ count: Int, at now: Timestamp) -> [[Lease]] {
        guard now.elapsed - latest.elapsed >= Self.lull || closed.count >= count else { return [] }
        if now.elapsed - latest.elapsed >= Self.lull { close() }
        let taken = Array(closed.prefix(count))
        closed.removeFirst(taken.count)
        return taken
    }

    private mutating func close() {
        if !open.isEmpty { closed.append(open) }
        open = []
        gathered = 0
    }
}
