import Foundation
import Glibc
import Notifications
import Queueing
import TestSupport
import Testing

/// Messages that a real curl brings to a real socket.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"))
struct CurlTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func send(
        _ message: WebhookMessage = WebhookMessage(.make(), id: "night-7-1a2b"), to receiver: LocalReceiver,
        path: String = "/hook", secretFile: String? = nil
    ) async -> Delivery {
        // A sanitizer, or a busy machine, must not make a try late.
        await CurlSender(limit: .seconds(600)).send(
            message, to: "http://127.0.0.1:\(receiver.port)\(path)", secretFile: secretFile,
            now: WallTime(seconds: 1_795_672_800))
    }

    private func answer(_ status: String, _ headers: String = "") -> String {
        "HTTP/1.1 \(status)\r\n\(headers)Content-Length: 0\r\nConnection: close\r\n\r\n"
    }

    @Test func `the receiver gets the body and the signed headers`() async throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        try Data(secret.utf8).write(to: URL(filePath: folder.file("secret")))
        #expect(chmod(folder.file("secret"), 0o600) == 0)
        let receiver = try LocalReceiver(answer: answer("204 No Content"))
        // All characters that curl's configuration treats in its own way, and a path that looks like its patterns.
        let message = WebhookMessage(
            .make(failures: [#"a\b "c" {d} [1-3] \n @file # %{e}"#, "ä🏠\t\r\n\u{202e}"]), id: "night-7-1a2b")
        let delivery = await send(
            message, to: receiver, path: "/hook/{a,b}[1-2]?key=x", secretFile: folder.file("secret"))
        try #require(delivery == .delivered)
        let parts = receiver.received().components(separatedBy: "\r\n\r\n")
        let lines = parts[0].components(separatedBy: "\r\n")
        #expect(lines.first == "POST /hook/{a,b}[1-2]?key=x HTTP/1.1")
        let signature = try #require(WebhookSecret(secret)).signature(
            id: "night-7-1a2b", seconds: 1_795_672_800, body: message.body)
        for header in [
            "webhook-id: night-7-1a2b", "webhook-timestamp: 1795672800", "webhook-signature: \(signature ?? "")",
            "Content-Type: application/json", "User-Agent: Penumbra",
        ] {
            #expect(lines.contains(header), "\(lines)")
        }
        #expect(!lines.contains { $0.hasPrefix("Expect") })
        #expect(parts[1] == message.body)
    }

    @Test func `the longest message arrives whole`() async throws {
        let long = String(repeating: "\"\\🏠", count: 10_000)
        let message = WebhookMessage(
            .make(job: long, host: long, run: long, reason: long, failures: Array(repeating: long, count: 20)), id: "x")
        let receiver = try LocalReceiver(answer: answer("200 OK"))
        // Without a delivery the receiver would wait for ever.
        try #require(await send(message, to: receiver) == .delivered)
        #expect(receiver.received().hasSuffix("\r\n\r\n" + message.body))
    }

    @Test func `a refusal is final, and its words have a remedy`() async throws {
        for status in ["400 Bad Request", "401 Unauthorized", "410 Gone"] {
            let receiver = try LocalReceiver(answer: answer(status))
            #expect(
                await send(to: receiver)
                    == .refused(
                        "127.0.0.1:\(receiver.port) refused the message: it answered \(status.prefix(3))\n   = check the "
                            + "address and the secret in the config file"))
        }
    }

    @Test func `a receiver that is too busy or broken is tried again`() async throws {
        for status in ["408 Request Timeout", "429 Too Many Requests"] {
            let receiver = try LocalReceiver(answer: answer(status))
            #expect(
                await send(to: receiver)
                    == .later("127.0.0.1:\(receiver.port) answered \(status.prefix(3)): too many messages, or too slow")
            )
        }
        let broken = try LocalReceiver(answer: answer("503 Service Unavailable"))
        #expect(await send(to: broken) == .later("127.0.0.1:\(broken.port) answered 503"))
        let silent = try LocalReceiver(answer: "")
        #expect(
            await send(to: silent)
                == .later("127.0.0.1:\(silent.port): curl: (52) Empty reply from server"))
    }

    @Test func `a redirection is not followed`() async throws {
        let other = try LocalReceiver(answer: answer("200 OK"))
        let receiver = try LocalReceiver(
            answer: answer("302 Found", "Location: http://127.0.0.1:\(other.port)/\r\n"))
        #expect(
            await send(to: receiver)
                == .refused(
                    "127.0.0.1:\(receiver.port) answered 302, a redirection, which is not followed\n   = write the final "
                        + "address into the config file"))
    }

    @Test func `another protocol than http and https is refused`() async {
        let delivery = await CurlSender().send(
            WebhookMessage(id: "x", body: "{}"), to: "file:///etc/passwd", secretFile: nil, now: .earliest)
        guard case .refused(let words) = delivery else {
            Issue.record("\(delivery)")
            return
        }
        #expect(words.hasSuffix("\n   = correct the address in the config file"))
    }

    @Test func `a secret that cannot be read keeps the message for later`() async throws {
        let receiver = "http://127.0.0.1:9/"
        let delivery = await CurlSender().send(
            WebhookMessage(id: "x", body: "{}"), to: receiver, secretFile: folder.file("none"), now: .earliest)
        #expect(
            delivery
                == .later(
                    "\(folder.file("none")): there is no such file\n   = correct 'secret_file' in the config file"))
    }
}

@Suite struct MissingCurlTests {
    @Test func `without curl the words say what to install`() async {
        let delivery = await CurlSender(program: "/nowhere/curl").send(
            WebhookMessage(id: "x", body: "{}"), to: "https://example.org/", secretFile: nil, now: .earliest)
        #expect(
            delivery
                == .later("/nowhere/curl: there is no such program\n   = install curl; webhooks are sent by it"))
    }
}
