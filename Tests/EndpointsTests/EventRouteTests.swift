import Endpoints
import HTTPService
import Queueing
import ServiceAPI
import Synchronization
import TestSupport
import Testing

/// Which events a caller gets.
@Suite struct EventRouteTests {
    private let farm: IdleFarm
    private let tokens: [TokenText]

    init() throws {
        farm = try IdleFarm()
        var generator = SplitMix64(seed: 7)
        tokens = (0..<2).map { _ in TokenText(using: &generator) }
    }

    private func caller(_ token: TokenText, roots: [String]? = ["/team"]) -> Caller {
        .token(TokenIdentity(id: token.id, name: "team", scope: .submit, roots: roots))
    }

    private func owner(_ token: TokenText) -> Owner { .token("\(token.id)") }

    /// What a caller hears of events of two tokens, and of some that belong to none. `reset` is the last one.
    private func heard(by caller: Caller) async throws -> [String] {
        let answer = try await farm.send(APIRequest(path: "/api/v1/events", caller: caller))
        guard case .stream(let stream) = answer.body else { throw Problem.internalError }
        for (index, token) in tokens.enumerated() {
            for name in ["job", "run", "frames", "tiles"] {
                let data = Array("\(index)".utf8)
                farm.service.feed.publish(
                    name, name == "frames" ? FramesData.wrapped(data) : data,
                    about: "\(name == "job" ? "job" : "run") \(index)", of: owner(token))
            }
        }
        farm.service.feed.publish("run", Array("by hand".utf8), about: "run by hand")
        farm.service.feed.publish("notice", Array("trouble".utf8))
        farm.service.feed.publish("reset", Array("all".utf8))
        let (chunks, arrived) = AsyncStream.makeStream(of: [UInt8].self)
        let task = Task { try await stream.write(ByteStream.Writer { arrived.yield($0) }) }
        defer { task.cancel() }
        var text = ""
        for await chunk in chunks {
            text += String(decoding: chunk, as: UTF8.self)
            if text.hasSuffix("data: all\n\n") { break }
        }
        let names = text.split(separator: "\n").filter { $0.hasPrefix("event: ") || $0.hasPrefix("data: ") }
        return stride(from: 0, to: names.count, by: 2).map { index in
            "\(names[index].dropFirst(7)) \(names[index + 1].dropFirst(6))"
        }
    }

    @Test(arguments: [0, 1]) func `a token with folders hears of its own jobs and runs, and of no others`(
        index: Int
    ) async throws {
        #expect(
            try await heard(by: caller(tokens[index])) == [
                "job \(index)", "run \(index)", #"frames {"runs":[\#(index)]}"#, "tiles \(index)", "reset all",
            ])
    }

    @Test func `a token without folders hears of everything`() async throws {
        #expect(
            try await heard(by: caller(tokens[0], roots: nil)) == [
                "job 0", "run 0", "tiles 0", "job 1", "run 1", #"frames {"runs":[0,1]}"#, "tiles 1", "run by hand",
                "notice trouble",
                "reset all",
            ])
    }
}
