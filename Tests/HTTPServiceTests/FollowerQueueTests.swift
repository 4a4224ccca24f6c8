import HTTPService
import TestSupport
import Testing

@Suite struct FollowerQueueTests {
    private static let joining = Coalescing.frames { Array($0.joined(separator: Array("+".utf8))) }

    private func event(_ number: Int, _ name: String = "job") -> FeedEvent {
        FeedEvent(number: number, name: name, data: Array("\(number)".utf8))
    }

    private func queue(
        capacity: Int = 4, coalescing: Coalescing? = joining, after number: Int = 0, backlog: [FeedEvent] = [],
        filter: @escaping @Sendable (FeedEvent) -> Bool = { _ in true }
    ) -> FollowerQueue {
        FollowerQueue(after: number, backlog: backlog, coalescing: coalescing, capacity: capacity, filter: filter)
    }

    /// The numbers and the data of what is delivered.
    private func taken(_ queue: inout FollowerQueue, at now: Duration) -> [String]? {
        guard case .events(let events) = queue.take(at: now) else { return nil }
        return events.map { "\($0.number) \($0.name) \(String(decoding: $0.data, as: UTF8.self))" }
    }

    @Test func `events are delivered in order, once`() {
        var queue = queue()
        #expect(queue.take(at: .zero) == .nothing)
        for number in 1...3 { queue.offer(event(number)) }
        #expect(taken(&queue, at: .zero) == ["1 job 1", "2 job 2", "3 job 3"])
        #expect(queue.take(at: .zero) == .nothing)
        #expect(queue.seen == 3)
    }

    @Test func `a follower that is too slow is reset, and then gets what comes`() {
        var queue = queue()
        for number in 1...5 { queue.offer(event(number)) }
        #expect(queue.take(at: .zero) == .reset(number: 5))
        #expect(queue.take(at: .zero) == .nothing)
        queue.offer(event(6))
        #expect(taken(&queue, at: .zero) == ["6 job 6"])
    }

    @Test func `a reset has the number of the last event that was lost`() {
        var queue = queue()
        for number in 1...9 { queue.offer(event(number)) }
        #expect(queue.take(at: .zero) == .reset(number: 9))
    }

    @Test func `what was missed does not make a follower slow`() {
        var queue = queue(after: 10, backlog: (11...30).map { event($0) })
        for number in 31...34 { queue.offer(event(number)) }
        #expect(taken(&queue, at: .zero)?.count == 24)
        for number in 35...39 { queue.offer(event(number)) }
        #expect(queue.take(at: .zero) == .reset(number: 39))
    }

    @Test func `events are joined up to a barrier, and never over it`() {
        var queue = queue(capacity: 10)
        queue.offer(event(1, "frames"))
        #expect(taken(&queue, at: .zero) == ["1 frames 1"])
        for number in 2...3 { queue.offer(event(number, "frames")) }
        queue.offer(FeedEvent(number: 4, name: "run", data: Array("4".utf8), isBarrier: true))
        queue.offer(event(5))
        for number in 6...7 { queue.offer(event(number, "frames")) }
        #expect(queue.take(at: .milliseconds(1)) == .later(.milliseconds(250)))
        #expect(taken(&queue, at: .milliseconds(250)) == ["3 frames 2+3", "4 run 4", "5 job 5", "7 frames 6+7"])
    }

    @Test func `large events make a follower slow, too`() {
        var queue = queue(capacity: 1000)
        let data = [UInt8](repeating: 0, count: FollowerQueue.mostBytes / 2)
        for number in 1...3 { queue.offer(FeedEvent(number: number, name: "job", data: data)) }
        #expect(queue.take(at: .zero) == .reset(number: 3))
    }

