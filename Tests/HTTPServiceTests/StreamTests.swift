import HTTPService
import Queueing
import Synchronization
import TestSupport
import Testing

@Suite struct StreamTests {
    private let feed: EventFeed
    private let manual = ManualClock()
    private let routes: [Route]

    init() {
        let feed = EventFeed(boot: "b", clock: manual.clock)
        self.feed = feed
        routes =
            TestRoutes.all + [
                Route(.get, "/events", .read) { request in try feed.follow(request) },
                Route(.get, "/flood", .open) { _ in
                    APIResponse(
                        body: .stream(
                            ByteStream(isEndless: true) { writer in
                                while true { try await writer.write([UInt8](repeating: 0x78, count: 1 << 16)) }
                            }))
                },
            ]
    }

    private func follow(_ token: TokenText, after id: String? = nil) -> String {
        var lines = ["GET /events HTTP/1.1", "Host: localhost", "Authorization: Bearer \(token.text)"]
        if let id { lines.append("Last-Event-ID: \(id)") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// Reads the head and the first chunk, so that the follower is there.
    private static func begin(_ socket: RawSocket, _ request: String) throws -> String {
        try socket.send(request)
        let head = try socket.text(through: "\r\n\r\n")
        #expect(head.hasPrefix("HTTP/1.1 200"))
        return try socket.chunk() ?? ""
    }

    @Test func `events come by the socket, and are resumed without gap and double`() async throws {
        let feed = feed
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            let request = follow(service.tokens.read)
            let text = try await RawSocket.talk(to: service.web) { socket in
                #expect(try Self.begin(socket, request) == "retry: 2000\nid: b-0\n\n")
                feed.publish("job", [0x31])
                return try socket.chunk()
            }
            #expect(text == "event: job\nid: b-1\ndata: 1\n\n")
            for number in 2...4 { feed.publish("job", Array("\(number)".utf8)) }
            let again = follow(service.tokens.read, after: "b-1")
            let missed = try await RawSocket.talk(to: service.web) { socket in
                _ = try Self.begin(socket, again)
                return try socket.chunk()
            }
            #expect(missed == "event: job\ndata: 2\n\nevent: job\ndata: 3\n\nevent: job\nid: b-4\ndata: 4\n\n")
        }
    }

    @Test func `a revoked token ends its streams at once, and no others`() async throws {
        let feed = feed
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            let (request, other) = (follow(service.tokens.read), follow(service.tokens.submit))
            let rest = try await RawSocket.talk(to: service.web) { socket in
                _ = try Self.begin(socket, request)
                let second = try RawSocket(to: service.web)
                _ = try Self.begin(second, other)
                service.server.tokenWasRevoked(service.tokens.read.id)
                #expect(try socket.chunk() == nil)
                feed.publish("job", [0x31])
                return try second.chunk()
            }
            #expect(rest == "event: job\nid: b-1\ndata: 1\n\n")
        }
    }

    private func beginSession(_ service: TestService, seed: UInt64) throws -> SessionSecret {
        var generator = SplitMix64(seed: seed)
        let secret = SessionSecret(using: &generator)
        try service.tokens.beginSession(
            secret, of: service.tokens.read, expires: manual.clock.wallTime() + .seconds(5))
        return secret
    }

    private func follow(_ secret: SessionSecret) -> String {
        TestService.head("GET", "/events", "Cookie: penumbra=\(secret.text)")
    }

