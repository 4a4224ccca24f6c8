import GRDB
import QueueStorage
import Queueing
import Testing

/// Rows that no version writes, or only a later one.
@Suite struct DamagedRowTests {
    let stored: StoredQueue

    init() throws { stored = try StoredQueue() }

    @Test(arguments: [
        (
            #"options = '{"version":2}'"#,
            "the column 'options' cannot be decoded: options: version 2 is of a later Penumbra"
        ),
        (
            #"options = '{"forced":true}'"#,
            "the column 'options' cannot be decoded: options: there is no option 'forced'"
        ),
        (
            #"labels = '{" x":"y"}'"#,
            "the column 'labels' cannot be decoded: label: ' x' is no name of a label"
        ),
        ("owner = 'somebody:else'", "'somebody:else' is no owner"),
        ("submitted = 9223372036854775807", "a whole number in the column 'submitted', which is for times"),
        (
            #"details = '{"state":"waiting","tries":0}'"#, "the column 'details' cannot be decoded: 'since' is missing"
        ),
    ])
    func `an open job that cannot be read does not run and is reported, and all others are read`(
        change: String, words: String
    ) throws {
        let jobs = try (1...3).map {
            try stored.submit(manifest: ManifestSource(.file(path: "/srv/a/\($0).yaml"), digest: "m"))
        }
        let dependent = try stored.submit(needs: [Need(2)])
        try stored.change("UPDATE submissions SET \(change) WHERE id = 2")
        let row = UnreadableRow(subject: "job 2", job: 2, words: words)
        let loaded = try stored.store.load()
        #expect(loaded.queue.jobs == [jobs[0], jobs[2], dependent])
        #expect(loaded.unreadable == [row])
        let limits = Limits(workers: 8)
        #expect(loaded.queue.decision(limits, at: .noon).starts.map(\.job) == [1, 3])
        #expect(loaded.queue.standings(limits, at: .noon)[4]?.reason == .needs([2]))

        let page = try stored.store.list(JobFilter(), limit: 10)
        #expect(page.jobs == [dependent, jobs[2], jobs[0]])
        #expect(page.unreadable == [row])
        #expect(problem { _ = try stored.store.job(2) } == .unreadable(row))
        #expect(try stored.store.checkIntegrity() == [row.message])
    }

