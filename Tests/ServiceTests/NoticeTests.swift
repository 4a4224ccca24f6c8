import Foundation
import Glibc
import Notifications
import Queueing
import ServiceAPI
import TestSupport
import Testing

/// Notices that a real service sends, by curl to a real socket and by a program in place of sendmail.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl"), "curl is not installed"))
struct NoticeTests {
    let farm: Farm
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    init() throws {
        farm = try Farm()
        try farm.draw(2)
        try farm.writeManifest()
    }

    private func writeConfig(_ text: String) throws { try farm.write(text, to: "config/penumbra/penumbra.yaml") }

    private func writePrivate(_ text: String, to name: String, mode: mode_t) throws {
        try farm.write(text, to: name)
        try #require(chmod(farm.folder.file(name), mode) == 0)
    }

    /// Tells a receiver of all ends, signed.
    private func tell(_ receiver: HookReceiver) throws {
        try writePrivate(Self.secret, to: "secret", mode: 0o600)
        let file = farm.folder.file("secret")
        try writeConfig("on_end: [{webhook: \"http://127.0.0.1:\(receiver.port)/hook\", secret_file: \(file)}]\n")
    }

    @Test func `a webhook is told of the end of a job, signed`() async throws {
        let receiver = try HookReceiver()
        try tell(receiver)
        try await farm.start()
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        try await farm.wait { !receiver.requests.isEmpty }
        let request = try #require(receiver.requests.first)
        #expect(request.body.contains(#""state":"done""#))
        #expect(request.body.contains(#""published":2"#))
        #expect(request.body.contains("\"run\":\"\(try #require(try farm.job(1).run))\""))
        let (id, time) = (try #require(request.header("webhook-id")), try #require(request.header("webhook-timestamp")))
        #expect(id.contains("-job-1-end-"))
        let secret = try #require(WebhookSecret(Self.secret))
        let seconds = try #require(Int(time))
        #expect(request.header("webhook-signature") == secret.signature(id: id, seconds: seconds, body: request.body))
        try await farm.end()
        #expect(receiver.requests.count == 1)
    }

    @Test func `a service that is killed after an end tells of it nevertheless`() async throws {
        let receiver = try HookReceiver()
        try tell(receiver)
        try await farm.start(environment: ["PENUMBRA_SERVICE_DIE_AFTER": "ended"])
        try await farm.penumbra("submit", "night.yaml")
        #expect(try await farm.exitCode() == 128 + SIGKILL)
        try await farm.start()
        try await farm.wait { !receiver.requests.isEmpty }
        try await farm.end()
        // If the first service has sent it, too, it is the same message.
        #expect(Set(receiver.requests.map { $0.header("webhook-id") }).count == 1)
        #expect(Set(receiver.requests.map(\.body)).count == 1)
    }

    @Test func `a mail tells what failed, and how to see more`() async throws {
        try writePrivate(
            "#!/bin/sh\ncat >'\(farm.folder.file("mail.part"))'\nmv '\(farm.folder.file("mail.part"))' '\(farm.folder.file("mail"))'\n",
            to: "sendmail", mode: 0o755)
        try writeConfig(
            "on_failure: [{mail: ops@example.org}]\nnotifications: {sendmail: \(farm.folder.file("sendmail"))}\n")
        try await farm.start()
        // Nobody is told of a success.
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 0)
        try farm.write("no picture", to: "photos/broken.png")
        #expect(try await farm.penumbra("submit", "night.yaml", "--wait", "--quiet").code == 1)
        try await farm.wait { farm.exists("mail") }
        let mail = try farm.read("mail")
        #expect(mail.hasPrefix("To: ops@example.org\nSubject: Penumbra: night failed: 1 of 3 frames ("))
        #expect(mail.contains("broken.png"))
        #expect(mail.contains("  penumbra show \(try #require(try farm.job(2).run)) --state-dir \(farm.stateFolder)\n"))
        try await farm.end()
    }

    @Test func `a schedule and a watched folder whose manifest is missing are told`() async throws {
        let receiver = try HookReceiver()
        let missing = farm.folder.file("missing.yaml")
        try writeConfig(
            """
            on_failure: [{webhook: "http://127.0.0.1:\(receiver.port)/hook"}]
            service:
              schedules: [{name: nightly, cron: '@daily', submit: {manifest: \(missing)}}]
              watch: [{name: scans, submit: {manifest: \(missing)}}]

            """)
        try await farm.start()
        try await farm.wait { receiver.requests.contains { $0.body.contains("watch 'scans': \(missing): ") } }
        try await farm.end()
        try await farm.start(environment: ["PENUMBRA_SERVICE_CLOCK_AHEAD": "86400"])
        try await farm.wait {
            receiver.requests.contains { $0.body.contains("schedule 'nightly': no job for 20") }
        }
        #expect(receiver.requests.allSatisfy { $0.body.contains(#""state":"failed""#) })
        try await farm.end()
    }

    @Test func `a job that was cancelled before it began is told, too`() async throws {
        let receiver = try HookReceiver()
        try tell(receiver)
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml", "--hold")
        try await farm.penumbra("queue", "cancel", "1")
        try await farm.wait { !receiver.requests.isEmpty }
        let body = try #require(receiver.requests.first?.body)
        #expect(body.contains(#""state":"cancelled""#))
        // The command talks to this service, and not to another one of the user.
        let command = try #require(body.firstMatch(of: #/"command":"penumbra ([^"]*)"/#)?.1)
        #expect(command == "queue show 1 --service-dir \(farm.serviceFolder.path)")
        let shown = try await farm.run(
            "\(Farm.programs)/penumbra", command.split(separator: " ").map(String.init))
        #expect(shown.output.contains("state: cancelled"), "\(shown.output)\(shown.errors)")
        try await farm.end()
    }
}
