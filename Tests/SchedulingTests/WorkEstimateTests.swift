import Geometry
import JobModel
import Scheduling
import Testing
import WorkerProtocol

@Suite struct WorkEstimateTests {
    private func estimate(
        _ costs: [FrameCost], frames: Int? = nil, mode: ShardMode = .frame, tile: Int = 50
    ) -> WorkEstimate {
        WorkEstimate(
            of: costs.map { .make(tile: tile, cost: $0) }, frames: frames ?? costs.count,
            policy: ShardPolicy(mode: mode, workers: 4, frames: frames ?? costs.count, frameMemory: 1_000_000_000))
    }

    private func cost(_ seconds: Double) -> FrameCost {
        FrameCost(decode: seconds / 4, chain: seconds / 2, encode: seconds / 4)
    }

    @Test func `frames take their time and a look`() {
        let work = estimate([cost(9.95), cost(19.95)])
        #expect(abs(work.seconds - 30) < 1e-9)
        #expect(abs(work.longestTask - 20) < 1e-9)
        #expect(work.tasks == 2)
        #expect(work.frameBytes == 100 * 80 * 3)
    }

    @Test func `a sample stands for all frames`() {
        let work = estimate([cost(9.95), cost(19.95)], frames: 2000)
        #expect(abs(work.seconds - 30000) < 1e-6)
        #expect(work.tasks == 2000)
    }

    /// Decoding comes before the shards, and encoding after them.
    @Test func `a picture in tiles has as many tasks, and filters alone`() {
        let work = estimate([FrameCost(decode: 100, chain: 10, encode: 100)], mode: .tile, tile: 25)
        #expect(work.tasks == 16)
        #expect(abs(work.seconds - (10 * 1.2 + 16 * 0.05)) < 1e-9)
        #expect(abs(work.longestTask - work.seconds / 16) < 1e-9)
        #expect(work.frameBytes == 0)
    }

    @Test(arguments: [
        (1.0, 60.0, 1, 1), (600, 60, 1, 10), (601, 60, 1, 11), (600, 60, 8, 2), (600, 1, 1, 100), (1e9, 60, 1, 100),
    ])
    func `shards take the time that is wanted, and none is empty`(
        total: Double, seconds: Double, cores: Int, count: Int
    ) {
        let work = estimate(Array(repeating: cost(total / 100 - 0.05), count: 100))
        #expect(work.shards(of: seconds, cores: cores, most: 1024) == count)
    }

    @Test func `there are no more shards than may be`() {
        let work = estimate([cost(600)], frames: 1_000_000)
        #expect(work.shards(of: 60, cores: 1, most: 1024) == 1024)
    }

    @Test func `pictures of which nothing is known make one shard`() {
        let work = WorkEstimate(
            of: [], frames: 10, policy: ShardPolicy(mode: .auto, workers: 4, frames: 10, frameMemory: 1))
        #expect(work.shards(of: 60, cores: 1, most: 1024) == 1)
        #expect(work.longestTask == 0)
    }
}