    @Test func `events of frames are joined, four times a second at most`() {
        var queue = queue(capacity: 100)
        queue.offer(event(1, "frames"))
        #expect(taken(&queue, at: .zero) == ["1 frames 1"])
        for number in 2...4 { queue.offer(event(number, "frames")) }
        #expect(queue.take(at: .milliseconds(100)) == .later(.milliseconds(250)))
        queue.offer(event(5, "frames"))
        #expect(taken(&queue, at: .milliseconds(250)) == ["5 frames 2+3+4+5"])
        queue.offer(event(6, "frames"))
        #expect(queue.take(at: .milliseconds(499)) == .later(.milliseconds(500)))
        #expect(taken(&queue, at: .milliseconds(500)) == ["6 frames 6"])
    }

    @Test func `other events keep their place among frames`() {
        var queue = queue(capacity: 100)
        queue.offer(event(1, "frames"))
        _ = queue.take(at: .zero)
        queue.offer(event(2, "frames"))
        queue.offer(event(3))
        queue.offer(event(4, "frames"))
        queue.offer(event(5))
        #expect(queue.take(at: .milliseconds(1)) == .later(.milliseconds(250)))
        #expect(taken(&queue, at: .milliseconds(250)) == ["3 job 3", "4 frames 2+4", "5 job 5"])
    }

    @Test func `other events do not wait while there are no frames`() {
        var queue = queue()
        queue.offer(event(1, "frames"))
        _ = queue.take(at: .zero)
        queue.offer(event(2))
        #expect(taken(&queue, at: .milliseconds(1)) == ["2 job 2"])
    }

    @Test func `a filter hides events, and their numbers count as seen`() {
        var queue = queue { $0.number.isMultiple(of: 2) }
        for number in 1...7 { queue.offer(event(number)) }
        #expect(taken(&queue, at: .zero) == ["2 job 2", "4 job 4", "6 job 6"])
        #expect(queue.seen == 7)
    }

    /// Whatever happens, a follower that is not reset gets every event once, and numbers only rise.
    @Test(arguments: 1...50 as ClosedRange<UInt64>)
    func `random histories have no gap and no double`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var queue = queue(capacity: 30)
        var (now, number, received, last) = (Duration.zero, 0, Set<Int>(), 0)
        for _ in 0..<300 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0, 1:
                number += 1
                queue.offer(event(number, Bool.random(using: &random) ? "frames" : "job"))
            default:
                now += .milliseconds(Int.random(in: 1...200, using: &random))
                switch queue.take(at: now) {
                case .nothing, .later: break
                case .reset(let lost):
                    received.formUnion(1...lost)
                    last = lost
                case .events(let events):
                    for event in events {
                        #expect(event.number > last)
                        last = event.number
                        for part in String(decoding: event.data, as: UTF8.self).split(separator: "+") {
                            #expect(received.insert(Int(part) ?? 0).inserted, "\(part) came twice")
                        }
                    }
                }
            }
        }
        switch queue.take(at: now + .seconds(1)) {
        case .nothing, .later: break
        case .reset(let lost): received.formUnion(1...lost)
        case .events(let events):
            for part in events.flatMap({ String(decoding: $0.data, as: UTF8.self).split(separator: "+") }) {
                #expect(received.insert(Int(part) ?? 0).inserted, "\(part) came twice")
            }
        }
        #expect(received == Set(1...number))
    }

    @Test func `an event is written as the standard has it`() {
        let event = FeedEvent(number: 7, name: "job", data: Array("{\n\"a\":1}".utf8))
        #expect(
            String(decoding: event.text(boot: "b"), as: UTF8.self)
                == "event: job\nid: b-7\ndata: {\ndata: \"a\":1}\n\n")
        #expect(
            String(decoding: FeedEvent(number: 7, name: "job", data: []).text(boot: nil), as: UTF8.self)
                == "event: job\ndata: \n\n")
    }

    @Test(arguments: [
        "", "-", "--", "b", "b-", "-1", "b--1", "-1-", "b-x", "b-1-2", "b-+1", "b-99999999999999999999", "b- 1",
    ])
    func `other texts are no numbers of events`(text: String) { #expect(EventID(text) == nil) }
}
