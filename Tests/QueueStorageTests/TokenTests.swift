import QueueStorage
import Queueing
import Testing

@Suite struct TokenTests {
    let stored: StoredQueue

    init() throws { stored = try StoredQueue() }

    private func token(_ id: String, byte: UInt8 = 1) -> StoredToken {
        StoredToken(
            id: id, name: "ci", digest: Array(repeating: byte, count: 32), scope: .submit,
            roots: ["/srv/a", "/srv/ä b"],
            created: .noon, expires: .noon(plusDays: 90))
    }

    private func entry(_ action: String) -> AuditEntry {
        AuditEntry(at: .noon, caller: "uid:0", action: action, subject: "token x7")
    }

    @Test func `a token is read back, and all are listed by age`() throws {
        let first = token("x7")
        let second = StoredToken(
            id: "a1", name: "ci", digest: Array(repeating: 2, count: 32), scope: .read, created: .noon(plus: 1))
        try stored.store.add(second)
        try stored.store.add(first, audit: entry("token.add"))
        #expect(try stored.store.token("x7") == first)
        #expect(try stored.store.token("x8") == nil)
        #expect(try stored.store.token("x7\0") == nil)
        #expect(try stored.store.tokens().tokens == [first, second])
        #expect(try stored.store.auditEntries(limit: 9).map(\.entry) == [entry("token.add")])
    }

    @Test func `no two tokens have one identifier or one secret`() throws {
        try stored.store.add(token("x7"))
        #expect(
            message { try stored.store.add(token("x7", byte: 2), audit: entry("token.add")) }
                == "\(stored.path): there is already a token 'x7'\n   = choose another name")
        guard case .broken? = problem({ try stored.store.add(token("x8")) }) else {
            Issue.record("two tokens have one secret")
            return
        }
        #expect(try stored.store.auditEntries(limit: 9) == [])
    }

    @Test func `a renewed token has another secret and is valid again, and keeps the rest`() throws {
        let old = token("x7")
        try stored.store.add(old)
        try stored.store.revokeToken("x7", at: .noon)
        #expect(
            try stored.store.renewToken(
                "x7", digest: Array(repeating: 9, count: 32), expires: nil, audit: entry("token.renew")))
        let new = try #require(try stored.store.token("x7"))
        #expect(new.digest == Array(repeating: 9, count: 32))
        #expect((new.expires, new.revoked) == (nil, nil))
        #expect((new.name, new.scope, new.roots) == (old.name, old.scope, old.roots))
        #expect(try stored.store.auditEntries(limit: 9).map(\.entry) == [entry("token.renew")])
        #expect(try !stored.store.renewToken("x8", digest: old.digest, expires: nil))
        #expect(try stored.store.tokenNames() == ["x7": "ci"])
        #expect((stored.store.name(of: .token("x7")), stored.store.name(of: .user(7))) == ("ci", nil))
    }

    @Test func `the highest priority of a token can be changed and removed, and a change is noted once`() throws {
        try stored.store.add(token("x7"))
        #expect(try stored.store.token("x7")?.maxPriority == nil)
        let limit = try Priority(60)
        var seen: [Priority?] = []
        for _ in 1...2 {
            let changed = try stored.store.changeToken("x7", maxPriority: limit) { before in
                seen.append(before.maxPriority)
                return entry("token.change")
            }
            #expect(changed?.maxPriority == limit)
        }
        #expect(seen == [nil])
        #expect(try stored.store.auditEntries(limit: 9).map(\.entry) == [entry("token.change")])
        _ = try stored.store.renewToken("x7", digest: Array(repeating: 9, count: 32), expires: nil)
        #expect(try stored.store.token("x7")?.maxPriority == limit)
        #expect(try stored.store.changeToken("x7", maxPriority: nil)?.maxPriority == nil)
        #expect(try stored.store.changeToken("x8", maxPriority: limit) == nil)
        #expect(try stored.store.changeToken("x7\0", maxPriority: limit) == nil)
    }

    @Test func `no administrator has a highest priority`() throws {
        let admin = StoredToken(
            id: "a1", name: "root", digest: Array(repeating: 1, count: 32), scope: .admin, maxPriority: .normal,
            created: .noon)
        #expect(throws: QueueStoreError.self) { try stored.store.add(admin) }
        #expect(try stored.store.tokens().tokens == [])
    }

    @Test func `a token is revoked once and for all`() throws {
        try stored.store.add(token("x7"))
        #expect(try stored.store.revokeToken("x7", audit: entry("token.revoke"), at: .noon(plus: 1)))
        #expect(try stored.store.revokeToken("x7", at: .noon(plus: 2)))
        #expect(try stored.store.token("x7")?.revoked == .noon(plus: 1))
        #expect(try stored.store.auditEntries(limit: 9).count == 1)
        #expect(try !stored.store.revokeToken("x8", audit: entry("token.revoke"), at: .noon))
        #expect(try stored.store.auditEntries(limit: 9).count == 1)
    }

    @Test func `the latest use of a token is kept`() throws {
        try stored.store.add(token("x7"))
        #expect(try stored.store.token("x7")?.used == nil)
        try stored.store.touchTokens(["x7": .noon(plus: 5), "gone": .noon])
        try stored.store.touchTokens(["x7": .noon(plus: 3)])
        try stored.store.touchTokens([:])
        #expect(try stored.store.token("x7")?.used == .noon(plus: 5))
        #expect(try stored.store.tokens().tokens.count == 1)
    }
}
