package import Queueing
import Synchronization

/// Sends what happens to everybody who follows, as server-sent events.
///
/// Each event has a number. A follower that was away for a short time gets the events that it missed. One that was away for
/// too long, or that is too slow, gets `reset`, and then fetches everything anew.
package final class EventFeed: Sendable {
    private struct Follower {
        var queue: FollowerQueue
        let wake: AsyncStream<Void>.Continuation
        /// Nil for the administrators of this machine.
        let token: TokenID?
    }

    private struct State {
        var last = 0
        /// The latest events, at most `kept` of them.
        var recent: [FeedEvent] = []
        var recentBytes = 0
        var followers: [Int: Follower] = [:]
        var lastFollower = 0
    }

    package static let kept = 1024
    package static let waiting = 256
    /// A larger event is published as `reset`.
    package static let largestEvent = 64 << 10
    static let keptBytes = 4 << 20
    /// Proxies close connections that are silent for longer, and followers take the service for dead.
    package static let heartbeat: Duration = .seconds(15)
    /// The name of the event of a heartbeat. It is not published, and has no number of its own.
    package static let heartbeatName = "alive"

    /// Tells this start of the service from others, whose numbers mean nothing here.
    package let boot: String
    private let mostFollowers: Int
    private let mostFollowersOfToken: Int
    private let clock: ServiceClock
    private let state = Mutex(State())

    /// - Parameter boot: Letters and digits that no earlier start of the service had.
    package init(
        boot: String, mostFollowers: Int = HTTPLimits().followers,
        mostFollowersOfToken: Int = HTTPLimits().followersOfToken, clock: ServiceClock = .system
    ) {
        precondition(!boot.isEmpty && !boot.contains("-"), "the id of a start has no '-'")
        self.boot = boot
        self.mostFollowers = mostFollowers
        self.mostFollowersOfToken = mostFollowersOfToken
        self.clock = clock
    }

    package var followers: Int { state.withLock { $0.followers.count } }

    /// The ID of the latest event: state that was read before now may lack later events.
    package var lastID: String { "\(boot)-\(state.withLock { $0.last })" }

    /// Returns at once, however slow the followers are.
    ///
    /// - Parameters:
    ///   - name: Lower-case letters and hyphens.
    ///   - data: JSON.
    ///   - subject: What the event is about, for filters.
    ///   - owner: Whose job it is about, for filters. Nil for no job.
    ///   - isBarrier: Whether events before it are never joined with events after it.
    package func publish(
        _ name: String, _ data: [UInt8], about subject: String? = nil, of owner: Owner? = nil, isBarrier: Bool = false
    ) {
        precondition(
            !name.isEmpty && name.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x2d },
            "'\(name)' is no name of an event")
        let isTooLarge = data.count > Self.largestEvent
        let wakes = state.withLock { state in
            state.last += 1
            let event = FeedEvent(
                number: state.last, name: isTooLarge ? "reset" : name, data: isTooLarge ? Array("{}".utf8) : data,
                subject: subject, owner: owner, isBarrier: isBarrier)
            state.recent.append(event)
            state.recentBytes += event.data.count
            // Removed in blocks, since each removal moves all others.
            if state.recent.count > 2 * Self.kept || state.recentBytes > 2 * Self.keptBytes { Self.shorten(&state) }
            for id in state.followers.keys { state.followers[id]?.queue.offer(event) }
            return state.followers.values.map(\.wake)
        }
        for wake in wakes { wake.yield() }
    }

    private static func shorten(_ state: inout State) {
        var surplus = max(0, state.recent.count - kept)
        var bytes = state.recentBytes - state.recent.prefix(surplus).reduce(0) { $0 + $1.data.count }
        while bytes > keptBytes, surplus < state.recent.count {
            bytes -= state.recent[surplus].data.count
            surplus += 1
        }
        state.recent.removeFirst(surplus)
        state.recentBytes = bytes
    }

    /// The answer for a follower: a stream that ends when the client goes away, or the service ends it.
    ///
    /// The request may name the last event that the client has had, in the header `Last-Event-ID` or the parameter `after`.
    ///
    /// - Parameter filter: Which events the follower gets. `reset` always comes.
    package func follow(
        _ request: APIRequest, coalescing: Coalescing? = nil,
        filter: @escaping @Sendable (FeedEvent) -> Bool = { _ in true }
    ) throws(Problem) -> APIResponse {
        let after = try request.query.value("after")
        let last = request.headers["Last-Event-ID"] ?? after
        let follower = try join(request.caller?.token?.id, after: last, coalescing: coalescing) {
            $0.name == "reset" || filter($0)
        }
        return APIResponse(
            headers: [
                "Content-Type": "text/event-stream", "Cache-Control": "no-store",
                // nginx and proxies like it would hold events back.
                "X-Accel-Buffering": "no",
            ],
            body: .stream(ByteStream(isEndless: true) { writer in try await self.serve(follower, writer) }))
    }

    // MARK: One follower

    /// A place among the followers. It is given back when nobody holds it any more, so also if its stream never begins.
    private final class Membership: Sendable {
        let id: Int
        let start: Int
        let wakes: AsyncStream<Void>
        private let feed: EventFeed

        init(id: Int, start: Int, wakes: AsyncStream<Void>, feed: EventFeed) {
            self.id = id
            self.start = start
            self.wakes = wakes
            self.feed = feed
        }

        deinit { feed.leave(id) }
    }

    private func join(
        _ token: TokenID?, after last: String?, coalescing: Coalescing?,
        filter: @escaping @Sendable (FeedEvent) -> Bool
    ) throws(Problem) -> Membership {
        // One wake-up is enough for any number of events.
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let joined = try state.withLock { state throws(Problem) -> (id: Int, start: Int) in
            guard state.followers.count < mostFollowers else { throw .tooManyFollowers }
            if let token {
                let own = state.followers.values.count { $0.token == token }
                guard own < mostFollowersOfToken else { throw .tooManyFollowersOfToken(mostFollowersOfToken) }
            }
            let queue = queue(after: last, state, coalescing, filter)
            state.lastFollower += 1
            state.followers[state.lastFollower] = Follower(queue: queue.queue, wake: wake, token: token)
            return (state.lastFollower, queue.start)
        }
        wake.yield()
        return Membership(id: joined.id, start: joined.start, wakes: wakes, feed: self)
    }

    private func queue(
        after last: String?, _ state: State, _ coalescing: Coalescing?,
        _ filter: @escaping @Sendable (FeedEvent) -> Bool
    ) -> (queue: FollowerQueue, start: Int) {
        let now = state.last
        guard let last else {
            return (
                FollowerQueue(after: now, coalescing: coalescing, capacity: Self.waiting, filter: filter), now
            )
        }
        let missed = state.recent.suffix(Self.kept)
        guard let id = EventID(last), id.boot == boot, id.number <= now,
            id.number == now || (missed.first.map { $0.number <= id.number + 1 } ?? false)
        else {
            return (.lost(at: now, coalescing: coalescing, capacity: Self.waiting, filter: filter), now)
        }
        return (
            FollowerQueue(
                after: id.number, backlog: missed.drop { $0.number <= id.number }, coalescing: coalescing,
                capacity: Self.waiting, filter: filter), id.number
        )
    }

    private func leave(_ id: Int) {
        let follower = state.withLock { $0.followers.removeValue(forKey: id) }
        follower?.wake.finish()
    }

    private enum Step {
        case write([UInt8])
        case wait(Duration?)
    }

    private func serve(_ follower: Membership, _ writer: ByteStream.Writer) async throws {
        // The first ID is known before the first event, so that a connection that breaks early can be resumed, too.
        try await writer.write(Array("retry: 2000\nid: \(boot)-\(follower.start)\n\n".utf8))
        try await withThrowingDiscardingTaskGroup { group in
            let heart = Heart(beat: { [weak self] in self?.wake(follower.id) })
            let clock = clock
            group.addTask {
                // Sleeping fails once the stream has ended.
                while (try? await clock.sleep(Self.heartbeat)) != nil {
                    heart.isDue.store(true, ordering: .relaxed)
                    heart.beat()
                }
            }
            defer { group.cancelAll() }
            var alarm: Duration?
            for await _ in follower.wakes {
                stepping: while true {
                    switch step(follower.id) {
                    case .write(let bytes): try await writer.write(bytes)
                    case .wait(let time):
                        if let time, alarm.map({ $0 <= clock.now() || time < $0 }) ?? true {
                            alarm = time
                            group.addTask {
                                // The sleep fails when the follower is gone.
                                if (try? await clock.sleep(time - clock.now())) != nil { heart.beat() }
                            }
                        }
                        break stepping
                    }
                }
                if heart.isDue.exchange(false, ordering: .relaxed) {
                    try await writer.write(heartbeatText(follower.id))
                }
            }
        }
    }

    /// What the timers of one follower share with its stream.
    private final class Heart: Sendable {
        let isDue = Atomic(false)
        let beat: @Sendable () -> Void
        init(beat: @escaping @Sendable () -> Void) { self.beat = beat }
    }

    private func wake(_ id: Int) { state.withLock { $0.followers[id]?.wake }?.yield() }

    private func step(_ id: Int) -> Step {
        let now = clock.now()
        let delivery = state.withLock { $0.followers[id]?.queue.take(at: now) } ?? .nothing
        switch delivery {
        case .nothing: return .wait(nil)
        case .later(let time): return .wait(time)
        case .reset(let number):
            return .write(FeedEvent(number: number, name: "reset", data: Array("{}".utf8)).text(boot: boot))
        case .events(let events):
            return .write(
                events.enumerated().flatMap { index, event in
                    event.text(boot: index == events.count - 1 ? boot : nil)
                })
        }
    }

    /// An event keeps the connection open, and shows scripts of a page that the service still works. They cannot see comments.
    /// If no event waits, it has the latest number, so that a follower whose filter lets few events through does not fall behind.
    private func heartbeatText(_ id: Int) -> [UInt8] {
        let number = state.withLock { state -> Int? in
            guard let queue = state.followers[id]?.queue, queue.isIdle else { return nil }
            return queue.seen
        }
        let idLine = number.map { "id: \(boot)-\($0)\n" } ?? ""
        return Array("event: \(Self.heartbeatName)\n\(idLine)data: {}\n\n".utf8)
    }
}
