import Foundation
import JobModel
import Notifications
import Queueing
import Testing

@Suite struct MailTests {
    private func mail(_ notices: Notice..., omitted: Int = 0, id: String = "night-7-1a2b") throws -> String {
        MailMessage(
            MailDigest.Batch(notices, omitted: omitted), to: "ops@example.org", id: id,
            sent: try time("2026-11-26T06:00:05Z")
        ).text
    }

    private func head(_ mail: String) throws -> [String] {
        let end = try #require(mail.firstRange(of: "\n\n"))
        return mail[..<end.lowerBound].split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    private func subject(_ mail: String) throws -> String? {
        try head(mail).first { $0.hasPrefix("Subject: ") }.map { String($0.dropFirst(9)) }
    }

    @Test func `a mail names the job, the machine, what failed first, and the command to look`() throws {
        #expect(
            try mail(.make()) == """
                To: ops@example.org
                Subject: Penumbra: archive failed: 3 of 412 frames (render1)
                Date: Thu, 26 Nov 2026 06:00:05 +0000
                Message-ID: <night-7-1a2b@render1>
                Auto-Submitted: auto-generated
                MIME-Version: 1.0
                Content-Type: text/plain; charset=us-ascii
                Content-Transfer-Encoding: 7bit

                archive failed: 3 of 412 frames
                Machine: render1
                Time: 2026-11-26T06:00:00Z
                Exit code: 1
                Run: night-7
                Frames: 412 (400 published, 9 skipped, 3 failed)
                Duration: 3 min 20 s

                The first failures:
                  photos/a.jpg: not a JPEG file
                  photos/b.jpg: it is empty

                To see more, on this machine:
                  penumbra show night-7

                """)
    }

