/// The events that wait for one follower. A value: times are its inputs.
///
/// Events that can be joined wait until their interval has passed. Later events wait behind them, so that numbers are sent
/// in order, and a follower that returns with a number has everything up to it. A joined event has the place and the number
/// of its last part. Events on both sides of a barrier are not joined.
package struct FollowerQueue: Sendable {
    private struct Waiting {
        let number: Int
        let name: String
        var parts: [[UInt8]]
        let isBarrier: Bool
    }

    package enum Delivery: Equatable {
        case nothing
        /// There are events, but not before this time.
        case later(Duration)
        case events([FeedEvent])
        /// Events were lost. The follower has to fetch everything anew, and then has everything up to the number.
        case reset(number: Int)
    }

    let filter: @Sendable (FeedEvent) -> Bool
    let coalescing: Coalescing?
    let capacity: Int
    private var waiting: [Waiting] = []
    /// The number of parts that wait.
    private var count = 0
    private var bytes = 0
    /// What waited when the follower returned. It does not count as slow for that.
    private var backlog = 0
    private var isLost = false
    private var lastCoalesced: Duration?
    /// Every event up to this number was offered.
    package private(set) var seen: Int

    /// Whether nothing waits.
    package var isIdle: Bool { waiting.isEmpty && !isLost }

    package static let mostBytes = 4 << 20

    package init(
        after number: Int, backlog events: some Collection<FeedEvent> = [], coalescing: Coalescing?, capacity: Int,
        filter: @escaping @Sendable (FeedEvent) -> Bool
    ) {
        self.filter = filter
        self.coalescing = coalescing
        self.capacity = capacity
        seen = number
        backlog = events.count
        for event in events { offer(event) }
    }

    /// A follower whose number is unknown or too old.
    package static func lost(
        at number: Int, coalescing: Coalescing?, capacity: Int, filter: @escaping @Sendable (FeedEvent) -> Bool
    ) -> FollowerQueue {
        var queue = FollowerQueue(after: number, coalescing: coalescing, capacity: capacity, filter: filter)
        queue.isLost = true
        return queue
    }

    package mutating func offer(_ event: FeedEvent) {
        seen = event.number
        guard !isLost, filter(event) else { return }
        guard count < capacity + backlog, bytes + event.data.count <= Self.mostBytes else {
            isLost = true
            (waiting, count, bytes) = ([], 0, 0)
            return
        }
        var parts: [[UInt8]] = []
        if event.name == coalescing?.name,
            let earlier = waiting.lastIndex(where: { $0.name == event.name || $0.isBarrier }),
            !waiting[earlier].isBarrier
        {
            parts = waiting.remove(at: earlier).parts
        }
        waiting.append(
            Waiting(number: event.number, name: event.name, parts: parts + [event.data], isBarrier: event.isBarrier))
        count += 1
        bytes += event.data.count
    }

    package mutating func take(at now: Duration) -> Delivery {
        if isLost {
            (isLost, backlog) = (false, 0)
            return .reset(number: seen)
        }
        guard !waiting.isEmpty else { return .nothing }
        if let coalescing, waiting.contains(where: { $0.name == coalescing.name }) {
            if let lastCoalesced, now < lastCoalesced + coalescing.interval {
                return .later(lastCoalesced + coalescing.interval)
            }
            lastCoalesced = now
        }
        let events = waiting.map { event in
            FeedEvent(
                number: event.number, name: event.name,
                data: event.parts.count == 1 ? event.parts[0] : coalescing?.join(event.parts) ?? [])
        }
        (waiting, count, bytes, backlog) = ([], 0, 0, 0)
        return .events(events)
    }
}
