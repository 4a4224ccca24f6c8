import QueueStorage
import Queueing
import Testing

/// The last success of each name, for figures.
@Suite struct SuccessTests {
    let stored: StoredQueue

    init() throws { stored = try StoredQueue() }

    @Test func `each name has the time of its last success, and names without one do not count`() throws {
        #expect(try stored.store.lastSuccesses(limit: 9) == LastSuccesses([], names: 0))
        try stored.end(name: "night", at: .noon)
        try stored.end(name: "day", at: .noon(plus: 1))
        try stored.end(name: "night", at: .noon(plus: 2))
        try stored.end(name: "night", code: 1, at: .noon(plus: 3))
        try stored.end(name: "never", code: 1, at: .noon(plus: 4))
        try stored.submit()
        let latest = [
            LastSuccesses.Success(job: "night", time: .noon(plus: 2)), .init(job: "day", time: .noon(plus: 1)),
        ]
        #expect(try stored.store.lastSuccesses(limit: 9) == LastSuccesses(latest, names: 2))
        #expect(try stored.store.lastSuccesses(limit: 1) == LastSuccesses(Array(latest.prefix(1)), names: 2))
    }
}
