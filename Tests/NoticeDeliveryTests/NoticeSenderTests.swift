import NoticeDelivery
import Notifications
import QueueStorage
import Queueing
import Testing

@Suite struct NoticeSenderTests {
    let fixture: Fixture
    private let hook = NoticeRules(onEnd: [.hook])
    private let ops = NoticeRules(onEnd: [.ops])

    init() throws { fixture = try Fixture() }

    @Test func `a webhook gets the end of a job once, with the message's name and its secret`() async throws {
        let sender = fixture.sender(hook)
        let job = try fixture.end(code: 1, text: "photos/a.jpg: not a JPEG file", hook)
        let event = try #require(fixture.messages(of: job, hook).first?.event)
        #expect(try await sender.sendDue() == nil)
        let sent = fixture.takeSent()
        #expect(sent.map(\.id) == [event])
        #expect(sent.map(\.target) == ["https://example.org/hook /etc/secret"])
        #expect(sent.allSatisfy { $0.text.contains(#""state":"failed""#) })
        try await sender.sendDue()
        #expect(fixture.takeSent().isEmpty)
    }

    @Test func `a message that was sent, and not stored as delivered, is sent again by the next service with its name`()
        async throws
    {
        let job = try fixture.end(code: 0, hook)
        // The first service is killed after its try.
        let event = try #require(fixture.messages(of: job, hook).first?.event)
        try await fixture.sender(hook).sendDue()
        let first = fixture.takeSent()
        try fixture.store.pruneMessages(doneBefore: fixture.now + .seconds(1))
        try fixture.store.enqueue(fixture.messages(of: job, hook), at: fixture.now)
        try await fixture.sender(hook).sendDue()
        #expect(fixture.takeSent() == first)
        #expect(first.map(\.id) == [event])
    }

    @Test func `what fails is tried again later, and each failure is noted`() async throws {
        let sender = fixture.sender(hook)
        try fixture.end(code: 0, hook)
        fixture.answer(.later("example.org answered 503"))
        let next = try #require(try await sender.sendDue())
        #expect(next == fixture.now + .seconds(15))
        #expect(
            fixture.notes == [
                "night: the notice to webhook example.org was not delivered, and is tried again at \(next): example.org answered 503"
            ])
        try await sender.sendDue()
        #expect(fixture.takeSent().count == 1)
        fixture.pass(15)
        #expect(try await sender.sendDue() == nil)
        #expect(fixture.takeSent().count == 1)
    }

    @Test func `a refusal is final, and a day of failures is, too`() async throws {
        let sender = fixture.sender(hook)
        try fixture.end(code: 0, hook)
        fixture.answer(.refused("example.org refused the message: it answered 404"))
        #expect(try await sender.sendDue() == nil)
        #expect(fixture.notes.last?.contains("and is given up: example.org refused") == true)
        try fixture.end(code: 0, hook)
        fixture.pass(86_400)
        fixture.answer(.later("nobody is there"))
        #expect(try await sender.sendDue() == nil)
        #expect(fixture.takeSent().count == 2)
    }

    @Test func `a target that the config does not name any more gets nothing`() async throws {
        try fixture.end(code: 0, hook)
        #expect(try await fixture.sender(ops).sendDue() == nil)
        #expect(fixture.takeSent().isEmpty)
        #expect(fixture.notes.last?.hasSuffix("is given up: the config file does not name its target any more") == true)
    }

    @Test func `a message that cannot be read is given up alone`() async throws {
        let sender = fixture.sender(hook)
        try fixture.store.enqueue(
            [
                OutboxMessage(event: "x", target: "webhook:https://example.org/hook", body: "{}"),
                OutboxMessage(event: "y", target: "webhook:https://example.org/hook", body: "no JSON"),
            ], at: fixture.now)
        try fixture.end(code: 0, hook)
        #expect(try await sender.sendDue() == nil)
        #expect(fixture.takeSent().count == 1)
        #expect(fixture.notes.count == 2)
    }

    @Test func `one address gets one mail in ten minutes about a job, with all that came since`() async throws {
        let sender = fixture.sender(ops)
        try fixture.end(code: 0, ops)
        #expect(try await sender.sendDue() == nil)
        #expect(fixture.takeSent().count == 1)
        fixture.pass(60)
        try fixture.end(code: 1, ops)
        let due = try #require(try await sender.sendDue())
        #expect(due == fixture.now + .seconds(540))
        fixture.pass(60)
        try fixture.end(code: 1, ops)
        // A service that starts anew remembers the last mail.
        #expect(try await fixture.sender(ops).sendDue() == due)
        #expect(fixture.takeSent().isEmpty)
        fixture.pass(480)
        #expect(try await sender.sendDue() == nil)
        let mails = fixture.takeSent()
        #expect(mails.count == 1)
        #expect(mails.allSatisfy { $0.text.contains("Subject: Penumbra: night: 2 notices, 2 failures (render1)") })
    }

    @Test func `mails about another job do not wait`() async throws {
        let sender = fixture.sender(ops)
        try fixture.end("night", code: 0, ops)
        try await sender.sendDue()
        try fixture.end("day", code: 0, ops)
        #expect(try await sender.sendDue() == nil)
        #expect(fixture.takeSent().count == 2)
    }

    @Test func `hundreds of ends of one job are one mail`() async throws {
        let sender = fixture.sender(ops)
        for _ in 0..<250 { try fixture.end(code: 0, ops) }
        #expect(try await sender.sendDue() == nil)
        let mails = fixture.takeSent()
        #expect(mails.count == 1)
        #expect(mails.allSatisfy { $0.text.contains("200 earlier notices of this job are not shown.") })
    }

    @Test func `a mail that fails is tried again with everything in it`() async throws {
        let sender = fixture.sender(ops)
        try fixture.end(code: 0, ops)
        try fixture.end(code: 0, ops)
        fixture.answer(.later("sendmail ended with exit code 75"))
        #expect(try await sender.sendDue() == fixture.now + .seconds(15))
        fixture.pass(15)
        #expect(try await sender.sendDue() == nil)
        let mails = fixture.takeSent()
        #expect(mails.count == 2)
        #expect(mails.allSatisfy { $0.text.contains("night: 2 notices") })
    }

    @Test func `the loop sends when it is woken, and ends with its task`() async throws {
        let sender = fixture.sender(hook)
        let (pauses, pause) = AsyncStream.makeStream(of: Duration.self)
        let task = Task {
            await sender.run { time in
                pause.yield(time)
                // Only a wake ends this wait.
                try await Task.sleep(for: .seconds(100_000))
            }
        }
        var looks = pauses.makeAsyncIterator()
        _ = await looks.next()
        try fixture.end(code: 0, hook)
        sender.wake()
        while fixture.takeSent().isEmpty { await Task.yield() }
        task.cancel()
        await task.value
    }
}
