import Cluster
import Scheduling
import Testing

@Suite struct SubmissionQueueTests {
    private var backlog = SubmissionQueue()

    private mutating func next(at second: Int) -> ArrayJob? {
        backlog.next(at: Timestamp(.seconds(second))) { ArrayJob(name: "n-\($0)", firstShard: 1, count: 5) }
    }

    @Test mutating func `one array is submitted at a time`() throws {
        let first = next(at: 0)
        #expect(first?.name == "n-1")
        #expect(next(at: 1) == nil)
        backlog.settle()
        #expect(next(at: 2)?.name == "n-2")
        #expect(backlog.names == ["n-1", "n-2"])
    }

    @Test mutating func `what the site does not take is offered in parts, each shard once`() throws {
        // A site that takes two elements at once, and then none for a while.
        var (taken, room, second) = ([Int](), 2, 0)
        while taken.count < 5, second < 1000 {
            second += 1
            guard let offer = next(at: second) else {
                room = 2
                continue
            }
            #expect(offer.firstShard + offer.count <= 6, "nothing new comes before what was refused")
            if offer.count <= room {
                taken += offer.shards
                room -= offer.count
                backlog.settle()
            } else {
                backlog.giveBack(offer, at: Timestamp(.seconds(second)))
            }
        }
        #expect(taken == [1, 2, 3, 4, 5])
    }

    @Test mutating func `a single element is offered again after a while`() throws {
        let array = try #require(next(at: 0))
        backlog.giveBack(array, at: .start)
        let part = try #require(next(at: 0))
        #expect(part.shards == 1..<3)
        backlog.giveBack(part, at: .start)
        let single = try #require(next(at: 0))
        #expect(single.shards == 1..<2)
        backlog.giveBack(single, at: .start)
        #expect(next(at: 29) == nil)
        #expect(next(at: 30) == single)
    }
}
