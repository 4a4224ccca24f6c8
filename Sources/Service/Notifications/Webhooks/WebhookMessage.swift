import FoundationEssentials
import JobModel
package import Queueing

/// The message to a webhook, in the form of Standard Webhooks.
package struct WebhookMessage: Hashable, Sendable {
    /// The same for each try, so that a receiver can drop a message that it has.
    package let id: String
    /// JSON in one line, without control characters. It is the same for each try.
    package let body: String

    /// - Parameter id: Other characters than letters, digits, `.`, `-` and `_` are dropped.
    package init(_ notice: Notice, id: String) {
        self.init(id: id, body: Self.json(notice))
    }

    /// A stored message.
    package init(id: String, body: String) {
        let bytes = id.utf8.filter { byte in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"): true
            default: false
            }
        }
        self.id = String(decoding: bytes.prefix(200), as: UTF8.self)
        self.body = body
    }

    /// The headers of a try, without the one of the body's kind.
    ///
    /// - Parameter secret: Nil for a message that is not signed.
    /// - Returns: Nil if it could not be signed.
    package func headers(at now: WallTime, secret: WebhookSecret?) -> [(name: String, value: String)]? {
        var headers = [("webhook-id", id), ("webhook-timestamp", String(now.seconds))]
        if let secret {
            guard let signature = secret.signature(id: id, seconds: now.seconds, body: body) else { return nil }
            headers.append(("webhook-signature", signature))
        }
        return headers
    }

    private static func json(_ notice: Notice) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A duration that is no number cannot be written as JSON; the numbers of runs have none.
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
        let text = (try? encoder.encode(Payload(notice))).map { String(decoding: $0, as: UTF8.self) }
        return VisibleText.json(text ?? "{}")
    }

    private struct Payload: Encodable {
        let type: String
        let timestamp: WallTime
        let text: String
        let data: NoticeData

        init(_ notice: Notice) {
            type =
                switch notice.event {
                case .ended: "job.ended"
                case .delayed: "job.delayed"
                case .late: "job.late"
                }
            timestamp = notice.time
            text = "Penumbra: \(notice.headline) (\(VisibleText.line(notice.host)))"
            data = NoticeData(notice)
        }
    }

    private struct NoticeData: Encodable {
        let job: String
        let host: String
        let command: String
        var run: String?
        var state: String
        var exitCode: Int?
        var frames: Frames?
        var reason: String?
        var failures: [String]?
        var nextTry: WallTime?
        var expectedBy: WallTime?
        var lastSuccess: WallTime?

        private enum CodingKeys: String, CodingKey {
            case job, host, command, run, state, frames, reason, failures
            case exitCode = "exit_code"
            case nextTry = "next_try"
            case expectedBy = "expected_by"
            case lastSuccess = "last_success"
        }

        init(_ notice: Notice) {
            (job, host, command) = (notice.job, notice.host, notice.command)
            switch notice.event {
            case .ended(let end):
                (run, state, exitCode) = (end.run, end.outcome.rawValue, end.exitCode)
                (frames, reason, failures) = (end.counts.map(Frames.init), end.reason, end.failures)
            case .delayed(let delay):
                (state, exitCode, reason, nextTry) = ("waiting", delay.exitCode, delay.reason, delay.next)
            case .late(let late):
                (state, expectedBy, lastSuccess) = ("late", late.expectedBy, late.lastSuccess)
            }
        }
    }

    private struct Frames: Encodable {
        let total: Int
        let published: Int
        let skipped: Int
        let kept: Int
        let stillBroken: Int
        let failed: Int
        let left: Int
        let seconds: Double

        private enum CodingKeys: String, CodingKey {
            case total, published, skipped, kept, failed, left, seconds
            case stillBroken = "still_broken"
        }

        init(_ counts: RunCounts) {
            (total, published, skipped, kept) = (counts.frames, counts.published, counts.skipped, counts.kept)
            (stillBroken, failed, left) = (counts.stillBroken, counts.failed, counts.left)
            seconds = (counts.seconds * 1000).rounded() / 1000
        }
    }
}
