import QueueStorage
import Queueing
import Testing

@Suite struct OutboxTests {
    let stored: StoredQueue

    init() throws { stored = try StoredQueue() }

    private func mail(_ event: String) -> OutboxMessage { OutboxMessage(event: event, target: "hook", body: "{}") }

    private func due(_ seconds: Int, limit: Int = 100) throws -> [String] {
        try stored.store.dueMessages(at: .noon(plus: seconds), limit: limit).map(\.message.event)
    }

    @Test func `a message is stored with the change that it tells of, or not at all`() throws {
        var job = try stored.submit()
        try job.cancel(by: .user(0), at: .noon)
        try stored.store.update(job, messages: [mail("a"), mail("b")], at: .noon)
        #expect(try due(0) == ["a", "b"])
        #expect(try due(-1) == [])
        #expect(try due(0, limit: 1) == ["a"])
        let strange = try Submission(
            id: 9, owner: .user(1), digest: "d", name: "b", manifest: .file, at: .noon, known: { _ in nil })
        #expect(problem { try stored.store.update(strange, messages: [mail("c")], at: .noon) } == .unknownJob(9))
        #expect(try due(0) == ["a", "b"])
    }

    private func about(_ job: String, _ event: String, to target: String = "hook") -> OutboxMessage {
        OutboxMessage(event: event, target: target, body: #"{"job":"\#(job)"}"#)
    }

    @Test func `messages to a target about a job are found together, and so is their last delivery`() throws {
        let store = stored.store
        try store.enqueue(
            [about("a", "1"), about("a", "2"), about("b", "3"), about("a", "4", to: "other"), mail("5")], at: .noon)
        try store.enqueue([OutboxMessage(event: "6", target: "hook", body: "no JSON")], at: .noon)
        #expect(try store.dueMessages(at: .noon, to: "hook", about: "a", limit: 9).map(\.message.event) == ["1", "2"])
        #expect(try store.dueMessages(at: .noon, to: "hook", about: "a", limit: 1).map(\.message.event) == ["1"])
        #expect(try store.lastDelivery(to: "hook", about: "a") == nil)
        try store.delivered(["1", "2"], at: .noon(plus: 5))
        #expect(try store.lastDelivery(to: "hook", about: "a") == .noon(plus: 5))
        #expect(try store.lastDelivery(to: "hook", about: "b") == nil)
        // What was given up has reached nobody.
        try store.failed("3", error: "no", next: nil, at: .noon)
        #expect(try store.lastDelivery(to: "hook", about: "b") == nil)
    }

    @Test func `targets that were not reached are listed with their last error`() throws {
        let store = stored.store
        try store.enqueue(
            [
                about("a", "1"), about("a", "2"), about("a", "3"), about("a", "4", to: "other"),
                about("a", "5", to: "fine"),
            ],
            at: .noon)
        try store.failed("1", error: "first", next: .noon(plus: 60), at: .noon)
        try store.failed("2", error: "second", next: nil, at: .noon)
        try store.failed("4", error: "old", next: nil, at: .noon(plus: -60))
        try store.delivered("5", at: .noon)
        #expect(
            try store.undeliveredMessages(since: .noon)
                == [UndeliveredMessages(target: "hook", count: 2, next: .noon(plus: 60), error: "second")])
        try store.delivered("1", at: .noon(plus: 60))
        #expect(try store.undeliveredMessages(since: .noon(plus: 1)).isEmpty)
    }

    @Test func `a message that was given up is no trouble any more once its target takes another one`() throws {
        let store = stored.store
        try store.enqueue([about("a", "1"), about("a", "2")], at: .noon)
        try store.failed("1", error: "no mail program", next: nil, at: .noon)
        #expect(
            try store.undeliveredMessages(since: .noon)
                == [UndeliveredMessages(target: "hook", count: 1, next: nil, error: "no mail program")])
        try store.delivered("2", at: .noon(plus: 5))
        #expect(try store.undeliveredMessages(since: .noon).isEmpty)
    }

    @Test func `a message that waits has not been tried`() throws {
        try stored.store.enqueue([mail("a")], at: .noon)
        try stored.store.postpone(["a"], until: .noon(plus: 60))
        #expect(try due(59) == [])
        #expect(try stored.store.dueMessages(at: .noon(plus: 60), limit: 1).map(\.tries) == [0])
    }

    @Test func `a setting is stored with its messages`() throws {
        let setting = QueueStore.Setting(name: "late-a")
        try stored.store.enqueue([mail("a")], setting: (setting, "7"), at: .noon)
        #expect(try stored.store[setting] == "7")
        #expect(throws: QueueStoreError.self) {
            try stored.store.enqueue(
                [OutboxMessage(event: "", target: "hook", body: "{}")], setting: (setting, "8"), at: .noon)
        }
        #expect(try stored.store[setting] == "7")
    }

    @Test func `the same event is stored once, even after it was delivered`() throws {
        try stored.store.enqueue([mail("a")], at: .noon)
        try stored.store.enqueue([mail("a")], at: .noon)
        #expect(try due(0) == ["a"])
        try stored.store.delivered("a", at: .noon)
        try stored.store.enqueue([mail("a")], at: .noon)
        #expect(try due(100) == [])
        #expect(try stored.store.nextMessageTime() == nil)
    }

    @Test func `a message that failed is due again later, until it is given up`() throws {
        try stored.store.enqueue([mail("a"), mail("b")], at: .noon)
        try stored.store.failed("a", error: "no\nroute", next: .noon(plus: 60), at: .noon)
        #expect(try due(59) == ["b"])
        #expect(try due(60) == ["b", "a"])
        let entry = try #require(try stored.store.dueMessages(at: .noon(plus: 60), limit: 9).last)
        #expect((entry.tries, entry.next, entry.error) == (1, .noon(plus: 60), #"no\u{a}route"#))
        #expect(try stored.store.nextMessageTime() == .noon)
        try stored.store.failed("a", error: "no", next: nil, at: .noon(plus: 60))
        #expect(try due(1000) == ["b"])
        // What is over stays over.
        try stored.store.failed("a", error: "no", next: .noon, at: .noon(plus: 60))
        #expect(try due(1000) == ["b"])
    }

    @Test func `messages that are over can be removed, and others stay`() throws {
        try stored.store.enqueue([mail("a"), mail("b"), mail("c")], at: .noon)
        try stored.store.delivered("a", at: .noon)
        try stored.store.delivered("b", at: .noon(plus: 5))
        try stored.store.pruneMessages(doneBefore: .noon(plus: 5))
        try stored.store.enqueue([mail("a"), mail("b")], at: .noon(plus: 6))
        #expect(try due(6) == ["c", "a"])
    }

    @Test func `a body with a zero byte is refused`() throws {
        #expect(
            message { try stored.store.enqueue([OutboxMessage(event: "a", target: "t", body: "x\0y")], at: .noon) }
                == "\(stored.path): the value cannot be stored: the message contains a zero byte\n   = remove what is named, and "
                + "try again")
    }
}