    @Test func `a row that cannot be read is reported with what to do`() {
        #expect(
            UnreadableRow(subject: "job 2", job: 2, words: "'x\u{202e}' is no owner").message
                == "job 2 cannot be read, and it does not run: 'x\\u{202e}' is no owner\n   = use the version of Penumbra that "
                + "wrote it, or restore a backup")
        #expect(
            UnreadableRow(subject: "token 'x7'", words: "'x' is no scope").message
                == "token 'x7' cannot be read, and it is ignored: 'x' is no scope\n   = use the version of Penumbra that wrote "
                + "it, or restore a backup")
    }

    @Test func `columns that disagree with the state are not believed`() throws {
        try stored.submit()
        try stored.change(
            "PRAGMA ignore_check_constraints = ON; UPDATE submissions SET state = 'done', ended = 5, exit_code = 0")
        #expect(try stored.store.load().queue.jobs == [])
        #expect(
            try stored.store.list(JobFilter(), limit: 1).unreadable.map(\.words)
                == ["the columns of its state disagree"])
    }

    @Test func `a needed job whose end cannot be read lets nothing start`() throws {
        try stored.end()
        try stored.submit(needs: [Need(1)])
        #expect(try stored.store.load().queue.decision(Limits(workers: 8), at: .noon).starts.map(\.job) == [2])
        try stored.change(
            "PRAGMA ignore_check_constraints = ON; DROP TRIGGER a_job_ends_once; UPDATE submissions SET details = 'x' "
                + "WHERE id = 1")
        let loaded = try stored.store.load()
        #expect(loaded.unreadable.map(\.job) == [1])
        #expect(loaded.queue.decision(Limits(workers: 8), at: .noon).starts == [])
        // It is not taken for a job that does not exist.
        guard case .unreadable? = problem({ try stored.submit(needs: [Need(1)]) }) else {
            Issue.record("a job was accepted")
            return
        }
    }

    @Test func `labels that are no JSON do not break a list by labels`() throws {
        try stored.submit(labels: ["show": "a"])
        try stored.submit(labels: ["show": "a"])
        try stored.change("PRAGMA ignore_check_constraints = ON; UPDATE submissions SET labels = '{' WHERE id = 1")
        var filter = JobFilter()
        filter.labels = [.init(name: "show", value: "a")]
        #expect(try stored.store.list(filter, limit: 9).jobs.map(\.id) == [2])
        #expect(try stored.store.count(filter) == 1)
    }

    @Test func `a token, a schedule or a message that cannot be read does not affect others`() throws {
        let tokens = (1...2).map {
            StoredToken(
                id: "t\($0)", name: "n", digest: Array(repeating: UInt8($0), count: 32), scope: .admin, created: .noon)
        }
        for token in tokens { try stored.store.add(token) }
        for name in ["a", "b"] {
            try stored.store.add(StoredSchedule(name: name, kind: .cron, spec: "{}", last: .noon))
            try stored.store.enqueue([OutboxMessage(event: name, target: "t", body: "b")], at: .noon)
        }
        try stored.change(
            """
            PRAGMA ignore_check_constraints = ON;
            UPDATE tokens SET scope = 'root' WHERE id = 't1';
            UPDATE schedules SET kind = 'moon' WHERE name = 'a';
            UPDATE outbox SET next = -5 WHERE event = 'a'
            """)
        #expect(try stored.store.tokens().tokens == [tokens[1]])
        #expect(
            try stored.store.tokens().unreadable
                == [UnreadableRow(subject: "token 't1'", words: "'root' is no scope")])
        guard case .unreadable? = problem({ _ = try stored.store.token("t1") }) else {
            Issue.record("the token was read")
            return
        }
        #expect(try stored.store.schedules().schedules.map(\.name) == ["b"])
        #expect(try stored.store.schedules().unreadable.map(\.words) == ["'moon' is no kind of schedules"])
        #expect(try stored.store.dueMessages(at: .noon, limit: 1).map(\.message.event) == ["b"])
        #expect(
            try stored.store.checkIntegrity().contains(
                UnreadableRow(
                    subject: #"message "a""#, words: "a whole number in the column 'next', which is for times"
                )
                .message))
    }

    @Test(arguments: [
        ("UPDATE submissions SET priority = 101", "priority BETWEEN 0 AND 100"),
        ("UPDATE submissions SET exit_code = 0", "exit_code IS NOT NULL"),
        ("UPDATE submissions SET state = 'starting'", "state NOT IN"),
        ("UPDATE submissions SET state = 'held'", "json_extract(details, '$.state') IS state"),
        ("UPDATE submissions SET state = 'asleep'", "state IN"),
        ("UPDATE submissions SET tries = 1", "json_extract(details, '$.tries') IS tries"),
        ("UPDATE submissions SET run = 'a' WHERE id = 1", "IS run"),
        ("UPDATE submissions SET manifest_text = 'a'", "manifest_path IS NULL"),
        ("UPDATE submissions SET priority = 'high'", "cannot store TEXT value"),
        ("UPDATE submissions SET owner = 'me'", "owner LIKE"),
        ("UPDATE submissions SET key = 'k'", "UNIQUE constraint failed: submissions.owner, submissions.key"),
        ("INSERT INTO needs VALUES (1, 2, 'success')", "other < submission"),
        ("INSERT INTO needs VALUES (2, 2, 'success')", "other < submission"),
        ("INSERT INTO needs VALUES (2, 1, 'perhaps')", "outcome IN"),
        ("PRAGMA foreign_keys = ON; INSERT INTO needs VALUES (2, 0, 'success')", "FOREIGN KEY constraint failed"),
        ("INSERT INTO runs VALUES ('a', 1), ('a', 2)", "UNIQUE constraint failed: runs.name"),
        ("INSERT INTO tokens VALUES ('t', 'n', x'00', 'read', '[]', 0, NULL, NULL, NULL, NULL)", "length(digest) = 32"),
        ("INSERT INTO schedules VALUES (1, 'a', 'moon', '{}', 1, 0, NULL, 0)", "kind IN"),
        ("INSERT INTO schedules VALUES (1, 'a', 'cron', '{}', 1, 0, NULL, 1)", "last_job IS NOT NULL"),
        ("INSERT INTO outbox VALUES (1, 'e', 't', 'b', 0, NULL, NULL, NULL)", "done IS NOT NULL"),
        ("INSERT INTO outbox VALUES (1, 'e', 't', 'b', 0, NULL, NULL, 5)", "tries >= 1"),
    ])
    func `the database itself refuses what the queue never has`(change: String, rule: String) throws {
        try stored.submit()
        try stored.submit()
        do {
            try stored.change(change)
            Issue.record("\(change) was accepted")
        } catch let error as DatabaseError {
            #expect(error.message?.contains(rule) == true, "\(error)")
        }
    }
}
