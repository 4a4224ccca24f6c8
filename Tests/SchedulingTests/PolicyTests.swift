import JobModel
import Scheduling
import Testing
import WorkerProtocol

@Suite struct PolicyTests {
    @Test func `failures are retried as often as the manifest says`() {
        let policy = RetryPolicy(retries: 2)
        var history = AttemptHistory()
        history.failures = 2
        #expect(policy.decision(after: history, jitter: 0) == .retry(after: .milliseconds(200)))
        history.failures = 3
        #expect(policy.decision(after: history, jitter: 0) == .abandon)
    }

    @Test func `pauses double up to ten seconds and jitter takes away up to half`() {
        let policy = RetryPolicy(retries: 100)
        var history = AttemptHistory()
        history.failures = 1
        #expect(policy.decision(after: history, jitter: 0) == .retry(after: .milliseconds(100)))
        #expect(policy.decision(after: history, jitter: 1) == .retry(after: .milliseconds(50)))
        history.failures = 50
        #expect(policy.decision(after: history, jitter: 0) == .retry(after: .seconds(10)))
    }

    @Test func `the automatic time limit grows with megapixels and filters`() {
        let policy = TimePolicy(limit: .auto)
        #expect(policy.timeLimit(megapixels: 0, filters: 1) == .seconds(120))
        #expect(policy.timeLimit(megapixels: 12, filters: 2) == .seconds(120 + 30 * 12 * 3))
        #expect(policy.timeLimit(megapixels: 12, filters: 2, cost: 50) == .seconds(120 + 30 * 12 * 3))
        #expect(policy.timeLimit(megapixels: 12, filters: 2, cost: 500) == .seconds(120 + 20 * 500))
        #expect(TimePolicy(limit: .seconds(7)).timeLimit(megapixels: 500, filters: 9) == .seconds(7))
    }

    @Test(arguments: [TimeLimit.auto, .seconds(1e300)])
    func `no time limit is longer than a year`(limit: TimeLimit) {
        #expect(
            TimePolicy(limit: limit).timeLimit(megapixels: 1e300, filters: 9, cost: 1e300) == .seconds(365 * 24 * 3600))
    }

    private func policy(_ mode: ShardMode = .auto, workers: Int = 2, frames: Int, memory: Int = 1 << 30) -> ShardPolicy
    {
        ShardPolicy(mode: mode, workers: workers, frames: frames, frameMemory: memory)
    }

    @Test func `many frames go one to a worker`() {
        let large = ProbeReceipt.make(width: 6000, height: 4000, tile: 1024)
        #expect(policy(frames: 2).decision(for: large).tiled == false)
        #expect(policy(frames: 2).decision(for: large).reason == "enough frames for all workers")
    }

    @Test func `a single frame with a cheap chain streams, one with a costly chain is cut into tiles`() {
        func decision(chain: Double, workers: Int) -> ShardPolicy.Decision {
            let cost = FrameCost(decode: 0.3, chain: chain, encode: 0.2)
            return policy(workers: workers, frames: 1)
                .decision(for: .make(width: 6000, height: 4000, tile: 1024, cost: cost))
        }
        #expect(decision(chain: 0.1, workers: 2).reason == "the frame takes about 0.30 s, tiles 0.93 s")
        #expect(!decision(chain: 0.1, workers: 16).tiled)
        #expect(decision(chain: 5, workers: 4).reason == "tiles take about 2.37 s, the frame 5.00 s")
        #expect(decision(chain: 5, workers: 4).tiled)
    }

    @Test func `a frame that is held cannot filter while it is decoded`() {
        let cost = FrameCost(decode: 0.3, chain: 0.4, encode: 0.3)
        let streamed = ShardCost(.make(cost: cost), coresPerFrame: 4)
        let held = ShardCost(.make(heldBecause: "it is turned", cost: cost), coresPerFrame: 4)
        #expect(streamed.asFrame == 0.4)
        #expect(held.asFrame == 1.0)
    }

    @Test func `a frame that is held and does not fit into a worker's memory is cut into tiles`() {
        func decision(_ heldBecause: String?) -> ShardPolicy.Decision {
            policy(frames: 100, memory: 50_000_000)
                .decision(for: .make(width: 6000, height: 4000, tile: 1024, heldBecause: heldBecause))
        }
        #expect(decision("it is turned").reason == "the frame takes 72 MB, a worker may take 50 MB")
        #expect(decision("it is turned").tiled)
        #expect(!decision(nil).tiled)
    }

    @Test func `the manifest overrides the choice`() {
        #expect(policy(.tile, frames: 50).decision(for: .make()).tiled)
        #expect(policy(.frame, frames: 1, memory: 1).decision(for: .make(width: 9000, height: 9000)).tiled == false)
    }
}