    @Test func `a job that did not start has its reason with the remedy`() throws {
        let notice = Notice.make(
            run: nil, exitCode: 66, counts: nil, reason: "job.yaml: no input\n   = mount the disk", failures: [])
        let text = try mail(notice)
        #expect(try subject(text) == "Penumbra: archive failed (render1)")
        #expect(
            text.hasSuffix(
                """
                Exit code: 66

                Reason:
                  job.yaml: no input
                     = mount the disk

                To see more, on this machine:
                  penumbra status

                """))
    }

    @Test func `several notices of a job are one mail`() throws {
        let text = try mail(.makeDone(), .make(), omitted: 2)
        #expect(try subject(text) == "Penumbra: archive: 4 notices, 1 failure (render1)")
        let body = try #require(text.components(separatedBy: "\n\n").dropFirst().first)
        #expect(body == "2 earlier notices of this job are not shown.")
        #expect(text.contains("archive is done: 403 published\n"))
        #expect(text.contains("\n\(String(repeating: "-", count: 60))\n\narchive failed: 3 of 412 frames\n"))
    }

    @Test(arguments: [
        (Notice.End.Outcome.done, "archive is done: 400 published"),
        (.failed, "archive failed: 3 of 412 frames"),
        (.workLeft, "archive has work left: 40 of 412 frames"),
        (.stopped, "archive was stopped: 40 of 412 frames left"),
        (.cancelled, "archive was cancelled: 40 of 412 frames left"),
        (.skipped, "archive was skipped"),
    ])
    func `each outcome has its words`(outcome: Notice.End.Outcome, words: String) {
        #expect(Notice.make(outcome: outcome, counts: .make(left: 40)).headline == words)
    }

    @Test(arguments: [
        (0, 0, 0, "nothing to do"), (3, 0, 0, "3 published"), (3, 1, 2, "3 published, 1 kept, 2 still broken"),
        (0, 2, 0, "2 kept"), (0, 0, 1, "1 still broken"),
    ])
    func `a job that is done says what its run has not rendered`(
        published: Int, kept: Int, stillBroken: Int, words: String
    ) {
        var counts = RunCounts.make(published: published, failed: 0)
        (counts.kept, counts.stillBroken) = (kept, stillBroken)
        #expect(Notice.make(outcome: .done, counts: counts).headline == "archive is done: \(words)")
    }

    @Test func `a job that is late says since when`() throws {
        let late = Notice(
            job: "archive", host: "render1", time: try time("2026-11-26T05:00:02Z"),
            event: .late(
                Notice.Lateness(
                    expectedBy: try time("2026-11-26T05:00:00Z"), rule: "06:00 Europe/Berlin",
                    lastSuccess: try time("2026-11-24T03:10:00Z"))))
        #expect(
            late.lines == [
                "archive is late: no success by 06:00 Europe/Berlin", "Machine: render1", "Time: 2026-11-26T05:00:02Z",
                "Expected by: 2026-11-26T05:00:00Z", "Last success: 2026-11-24T03:10:00Z", "",
                "To see more, on this machine:", "  penumbra status",
            ])
        #expect(late.isFailure)
    }

    private func delayed() throws -> Notice {
        let delay = Notice.Delay(
            exitCode: 74, reason: "/srv/out: Permission denied", next: try time("2026-11-26T05:00:32Z"))
        return Notice(
            job: "archive", host: "render1", time: try time("2026-11-26T05:00:02Z"), command: "penumbra queue show 7",
            event: .delayed(delay))
    }

    @Test func `a job that waits for a person says why, and when it is tried again`() throws {
        let notice = try delayed()
        #expect(
            notice.lines == [
                "archive waits, and will be tried again", "Machine: render1", "Time: 2026-11-26T05:00:02Z",
                "Exit code: 74", "Next try: 2026-11-26T05:00:32Z", "", "Reason:", "  /srv/out: Permission denied", "",
                "Later tries are not reported. The end of the job is.", "", "To see more, on this machine:",
                "  penumbra queue show 7",
            ])
        #expect(notice.isFailure)
        let body = WebhookMessage(notice, id: "x").body
        #expect(body.contains(#""exit_code":74"#) && body.contains(#""next_try":"2026-11-26T05:00:32Z""#))
        #expect(body.contains(#""state":"waiting""#) && body.contains(#""type":"job.delayed""#))
    }

    @Test(arguments: ["x\nBcc: all@example.org", "x\r\nBcc: all@example.org", "x\r\n\r\nbody", "x\u{85}y\u{2028}z\0"])
    func `a name cannot add a header, nor end the head`(name: String) throws {
        let text = try mail(.make(job: name, host: name, run: name, failures: [name]), id: name)
        let head = try head(text)
        #expect(
            head.map { String($0.prefix { $0 != ":" }) } == [
                "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
                "Content-Transfer-Encoding",
            ])
        #expect(text.utf8.allSatisfy { $0 == 10 || (0x20...0x7e).contains($0) })
    }

    @Test func `a subject that is not ASCII is made of encoded words, which divide no character`() throws {
        let job = String(repeating: "Märchenhäuser 🏠 ", count: 8)
        let head = try head(try mail(.make(job: job, failures: [])))
        let first = try #require(head.firstIndex { $0.hasPrefix("Subject: ") })
        let lines = [String(head[first].dropFirst(9))] + head[(first + 1)...].prefix { $0.hasPrefix(" ") }
        let words = lines.map { $0.trimmingCharacters(in: .whitespaces) }
        let decoded = try words.map { word in
            #expect(word.count <= 75 && word.hasPrefix("=?utf-8?B?") && word.hasSuffix("?="))
            let data = try #require(Data(base64Encoded: String(word.dropFirst(10).dropLast(2))))
            return try #require(String(validating: Array(data), as: UTF8.self))
        }
        #expect(decoded.joined() == "Penumbra: \(job) failed: 3 of 412 frames (render1)")
    }

    @Test func `a name that looks like an encoded word is not decoded`() throws {
        #expect(try subject(try mail(.make(job: "=?utf-8?B?QUJD?=")))?.hasPrefix("=?utf-8?B?UGVudW1icmE6") == true)
    }

    @Test func `a body that is not ASCII is in Base64, in lines of at most 76 characters`() throws {
        let text = try mail(.make(failures: ["fotos/größe.jpg: nicht lesbar"]))
        #expect(
            try head(text).suffix(2) == [
                "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64",
            ])
        let body = try #require(text.components(separatedBy: "\n\n").last)
        #expect(body.split(separator: "\n").allSatisfy { $0.count <= 76 })
        let data = try #require(Data(base64Encoded: body.replacing("\n", with: "")))
        #expect(String(decoding: data, as: UTF8.self).contains("\n  fotos/größe.jpg: nicht lesbar\n"))
    }

    @Test func `texts are cut, and at most ten failures are told`() throws {
        // One character of many scalars.
        let long = "e" + String(repeating: "\u{301}", count: 100_000)
        let notice = Notice.make(
            job: long, host: long, run: long, reason: long, failures: Array(repeating: long, count: 1000))
        #expect(try mail(notice).utf8.count < 20_000)
        guard case .ended(let end) = notice.event else { return }
        #expect(end.failures.count == 10)
    }

    @Test func `a notice is the same after it was stored`() throws {
        let late = Notice(
            job: "a", host: "b", time: .earliest,
            event: .late(Notice.Lateness(expectedBy: .latest, rule: "06:00", lastSuccess: nil)))
        for notice in [Notice.make(reason: "full"), .makeDone(), late, try delayed()] {
            #expect(try JSONDecoder().decode(Notice.self, from: JSONEncoder().encode(notice)) == notice)
        }
    }
}
