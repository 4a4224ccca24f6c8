import Geometry
import Scheduling
import Testing
import WorkerProtocol

/// The scheduler in a world in which anything happens at any time. There are a million events. After each of them a
/// referee judges the directives, and the scheduler's tables are checked.
@Suite struct RandomFarmTests {
    private static let shards = 8
    private static let eventsOfShard = 1_000_000 / shards

    @Test(arguments: 0..<shards)
    func `whatever happens, no invariant is broken and every frame ends exactly once`(shard: Int) {
        var events = 0
        var seed = shard * 1_000_000
        while events < Self.eventsOfShard {
            var world = RandomWorld(seed: UInt64(seed))
            world.live()
            let (isFinished, complaints) = (world.isFinished, world.referee.complaints.prefix(3))
            #expect(isFinished, "seed \(seed)")
            #expect(complaints == [], "seed \(seed)")
            guard isFinished, complaints.isEmpty else { return }
            events += world.events
            seed += 1
        }
    }

    @Test(arguments: 0..<40)
    func `from any state a run finishes soon when everybody is willing`(seed: Int) {
        var world = RandomWorld(seed: UInt64(seed))
        while !world.isFinished, world.events < 2000 {
            for _ in 0..<50 where !world.isFinished { world.step() }
            var willing = world
            if world.draw(2) == 0 { willing.hung = Set(willing.referee.leases.keys) }
            willing.finish()
            let end = (finished: willing.isFinished, complaints: willing.referee.complaints)
            #expect(end.finished && end.complaints.isEmpty, "seed \(seed) after \(world.events) events")
            guard end.finished else { return }
        }
    }

    @Test(arguments: [3, 4])
    func `the same events and seed give the same directives`(seed: UInt64) {
        var (one, other) = (RandomWorld(seed: seed), RandomWorld(seed: seed))
        (one.trace, other.trace) = ([], [])
        one.live()
        other.live()
        #expect(one.events == other.events)
        #expect(one.trace == other.trace)
    }
}

extension RandomWorld {
    /// Anything happens for a while. Then everyone does what the scheduler asks for.
    fileprivate mutating func live() {
        for _ in 0..<5000 where !isFinished { step() }
        finish()
    }

    fileprivate mutating func finish() {
        for _ in 0..<stepsToEnd where !isFinished { willingStep() }
    }
}
