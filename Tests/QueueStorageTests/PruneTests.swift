import QueueStorage
import Queueing
import Testing

@Suite struct PruneTests {
    let stored: StoredQueue

    init() throws { stored = try StoredQueue() }

    private func left() throws -> [JobID] { try stored.store.list(JobFilter(), limit: 1000).jobs.map(\.id).reversed() }

    @Test func `old ended jobs are removed, and the newest ones stay`() throws {
        for number in 0..<6 { try stored.end(at: .noon(plus: number)) }
        #expect(try stored.store.prune(endedBefore: .noon(plus: 5), keeping: 2, at: .noon(plusDays: 1)) == 4)
        #expect(try left() == [5, 6])
        #expect(try stored.store.prune(endedBefore: .noon(plus: 5), keeping: 0, at: .noon(plusDays: 1)) == 1)
        #expect(try left() == [6])
        #expect(try stored.store.job(run: "run-1") == nil)
    }

    @Test func `jobs that have not ended stay, with all that they need, however far`() throws {
        try stored.end()
        try stored.end(needs: [Need(1)])
        try stored.end(needs: [Need(2)])
        let open = try stored.submit(needs: [Need(3)])
        try stored.end()
        try stored.end(needs: [Need(5)])
        #expect(try stored.store.prune(endedBefore: .latest, keeping: 0, at: .noon(plusDays: 1)) == 2)
        #expect(try left() == [1, 2, 3, 4])
        #expect(try stored.store.load().queue.jobs == [open])
    }

    @Test func `a job stays as long as its key is remembered`() throws {
        try stored.end(key: "k")
        #expect(try stored.store.prune(endedBefore: .latest, keeping: 0, at: .noon(plusDays: 7)) == 0)
        #expect(try stored.submit(key: "k", at: .noon(plusDays: 7)).id == 1)
        #expect(try stored.store.prune(endedBefore: .latest, keeping: 0, at: .noon(plusDays: 8)) == 1)
    }
}
