import Queueing
import Testing

/// The database in a world in which anything happens at any time.
@Suite struct RandomHistoryTests {
    @Test(arguments: 0..<8)
    func `whatever happens, the database has exactly the jobs that the service has`(shard: UInt64) throws {
        var events: [String: Int] = [:]
        for seed in 0..<3 {
            var history = try RandomHistory(seed: shard * 100 + UInt64(seed))
            for _ in 0..<150 where history.complaints.isEmpty { try history.step() }
            try history.compare()
            #expect(history.complaints.prefix(3) == [], "seed \(shard * 100 + UInt64(seed))")
            events.merge(history.events) { $0 + $1 }
        }
        // Everything has happened.
        for event in ["new", "repeated", "refused", "restart", "bulk", "waiting", "running", "cancelled", "done"] {
            #expect(events[event, default: 0] > 0, "\(event)")
        }
    }
}
