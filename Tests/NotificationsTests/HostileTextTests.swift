import JobModel
import Notifications
import Queueing
import TestSupport
import Testing

/// Names and messages of others, in mails and webhooks.
@Suite struct HostileTextTests {
    private func notices(_ text: String) throws -> [Notice] {
        let late = Notice(
            job: text, host: text, time: try time("2026-11-26T05:00:02Z"),
            event: .late(Notice.Lateness(expectedBy: try time("2026-11-26T05:00:00Z"), rule: text, lastSuccess: nil)))
        return [
            .make(job: text, host: text, run: text, reason: text, failures: [text]),
            .make(job: text, host: text, run: text, outcome: .stopped, exitCode: 74, reason: text, failures: [text]),
            late,
        ]
    }

    @Test(arguments: HostileText.all) func `a webhook's body is one line of JSON`(text: String) throws {
        for notice in try notices(text) {
            let message = WebhookMessage(notice, id: "x")
            #expect(HostileText.remains(in: message.body) == [])
        }
    }

    @Test(arguments: HostileText.all) func `a mail has its own lines alone`(text: String) throws {
        for notice in try notices(text) {
            let batch = MailDigest.Batch([notice], omitted: 0)
            let mail = try MailMessage(
                batch, to: "ops@example.org", id: "x", sent: time("2026-11-26T06:00:05Z")
            ).text
            #expect(HostileText.remains(in: mail.replacing("\r\n", with: "\n"), lines: true) == [])
            #expect(!mail.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("forged") })
        }
    }
}
