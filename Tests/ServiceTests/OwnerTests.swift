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
}
