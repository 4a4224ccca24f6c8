import Foundation
import JobModel
import Notifications
import Queueing
import Testing

@Suite struct WebhookTests {
    @Test func `the body has what a program needs`() {
        let message = WebhookMessage(.make(reason: "stopped\u{202e}"), id: "night-7-1a2b")
        #expect(
            message.body
                == #"{"data":{"command":"penumbra show night-7","exit_code":1,"#
                + #""failures":["photos/a.jpg: not a JPEG file","photos/b.jpg: it is empty"],"#
                + #""frames":{"failed":3,"kept":0,"left":0,"published":400,"seconds":200,"skipped":9,"still_broken":0,"#
                + #""total":412},"host":"render1","job":"archive","reason":"stopped\u202e","run":"night-7","#
                + #""state":"failed"},"text":"Penumbra: archive failed: 3 of 412 frames (render1)","#
                + #""timestamp":"2026-11-26T06:00:00Z","type":"job.ended"}"#)
    }

    @Test func `a late job has a type of its own`() throws {
        let late = Notice(
            job: "archive", host: "render1", time: try time("2026-11-26T05:00:02Z"),
            event: .late(
                Notice.Lateness(
                    expectedBy: try time("2026-11-26T05:00:00Z"), rule: "06:00 Europe/Berlin", lastSuccess: nil)))
        #expect(
            WebhookMessage(late, id: "x").body
                == #"{"data":{"command":"penumbra status","expected_by":"2026-11-26T05:00:00Z","host":"render1","#
                + #""job":"archive","state":"late"},"text":"Penumbra: archive is late: no success by 06:00 Europe/Berlin "#
                + #"(render1)","timestamp":"2026-11-26T05:00:02Z","type":"job.late"}"#)
    }

    /// The example of the specification, which has the same result in Python:
    /// `base64.b64encode(hmac.new(base64.b64decode(SECRET), b"ID.TIME.BODY", hashlib.sha256).digest())`
    @Test func `the signature is that of Standard Webhooks`() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"))
        #expect(
            secret.signature(
                id: "msg_p5jXN8AQM9LWM0D4loKWxJek", seconds: 1_614_265_330, body: #"{"test": 2432232314}"#)
                == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test func `a message has the same headers and body at each try, but for its time`() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let message = WebhookMessage(id: "a.b\r\nX: y", body: "{}")
        let headers = try #require(message.headers(at: WallTime(seconds: 1000), secret: secret))
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(headers[0].value == "a.bXy")
        #expect(headers[1].value == "1000")
        #expect(headers[2].value == secret.signature(id: "a.bXy", seconds: 1000, body: "{}"))
        let plain = try #require(message.headers(at: WallTime(seconds: 1000), secret: nil))
        #expect(plain.map(\.name) == ["webhook-id", "webhook-timestamp"])
    }

    @Test(arguments: [
        "", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS*",
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_" + String(repeating: "A", count: 88),
    ])
    func `a secret that is too short, too long or no Base64 is refused`(text: String) {
        #expect(WebhookSecret(text) == nil)
    }
}
