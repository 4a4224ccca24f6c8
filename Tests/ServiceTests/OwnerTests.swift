import Foundation
import Queueing
import ServiceAPI
import ServiceClient
import TestSupport
import Testing

/// Jobs of people, who are known by the names of their tokens.
@Suite struct OwnerTests {
    let farm: Farm

    init() async throws {
        farm = try Farm()
        try farm.draw(1)
        try farm.writeManifest()
        try await farm.start("--listen", "127.0.0.1:0")
    }

    private func newToken(_ name: String, _ arguments: String...) async throws -> String {
        let result = try await farm.run(
            "\(Farm.programs)/penumbra",
            ["token", "add", name, "--scope", "submit", "--service-dir", farm.serviceFolder.path] + arguments)
        try #require(result.code == 0, "\(result.errors)")
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Runs a command with a token.
    private func penumbra(_ arguments: String..., token: String) async throws -> Farm.Result {
        let port = try #require(farm.log.firstMatch(of: /socket=127\.0\.0\.1:([0-9]+)/)?.1)
        return try await farm.run(
            "\(Farm.programs)/penumbra", arguments + ["--server", "http://127.0.0.1:\(port)"],
            environment: ["PENUMBRA_TOKEN": token])
    }

    private static func id(_ token: String) -> String { String(token.split(separator: "_")[1]) }

    @Test func `a job's owner is shown and found by the name of the token`() async throws {
        let token = try await newToken("anna")
        #expect(try await penumbra("submit", "night.yaml", "--hold", token: token).code == 0)
        try await farm.penumbra("submit", "night.yaml", "--hold")
        let list = try await farm.penumbra("queue", "--filter", "owner=anna")
        #expect(list.lines.count == 2)
        #expect(list.lines.last?.contains(" anna") == true, "\(list.output)")
        #expect(!list.output.contains("token:"))
        #expect(
            try await farm.penumbra("queue", "show", "1").output.contains("owner: anna (token:\(Self.id(token)))\n"))
        let audit = try farm.client.send(ClientRequest(.get, "/audit")).body
        #expect(String(decoding: audit, as: UTF8.self).contains(#""caller_name":"anna""#))
        let unknown = try await farm.penumbra("queue", "--filter", "owner=ben")
        #expect(unknown.code == 64)
        #expect(unknown.errors.hasPrefix("filter: no token is called 'ben'\n"))
        let hold = try await farm.penumbra("queue", "release", "--filter", "owner=anna", "--expect", "1")
        #expect(hold.output == "1 job changed\n")
        try await farm.waitForEnd(of: 1)
        try await farm.end()
    }

    @Test func `two tokens of one name are told apart`() async throws {
        let first = try await newToken("anna")
        let added = try await farm.penumbra("token", "add", "anna", "--scope", "submit")
        #expect(
            added.errors == """
                warning: \(Self.id(first)) is called 'anna', too; the new token cannot change the jobs of the other
                   = to give a person a new token for the same jobs, use 'penumbra token renew \(Self.id(first))'

                """)
        let second = added.output.trimmingCharacters(in: .whitespacesAndNewlines)
        for token in [first, second] {
            #expect(try await penumbra("submit", "night.yaml", "--hold", token: token).code == 0)
        }
        let list = try await farm.penumbra("queue", "--filter", "owner=anna")
        for token in [first, second] { #expect(list.output.contains("anna (token:\(Self.id(token)))")) }
        let refused = try await farm.penumbra("token", "revoke", "anna")
        #expect(refused.code == 64)
        #expect(refused.errors.hasPrefix("2 tokens are called 'anna'\n   = name one of them: "))
        #expect(try await farm.penumbra("token", "revoke", Self.id(first)).code == 0)
        let revoked = try await farm.penumbra("token", "revoke", "anna")
        #expect(revoked.output == "anna (\(Self.id(second))): revoked\n")
        try await farm.end()
    }