    @Test func `a browser follows by its cookie, until its session ends, and no other browser's stream ends`()
        async throws
    {
        let feed = feed
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            let (secret, other) = (try beginSession(service, seed: 1), try beginSession(service, seed: 2))
            let (request, second) = (follow(secret), follow(other))
            let digest = try secret.digest()
            let rest = try await RawSocket.talk(to: service.web) { socket in
                #expect(try Self.begin(socket, request) == "retry: 2000\nid: b-0\n\n")
                let elsewhere = try RawSocket(to: service.web)
                _ = try Self.begin(elsewhere, second)
                service.server.sessionHasEnded(digest)
                #expect(try socket.chunk() == nil)
                feed.publish("job", [0x31])
                return try elsewhere.chunk()
            }
            #expect(rest == "event: job\nid: b-1\ndata: 1\n\n")
        }
    }

    @Test func `a revoked token ends the streams of its sessions`() async throws {
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            let request = follow(try beginSession(service, seed: 1))
            let end = try await RawSocket.talk(to: service.web) { socket in
                _ = try Self.begin(socket, request)
                service.server.tokenWasRevoked(service.tokens.read.id)
                return try socket.chunk()
            }
            #expect(end == nil)
        }
    }

    @Test func `a session that ends while its stream begins gets no stream`() async throws {
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            let request = follow(try beginSession(service, seed: 1))
            service.tokens.endAllSessions(after: 1)
            let answer = try await RawSocket.ask(service.web, request)
            #expect(answer.status == 401)
        }
        #expect(feed.followers == 0)
    }

    @Test func `a session that expires ends its streams`() async throws {
        let manual = manual
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            let request = follow(try beginSession(service, seed: 1))
            async let end = RawSocket.talk(to: service.web) { socket in
                _ = try Self.begin(socket, request)
                return try socket.chunk()
            }
            // The heartbeat's sleeper, and that of the expiry.
            await manual.sleepers(2)
            manual.advance(by: .seconds(5))
            #expect(try await end == nil)
        }
    }

    /// The second look-up follows once the stream can be ended.
    @Test func `a token that is revoked while its stream begins gets no stream`() async throws {
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            service.tokens.revokeAll(after: 1)
            let answer = try await RawSocket.ask(service.web, follow(service.tokens.read))
            #expect(answer.status == 401)
            #expect(answer.problem == "unauthorized")
        }
        #expect(feed.followers == 0)
    }

    @Test func `a follower that does not read is reset, gets everything after the reset, and holds nobody up`()
        async throws
    {
        let feed = feed
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            let request = follow(service.tokens.read)
            let text = try await RawSocket.talk(to: service.web) { socket in
                _ = try Self.begin(socket, request)
                // More than sockets hold.
                let data = [UInt8](repeating: 0x20, count: 60_000)
                for _ in 1...2000 { feed.publish("job", data) }
                let other = try RawSocket(to: service.web)
                try other.send(TestService.head("GET", "/open"))
                #expect(try other.answer().body == "open")
                return try socket.text(through: "id: b-2000\n")
            }
            // The stream may have been lost, and taken up again, while the events were published. So the last event is that
            // of the last reset, or comes after it.
            let reset = try #require(text.ranges(of: "event: reset\nid: b-").last)
            let number = try #require(Int(text[reset.upperBound...].prefix { $0.isNumber }))
            #expect(text[reset.upperBound...].ranges(of: "event: job\n").count == 2000 - number)
        }
    }

    @Test func `a token that expires ends its streams`() async throws {
        let tokens = try TestTokens()
        try tokens.add(tokens.read, .read, expires: manual.clock.wallTime() + .seconds(5))
        let manual = manual
        try await TestService.run(routes: routes, clock: manual.clock, tokens: tokens) { service async throws in
            let request = follow(tokens.read)
            async let end = RawSocket.talk(to: service.web) { socket in
                _ = try Self.begin(socket, request)
                return try socket.chunk()
            }
            // The heartbeat's sleeper, and that of the expiry.
            await manual.sleepers(2)
            manual.advance(by: .seconds(5))
            #expect(try await end == nil)
        }
    }

    @Test func `a client that goes away is forgotten`() async throws {
        let feed = feed
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            let request = follow(service.tokens.read)
            for _ in 0..<10 {
                _ = try await RawSocket.talk(to: service.web) { try Self.begin($0, request) }
            }
            // No event is needed for that: a stream's line is written at its end.
            await service.log.lines(containing: "path=/events", count: 10)
        }
        #expect(feed.followers == 0)
    }

    @Test func `a client that reads nothing is cut off`() async throws {
        var limits = TestService.patientLimits
        limits.stalledTime = .milliseconds(50)
        try await TestService.run(routes: routes, limits: limits) { service async throws in
            try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("GET", "/flood"))
                // The answer's line is written when the stream has ended.
                service.log.waitForLine(containing: "path=/flood")
                withExtendedLifetime(socket) {}
            }
        }
    }

    @Test func `a stream that fails is cut, so that its part is not taken for the whole`() async throws {
        try await TestService.run { service async throws in
            let (first, second) = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("GET", "/broken"))
                _ = try socket.text(through: "\r\n\r\n")
                let first = try socket.chunk()
                return (first, try socket.everything())
            }
            #expect(first == "part")
            // A proper end would be an empty chunk.
            #expect(second.isEmpty)
            #expect(service.log.text.contains("A stream has failed"))
        }
    }

    @Test func `a stream that ends leaves the connection open for the next request`() async throws {
        try await TestService.run { service async throws in
            let bodies = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(
                    TestService.head("GET", "/chunks", keepAlive: true) + TestService.head("GET", "/jobs/2"))
                return [try socket.answer().body, try socket.answer().body]
            }
            #expect(bodies == ["one two three", "job 2"])
        }
    }

    @Test func `streams of events are no connections of the listener`() async throws {
        var limits = TestService.patientLimits
        limits.connections = 2
        try await TestService.run(routes: routes, limits: limits, clock: manual.clock) { service async throws in
            let request = follow(service.tokens.read)
            let body = try await RawSocket.talk(to: service.web) { first in
                var followers = [first]
                _ = try Self.begin(first, request)
                for _ in 0..<5 {
                    let next = try RawSocket(to: service.web)
                    _ = try Self.begin(next, request)
                    followers.append(next)
                }
                let other = try RawSocket(to: service.web)
                try other.send(TestService.head("GET", "/open"))
                defer { withExtendedLifetime(followers) {} }
                return try other.answer().body
            }
            #expect(body == "open")
        }
    }

    @Test func `a service that stops ends streams, answers open requests, and closes the rest`() async throws {
        let gate = Gate()
        let routes =
            routes + [
                Route(.get, "/slow", .open) { _ in
                    await gate.pass()
                    return .text("done")
                }
            ]
        try await TestService.run(routes: routes, clock: manual.clock) { service async throws in
            let request = follow(service.tokens.read)
            let (stream, slow, idle) = try await RawSocket.talk(to: service.web) { stream in
                _ = try Self.begin(stream, request)
                let slow = try RawSocket(to: service.web)
                try slow.send(TestService.head("GET", "/slow", keepAlive: true))
                let idle = try RawSocket(to: service.web)
                try idle.send(TestService.head("GET", "/open", keepAlive: true))
                _ = try idle.answer()
                gate.waitUntilSomebodyWaits()
                service.server.stop()
                let isEnded = try stream.chunk() == nil
                let isClosed = try idle.isClosed()
                gate.open()
                return (isEnded, try slow.answer(), isClosed)
            }
            #expect(stream)
            #expect(slow.body == "done")
            #expect(slow["Connection"] == "close")
            #expect(idle)
        }
    }

    @Test func `requests that do not end are cut off when the service has to`() async throws {
        var limits = TestService.patientLimits
        limits.shutdownTime = .milliseconds(20)
        let arrival = TestSignal()
        let routes = [
            Route(.get, "/endless", .open) { _ in
                arrival.send()
                try await Task.sleep(for: .seconds(3600))
                return .text("never")
            }
        ]
        try await TestService.run(routes: routes, limits: limits) { service async throws in
            let rest = try await RawSocket.talk(to: service.web) { socket in
                try socket.send(TestService.head("GET", "/endless"))
                arrival.wait()
                service.server.stop()
                return try socket.everything()
            }
            #expect(rest.isEmpty)
        }
    }
}

/// Holds handlers until a test lets them go on.
private final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let arrival = TestSignal()

    func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
            arrival.send()
        }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Blocks the thread of a script.
    func waitUntilSomebodyWaits() { arrival.wait() }
}
