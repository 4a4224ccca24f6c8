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
        #expect(policy.decision(after: history, jitter: 0) == .giveUp)
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
        #expect(TimePolicy(limit: .seconds(7)).timeLimit(megapixels: 500, filters: 9) == .seconds(7))
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

    @Test func `a single large frame is cut into tiles, a small one is not`() {
        let large = ProbeReceipt.make(width: 6000, height: 4000, tile: 1024)
        #expect(policy(frames: 1).decision(for: large).reason == "fewer frames than workers, and a large one")
        #expect(policy(frames: 1).decision(for: large).tiled)
        #expect(policy(frames: 1).decision(for: .make()).tiled == false)
    }

    @Test func `a frame that does not fit into a worker's memory is cut into tiles`() {
        let large = ProbeReceipt.make(width: 6000, height: 4000, tile: 1024)
        let decision = policy(frames: 100, memory: 50_000_000).decision(for: large)
        #expect(decision.tiled)
        #expect(decision.reason == "the frame takes 72 MB, a worker may take 50 MB")
    }

    @Test func `the manifest overrides the choice`() {
        #expect(policy(.tile, frames: 50).decision(for: .make()).tiled)
        #expect(policy(.frame, frames: 1, memory: 1).decision(for: .make(width: 9000, height: 9000)).tiled == false)
    }
}
