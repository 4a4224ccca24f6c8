import Queueing
import Testing

/// The queue in a world in which anything happens at any time. After each event a slow and obvious referee judges the
/// decision, the reasons for waiting and the shares.
@Suite struct RandomQueueTests {
    private static let shards = 8

    @Test(arguments: 0..<shards)
    func `whatever happens, decisions are right and every job ends exactly once`(shard: Int) {
        var ends: [JobState.Name: Int] = [:]
        var (starts, refusals) = (0, 0)
        for seed in 0..<25 {
            var service = RandomService(seed: UInt64(shard * 1000 + seed))
            for _ in 0..<250 where service.complaints.isEmpty { service.step() }
            service.finish()
            #expect(service.complaints.prefix(3) == [], "seed \(shard * 1000 + seed)")
            #expect(service.isFinished)
            let total = service.ends.values.reduce(0, +)
            #expect(total == service.table.jobs.count)
            ends.merge(service.ends) { $0 + $1 }
            starts += service.starts
            refusals += service.refusals
        }
        // The world has seen everything.
        #expect(Set(ends.keys) == Set(JobState.Name.ended))
        #expect(starts > 100)
        #expect(refusals > 100)
    }

    @Test(arguments: 0..<20)
    func `from any state all jobs end when everybody is willing`(seed: UInt64) {
        var service = RandomService(seed: seed)
        for _ in 0..<10 {
            for _ in 0..<20 { service.step() }
            var willing = service
            willing.finish()
            #expect(willing.isFinished && willing.complaints.isEmpty, "seed \(seed) after \(service.steps) steps")
        }
    }
}
