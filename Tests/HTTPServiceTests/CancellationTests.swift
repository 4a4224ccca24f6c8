import Coordination
import HTTPService
import Synchronization
import Testing

/// What becomes of a handler whose client goes away.
@Suite struct CancellationTests {
    /// A handler that works until it is cancelled or released.
    private final class SlowWork: Sendable {
        let begun = TestSignal()
        private let ended = TestSignal()
        private let end = Mutex<Bool?>(nil)
        private let releases: AsyncStream<Void>
        private let releaser: AsyncStream<Void>.Continuation

        init() { (releases, releaser) = AsyncStream.makeStream(of: Void.self) }

        func route(_ method: RequestMethod, endsWithClient: Bool = false) -> Route {
            Route(method, "/slow", .open, endsWithClient: endsWithClient) { _ in
                self.begun.send()
                for await _ in self.releases { break }
                self.end.withLock { $0 = Task.isCancelled }
                self.ended.send()
                return .text("done")
            }
        }

        func release() { releaser.yield() }

        /// Waits for its end.
        ///
        /// - Returns: whether it was cancelled.
        func wasCancelled() async -> Bool? {
            await Blocking.run {
                self.ended.wait()
                return self.end.withLock { $0 }
            }
        }
    }

    /// Sends a request, and closes the connection while it is carried out.
    private func abandon(_ request: String, _ work: SlowWork, at place: Place) async throws {
        try await RawSocket.talk(to: place) { socket in
            try socket.send(request)
            work.begun.wait()
        }
    }

    @Test(arguments: [RequestMethod.get, .post])
    func `a slow answer that changes nothing ends with its client`(method: RequestMethod) async throws {
        let work = SlowWork()
        try await TestService.run(routes: [work.route(method, endsWithClient: true)]) { service in
            let request = "\(method.rawValue) /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
            // Nobody releases it, so only a cancellation ends it.
            try await abandon(request, work, at: service.web)
            #expect(await work.wasCancelled() == true)
        }
    }

    @Test(arguments: [RequestMethod.get, .post])
    func `other work is carried out to its end without its client`(method: RequestMethod) async throws {
        let work = SlowWork()
        try await TestService.run(routes: [work.route(method)]) { service in
            let request = "\(method.rawValue) /slow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
            try await abandon(request, work, at: service.web)
            work.release()
            #expect(await work.wasCancelled() == false)
        }
    }

    @Test func `a connection is used again after an answer`() async throws {
        try await TestService.run { service in
            let answers = try await RawSocket.talk(to: service.web) { socket in
                try (1...3).map { _ in
                    try socket.send("GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    return try socket.answer().body
                }
            }
            #expect(answers == ["open", "open", "open"])
        }
    }
}
