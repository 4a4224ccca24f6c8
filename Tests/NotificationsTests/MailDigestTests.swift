import Notifications
import Queueing
import Testing

@Suite struct MailDigestTests {
    private let start = WallTime(seconds: 1_795_672_800)

    @Test func `the first notice is sent at once`() {
        var digest = MailDigest()
        #expect(digest.due(at: start) == nil)
        #expect(digest.take(at: start) == nil)
        digest.add(.make())
        #expect(digest.take(at: start) == MailDigest.Batch([.make()]))
        #expect(digest.take(at: start) == nil)
    }

    @Test func `notices of the next ten minutes wait, and are sent together`() {
        var digest = MailDigest()
        digest.add(.make())
        _ = digest.take(at: start)
        digest.add(.makeDone())
        digest.add(.make())
        let due = start + .seconds(600)
        #expect(digest.due(at: start) == due)
        #expect(digest.take(at: due + .milliseconds(-1)) == nil)
        #expect(digest.take(at: due) == MailDigest.Batch([.makeDone(), .make()]))
        #expect(digest.due(at: due) == nil)
    }

    @Test func `at the end nothing waits any more`() {
        var digest = MailDigest()
        digest.add(.make())
        _ = digest.take(at: start)
        digest.add(.makeDone())
        #expect(digest.take(at: start + .seconds(1), isLast: true) == MailDigest.Batch([.makeDone()]))
        #expect(digest.take(at: start + .seconds(2), isLast: true) == nil)
    }

    @Test func `of very many notices the last ones are kept, and the others are counted`() {
        var digest = MailDigest()
        for second in 0..<80 { digest.add(.makeDone(at: start + .seconds(second))) }
        let batch = digest.take(at: start + .seconds(80))
        #expect(batch?.omitted == 30)
        #expect(batch?.notices.count == 50)
        #expect(batch?.notices.first?.time == start + .seconds(30))
    }

    @Test func `a clock that was set back delays no mail`() {
        var digest = MailDigest()
        digest.add(.make())
        _ = digest.take(at: start)
        digest.add(.make())
        let before = start + .seconds(-86_400)
        #expect(digest.due(at: before) == before)
    }
}