    @Test func `a renewed token changes the jobs of the old one, which is invalid`() async throws {
        let old = try await newToken("ben", "--expires", "90d")
        #expect(try await penumbra("submit", "night.yaml", "--hold", token: old).code == 0)
        #expect(try await farm.penumbra("token", "revoke", "ben").code == 0)
        let renewed = try await farm.penumbra("token", "renew", "ben", "--expires", "12h")
        let new = renewed.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(Self.id(new) == Self.id(old) && new != old)
        #expect(try await penumbra("queue", "cancel", "1", token: old).code == 64)
        #expect(try await penumbra("queue", "cancel", "1", token: new).output == "job 1 (night): cancelled\n")
        #expect(try await farm.penumbra("token", "renew", "nobody").code == 66)
        try await farm.end()
    }

    @Test func `a token with a highest priority cannot put its jobs before more urgent ones`() async throws {
        let token = try await newToken("anna", "--max-priority", "40")
        let list = try await farm.penumbra("token", "list")
        #expect(list.lines.last?.contains(" to 40 ") == true, "\(list.output)")
        // Without a priority it has the limit, because the normal one is higher.
        #expect(try await penumbra("submit", "night.yaml", "--hold", token: token).code == 0)
        #expect(try farm.job(1).priority.value == 40)
        let tooHigh = try await penumbra("submit", "night.yaml", "--priority", "50", "--hold", token: token)
        let words = """
            priority: 50 is too high: this token allows at most 40
               = choose a priority from 0 to 40, or ask an administrator to raise the limit ('penumbra token change')

            """
        #expect((tooHigh.code, tooHigh.errors) == (64, words))
        let raised = try await penumbra("queue", "priority", "1", "--to", "50", token: token)
        #expect(raised.code == 64)
        #expect(raised.errors.contains(words), "\(raised.errors)")
        #expect(try await penumbra("queue", "priority", "1", "--to", "40", token: token).code == 0)
        #expect(try await penumbra("queue", "release", "1", token: token).code == 0)
        try await farm.waitForEnd(of: 1)
        #expect(try await penumbra("submit", "night.yaml", "--hold", "--force", token: token).code == 0)
        let next = try await penumbra("queue", "run-next", "2", token: token)
        #expect(next.code == 64)
        #expect(next.errors.contains("this token cannot let a job run next: it allows a priority of at most 40"))
        // Administrators have no limit, and a retry by the owner has the limit again.
        #expect(try await farm.penumbra("queue", "priority", "2", "--to", "90").code == 0)
        #expect(try await penumbra("queue", "cancel", "2", token: token).code == 0)
        #expect(try await penumbra("queue", "retry", "2", token: token).code == 0)
        #expect(try farm.job(3).priority.value == 40)
        try await farm.end()
    }

    @Test func `the highest priority of a token can be changed, and administrators have none`() async throws {
        let token = try await newToken("anna", "--max-priority", "40")
        let changed = try await farm.penumbra("token", "change", "anna", "--max-priority", "80")
        #expect(changed.output == "anna (\(Self.id(token))): its jobs may have a priority of at most 80\n")
        #expect(try await penumbra("submit", "night.yaml", "--priority", "80", "--hold", token: token).code == 0)
        #expect(try await penumbra("submit", "night.yaml", "--priority", "81", "--hold", token: token).code == 64)
        let audit = try farm.client.send(ClientRequest(.get, "/audit")).body
        #expect(String(decoding: audit, as: UTF8.self).contains(#""detail":"anna: max_priority 40 to 80""#))
        let removed = try await farm.penumbra("token", "change", "anna", "--max-priority", "none")
        #expect(removed.output == "anna (\(Self.id(token))): its jobs may have any priority\n")
        #expect(try await penumbra("submit", "night.yaml", "--priority", "100", "--hold", token: token).code == 0)
        let wrong = try await farm.penumbra("token", "change", "anna", "--max-priority", "all")
        #expect(wrong.code == 64)
        #expect(
            wrong.errors.hasPrefix("Error: --max-priority: 'all' is not a whole number from 0 to 100\n"),
            "\(wrong.errors)")
        let admin = try await farm.penumbra("token", "add", "root", "--scope", "admin", "--max-priority", "80")
        #expect(
            (admin.code, admin.errors) == (
                64,
                """
                max_priority: an administrator has no limit, because he could change it
                   = Take the scope submit, or leave out the limit.

                """
            ))
        try await farm.end()
    }
}
