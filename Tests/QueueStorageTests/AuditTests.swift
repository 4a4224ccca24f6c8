import QueueStorage
import Queueing
import Testing

@Suite struct AuditTests {
    let stored: StoredQueue

    init() throws { stored = try StoredQueue() }

    private func entry(_ number: Int, address: String? = nil, detail: String = "") -> AuditEntry {
        AuditEntry(
            at: .noon(plus: number), caller: "uid:1000", address: address, action: "cancel", subject: "job \(number)",
            detail: detail)
    }

    @Test func `entries are read newest first, page by page`() throws {
        try stored.store.append((1...5).map { entry($0, address: $0 == 5 ? "127.0.0.1" : nil) })
        let first = try stored.store.auditEntries(limit: 2)
        #expect(first.map(\.entry) == [entry(5, address: "127.0.0.1"), entry(4)])
        let second = try stored.store.auditEntries(before: first.last?.number, limit: 9)
        #expect(second.map(\.entry) == [entry(3), entry(2), entry(1)])
        #expect(try stored.store.auditEntries(before: second.last?.number, limit: 9) == [])
    }

    @Test func `an entry is stored with its change, and once for a request that is repeated`() throws {
        for _ in 0..<2 {
            _ = try stored.store.insert(
                JobRequest(owner: .user(1), key: "k", digest: "d"),
                audit: { AuditEntry(at: .noon, caller: "uid:1", action: "submit", subject: $0.id.description) },
                at: .noon
            ) { id, known in
                try Submission(
                    id: id, owner: .user(1), key: "k", digest: "d", name: "b", manifest: .file, at: .noon, known: known)
            }
        }
        #expect(try stored.store.auditEntries(limit: 9).map(\.entry.subject) == ["job 1"])
    }

    @Test func `what cannot be seen is made visible, and long texts are cut`() throws {
        try stored.store.append([
            entry(1, detail: "a\0b\u{1b}[2J"), entry(2, detail: String(repeating: "x", count: 100_000)),
        ])
        let details = try stored.store.auditEntries(limit: 9).map(\.entry.detail)
        #expect(details == [String(repeating: "x", count: 2000), #"a\u{0}b\u{1b}[2J"#])
    }

    @Test func `only the newest entries are kept`() throws {
        try stored.store.append((1...3).map { entry($0) })
        // As if many others had come in between.
        try stored.change("UPDATE audit SET id = id + \(QueueStore.mostAuditEntries - 2) WHERE id > 1")
        try stored.change("UPDATE sqlite_sequence SET seq = \(QueueStore.mostAuditEntries) WHERE name = 'audit'")
        try stored.store.append([entry(4)])
        #expect(try stored.store.auditEntries(limit: 9).map(\.entry.subject) == ["job 4", "job 3", "job 2"])
        let oldest = try stored.store.auditEntries(limit: 9).last?.number
        #expect(oldest == QueueStore.mostAuditEntries)
    }

    @Test func `settings are kept, replaced and removed`() throws {
        #expect(try stored.store[.drained] == nil)
        try stored.store.set(.drained, to: "yes")
        try stored.store.set(.drained, to: "soon", audit: entry(1))
        #expect(try stored.store[.drained] == "soon")
        try stored.store.set(.drained, to: nil)
        #expect(try stored.store[.drained] == nil)
        #expect(try stored.store.auditEntries(limit: 9).count == 1)
    }
}
