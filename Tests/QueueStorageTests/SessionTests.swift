import QueueStorage
import Queueing
import TestSupport
import Testing

@Suite struct SessionTests {
    let stored: StoredQueue

    init() throws {
        stored = try StoredQueue()
        for (id, byte) in [("x7", UInt8(1)), ("a1", 2)] {
            try stored.store.add(
                StoredToken(
                    id: id, name: "anna", digest: Array(repeating: byte, count: 32), scope: .submit, created: .noon))
        }
    }

    private func digest(_ number: Int) -> [UInt8] { [UInt8(number)] + Array(repeating: 0, count: 31) }

    private func session(_ number: Int, of token: String = "x7", begunAfter seconds: Int = 0) -> StoredSession {
        StoredSession(
            digest: digest(number), token: token, created: .noon(plus: seconds), expires: .noon(plus: seconds + 60))
    }

    private func entry(_ action: String) -> AuditEntry {
        AuditEntry(at: .noon, caller: "token:x7", action: action, subject: "x7")
    }

    @Test func `a session is read back by its digest, until it is removed`() throws {
        #expect(try stored.store.add(session(1), audit: entry("session.begin")) == [])
        #expect(try stored.store.session(digest(1)) == session(1))
        #expect(try stored.store.session(digest(2)) == nil)
        #expect(try stored.store.session([]) == nil)
        #expect(try stored.store.removeSession(digest(1), audit: entry("session.end")))
        #expect(try stored.store.session(digest(1)) == nil)
        #expect(try !stored.store.removeSession(digest(1), audit: entry("session.end")))
        #expect(try stored.store.auditEntries(limit: 9).map(\.entry.action) == ["session.end", "session.begin"])
    }

    @Test func `a browser that signs in again gives up its session`() throws {
        _ = try stored.store.add(session(1))
        #expect(try stored.store.add(session(2), replacing: digest(1)) == [digest(1)])
        #expect(try stored.store.session(digest(1)) == nil)
        #expect(try stored.store.session(digest(2)) == session(2))
    }

    @Test func `the oldest session of a token ends when there are too many, and those of others stay`() throws {
        let other = session(100, of: "a1")
        _ = try stored.store.add(other)
        for number in 1...QueueStore.mostSessions {
            #expect(try stored.store.add(session(number, begunAfter: number)) == [])
        }
        let next = QueueStore.mostSessions + 1
        #expect(try stored.store.add(session(next, begunAfter: next)) == [digest(1)])
        #expect(try stored.store.session(digest(1)) == nil)
        #expect(try stored.store.session(digest(2)) == session(2, begunAfter: 2))
        #expect(try stored.store.session(digest(100)) == other)
    }

    @Test func `a revoked token has no sessions`() throws {
        _ = try stored.store.add(session(1))
        _ = try stored.store.add(session(2, of: "a1"))
        try stored.store.revokeToken("x7", at: .noon)
        #expect(try stored.store.session(digest(1)) == nil)
        #expect(try stored.store.session(digest(2)) == session(2, of: "a1"))
    }

    @Test func `expired sessions are removed, and others are not`() throws {
        _ = try stored.store.add(session(1))
        _ = try stored.store.add(session(2, begunAfter: 1))
        #expect(try stored.store.removeExpiredSessions(at: .noon(plus: 59)) == 0)
        #expect(try stored.store.removeExpiredSessions(at: .noon(plus: 60)) == 1)
        #expect(try stored.store.session(digest(1)) == nil)
        #expect(try stored.store.session(digest(2)) == session(2, begunAfter: 1))
    }

    @Test func `a session belongs to a token that exists`() throws {
        guard case .broken? = problem({ _ = try stored.store.add(session(1, of: "gone")) }) else {
            Issue.record("the session of a token that does not exist was stored")
            return
        }
        try stored.change(
            "PRAGMA foreign_keys = OFF; INSERT INTO sessions VALUES (zeroblob(32), 'gone', 0, 1)")
        #expect(
            try stored.store.checkIntegrity() == [
                "\(stored.path): the database is damaged: a row of 'sessions' refers to a token that does not exist\n"
                    + "   = stop the service, move the file away, and put the newest file of 'backups' in its place"
            ])
    }

    @Test func `a session that cannot be read allows nothing, and is found`() throws {
        _ = try stored.store.add(session(1))
        try stored.change("UPDATE sessions SET created = -5")
        #expect(try stored.store.session(digest(1)) == nil)
        #expect(
            try stored.store.checkIntegrity() == [
                UnreadableRow(
                    subject: #"session of the token "x7""#,
                    words: "a whole number in the column 'created', which is for times"
                ).message
            ])
    }

    @Test func `a database of the version before sessions gets them, and keeps what it has`() throws {
        let job = try stored.submit()
        stored.store.close()
        try stored.change(
            """
            DROP TABLE sessions; ALTER TABLE submissions DROP COLUMN manifest_name;
            ALTER TABLE tokens DROP COLUMN max_priority; DROP INDEX successes;
            DELETE FROM grdb_migrations WHERE identifier IN ('service 2', 'service 3', 'service 4', 'service 5')
            """)
        let store = try QueueStore(folder: stored.folder.path)
        #expect(try store.load().queue.jobs == [job])
        _ = try store.add(session(1))
        #expect(try store.session(digest(1)) == session(1))
        // Tokens of that version have no limit, and can get one.
        #expect(try store.changeToken("x7", maxPriority: .normal)?.maxPriority == .normal)
        store.close()
    }
}
