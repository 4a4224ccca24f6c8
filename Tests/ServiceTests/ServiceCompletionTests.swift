import Foundation
import Queueing
import ServiceAPI
import ServiceClient
import Testing

/// What shells propose of a service: jobs, runs, schedules and tokens.
@Suite struct ServiceCompletionTests {
    let farm: Farm

    init() async throws {
        farm = try Farm()
        try farm.draw(1)
        try farm.writeManifest()
    }

    /// The proposals for the last of the words.
    private func proposals(
        _ words: String..., argument: String = "positional@0", shell: String = "bash"
    ) async throws -> [String] {
        let command = words.dropLast().prefix { !$0.hasPrefix("-") && Int($0) == nil }
        let result = try await farm.run(
            "\(Farm.programs)/penumbra",
            ["---completion"] + command + [
                "--", argument, "\(words.count)", "\(words.last?.utf8.count ?? 0)", "penumbra",
            ]
                + words,
            environment: ["PENUMBRA_SERVER": farm.serviceFolder.controlSocket, "SAP_SHELL": shell])
        #expect(result.errors == "")
        // The parser of arguments ends the proposals for zsh with a blank line.
        return result.lines.filter { !$0.allSatisfy(\.isWhitespace) }
    }

    @Test func `a command of the queue gets the jobs that it can change`() async throws {
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml", "--hold")
        try await farm.penumbra("submit", "night.yaml", "--hold")
        try await farm.penumbra("submit", "night.yaml", "--hold")
        try await farm.penumbra("queue", "cancel", "3")
        #expect(try await proposals("queue", "release", "") == ["2", "1"])
        #expect(try await proposals("queue", "cancel", "") == ["2", "1"])
        #expect(try await proposals("queue", "hold", "") == [])
        #expect(try await proposals("queue", "retry", "") == ["3"])
        #expect(try await proposals("queue", "show", "") == ["3", "2", "1"])
        #expect(try await proposals("submit", "--after", "", argument: "--after") == ["2", "1"])
        try await farm.end()
    }

    @Test func `jobs that are named already, or that begin otherwise, are not proposed`() async throws {
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml", "--hold")
        try await farm.penumbra("submit", "night.yaml", "--hold")
        #expect(try await proposals("queue", "cancel", "2", "") == ["1"])
        #expect(try await proposals("queue", "cancel", "2") == ["2"])
        try await farm.end()
    }

    @Test func `shells that show descriptions get the name and the state`() async throws {
        try await farm.start()
        try await farm.penumbra("submit", "night.yaml", "--hold")
        #expect(try await proposals("queue", "release", "", shell: "fish") == ["1\tnight, held"])
        #expect(try await proposals("queue", "release", "", shell: "zsh") == ["1:night, held"])
        try await farm.end()
    }

    @Test func `runs are those of the service that --server names`() async throws {
        try await farm.start()
        let number = try await farm.penumbra("submit", "night.yaml", "--wait")
        #expect(number.code == 0, "\(number.errors)")
        let run = try #require(try farm.client.call(ClientRequest(.get, "/jobs/1"), as: QueueEntry.self).run)
        let server = farm.serviceFolder.controlSocket
        #expect(try await proposals("show", "--server", server, "") == [run, "night"])
        #expect(try await proposals("show", "--state-dir", farm.stateFolder, "n") == ["night"])
        #expect(try await proposals("show", "") == [])
        try await farm.end()
    }

    @Test func `tokens are proposed by their names`() async throws {
        try await farm.start()
        try await farm.penumbra("token", "add", "anna", "--scope", "read")
        try await farm.penumbra("token", "add", "my son", "--scope", "read")
        #expect(try await proposals("token", "revoke", "") == ["anna"])
        try await farm.end()
    }

    @Test func `without a service there are no proposals`() async throws {
        #expect(try await proposals("queue", "cancel", "") == [])
    }
}
