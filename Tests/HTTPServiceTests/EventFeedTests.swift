import HTTPService
import Queueing
import Synchronization
import TestSupport
import Testing

@Suite struct EventFeedTests {
    private let manual = ManualClock()

    private func feed(mostFollowers: Int = 500, mostOfToken: Int = 50) -> EventFeed {
        EventFeed(boot: "b", mostFollowers: mostFollowers, mostFollowersOfToken: mostOfToken, clock: manual.clock)
    }

    private func publish(_ feed: EventFeed, _ numbers: ClosedRange<Int>, name: String = "job") {
        for number in numbers { feed.publish(name, Array("\(number)".utf8)) }
    }

    private func request(after id: String?) -> APIRequest {
        var headers = Headers()
        headers["Last-Event-ID"] = id
        return APIRequest(headers: headers)
    }

    /// Runs a follower beside the body, which reads what it gets.
    private func follow<Value: Sendable>(
        _ feed: EventFeed, after id: String? = nil, coalescing: Coalescing? = nil,
        filter: @escaping @Sendable (FeedEvent) -> Bool = { _ in true },
        _ body: (Reader) async throws -> Value
    ) async throws -> Value {
        let response = try feed.follow(request(after: id), coalescing: coalescing, filter: filter)
        guard case .stream(let stream) = response.body else { throw NoStream() }
        let reader = Reader()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await stream.write(reader.writer) }
            defer { group.cancelAll() }
            return try await body(reader)
        }
    }

    private struct NoStream: Error {}

    @Test func `a follower gets what is published from now on`() async throws {
        let feed = feed()
        publish(feed, 1...2)
        try await follow(feed) { reader in
            #expect(await reader.next() == "retry: 2000\nid: b-2\n\n")
            publish(feed, 3...3)
            #expect(await reader.next() == "event: job\nid: b-3\ndata: 3\n\n")
            publish(feed, 4...4)
            #expect(await reader.next() == "event: job\nid: b-4\ndata: 4\n\n")
        }
        #expect(feed.lastID == "b-4")
    }

    @Test func `an answer is a stream that no proxy holds back`() throws {
        let response = try feed().follow(request(after: nil))
        #expect(response.headers["Content-Type"] == "text/event-stream")
        #expect(response.headers["X-Accel-Buffering"] == "no")
        #expect(response.headers["Cache-Control"] == "no-store")
    }

    @Test func `a follower that returns gets what it missed, without gap and double`() async throws {
        let feed = feed()
        publish(feed, 1...5)
        try await follow(feed, after: "b-2") { reader in
            #expect(await reader.next() == "retry: 2000\nid: b-2\n\n")
            let text = await reader.next()
            #expect(text == "event: job\ndata: 3\n\nevent: job\ndata: 4\n\nevent: job\nid: b-5\ndata: 5\n\n")
            publish(feed, 6...6)
            #expect(await reader.next() == "event: job\nid: b-6\ndata: 6\n\n")
        }
    }

    @Test func `a follower that has missed nothing gets nothing`() async throws {
        let feed = feed()
        publish(feed, 1...5)
        try await follow(feed, after: "b-5") { reader in
            _ = await reader.next()
            publish(feed, 6...6)
            #expect(await reader.next() == "event: job\nid: b-6\ndata: 6\n\n")
        }
    }

    @Test(arguments: ["other-3", "b-6", "x", "--", "-1-", "", "b-99999999999999999999"])
    func `an unknown number is a reset`(id: String) async throws {
        let feed = feed()
        publish(feed, 1...5)
        try await follow(feed, after: id) { reader in
            _ = await reader.next()
            #expect(await reader.next() == "event: reset\nid: b-5\ndata: {}\n\n")
        }
    }

    @Test func `the last 1,024 events are kept`() async throws {
        let feed = feed()
        publish(feed, 1...5000)
        try await follow(feed, after: "b-\(5000 - EventFeed.kept)") { reader in
            _ = await reader.next()
            let text = await reader.next()
            #expect(text.hasPrefix("event: job\ndata: \(5001 - EventFeed.kept)\n\n"))
            #expect(text.hasSuffix("event: job\nid: b-5000\ndata: 5000\n\n"))
        }
        try await follow(feed, after: "b-\(4999 - EventFeed.kept)") { reader in
            _ = await reader.next()
            #expect(await reader.next() == "event: reset\nid: b-5000\ndata: {}\n\n")
        }
    }

    @Test func `a follower that is too slow is reset`() async throws {
        let feed = feed()
        try await follow(feed) { reader in
            // Its first write waits until it is read.
            publish(feed, 1...EventFeed.waiting + 1)
            _ = await reader.next()
            #expect(await reader.next() == "event: reset\nid: b-\(EventFeed.waiting + 1)\ndata: {}\n\n")
            publish(feed, 1...1)
            #expect(await reader.next() == "event: job\nid: b-\(EventFeed.waiting + 2)\ndata: 1\n\n")
        }
    }

    @Test func `an event that is too large is a reset`() async throws {
        let feed = feed()
        try await follow(feed, filter: { _ in false }) { reader in
            _ = await reader.next()
            feed.publish("job", [UInt8](repeating: 0x20, count: EventFeed.largestEvent + 1))
            #expect(await reader.next() == "event: reset\nid: b-1\ndata: {}\n\n")
        }
    }

    @Test func `frames wait for their interval, and are joined`() async throws {
        let feed = feed()
        let coalescing = Coalescing.frames { Array($0.joined(separator: Array("+".utf8))) }
        try await follow(feed, coalescing: coalescing) { reader in
            _ = await reader.next()
            publish(feed, 1...1, name: "frames")
            #expect(await reader.next() == "event: frames\nid: b-1\ndata: 1\n\n")
            publish(feed, 2...9, name: "frames")
            // The heartbeat's sleeper, and that of the frames.
            await manual.sleepers(2)
            manual.advance(by: .milliseconds(250))
            #expect(await reader.next() == "event: frames\nid: b-9\ndata: 2+3+4+5+6+7+8+9\n\n")
        }
    }

    @Test func `every 15 seconds an event says that the service is alive, with the latest number`() async throws {
        let feed = feed()
        try await follow(feed, filter: { _ in false }) { reader in
            _ = await reader.next()
            publish(feed, 1...3)
            await manual.sleepers(1)
            manual.advance(by: .seconds(15))
            #expect(await reader.next() == "event: alive\nid: b-3\ndata: {}\n\n")
            await manual.sleepers(1)
            manual.advance(by: .seconds(15))
            #expect(await reader.next() == "event: alive\nid: b-3\ndata: {}\n\n")
        }
    }

    @Test func `a heartbeat says nothing of events that still wait`() async throws {
        let feed = feed()
        let coalescing = Coalescing.frames { Array($0.joined()) }
        try await follow(feed, coalescing: coalescing) { reader in
            _ = await reader.next()
            await manual.sleepers(1)
            manual.advance(by: EventFeed.heartbeat - .milliseconds(100))
            publish(feed, 1...1, name: "frames")
            #expect(await reader.next() == "event: frames\nid: b-1\ndata: 1\n\n")
            publish(feed, 2...2, name: "frames")
            // The heartbeat comes 100 ms later, and the event 250 ms later.
            await manual.sleepers(2)
            manual.advance(by: .milliseconds(100))
            #expect(await reader.next() == "event: alive\ndata: {}\n\n")
            await manual.sleepers(2)
            manual.advance(by: .milliseconds(150))
            #expect(await reader.next() == "event: frames\nid: b-2\ndata: 2\n\n")
        }
    }

    @Test func `a filter chooses the events of a follower`() async throws {
        let feed = feed()
        try await follow(feed, filter: { $0.name == "run" }) { reader in
            _ = await reader.next()
            feed.publish("job", [0x31])
            feed.publish("run", [0x32])
            #expect(await reader.next() == "event: run\nid: b-2\ndata: 2\n\n")
        }
    }

    @Test func `there are at most so many followers, and one that leaves makes room`() async throws {
        let feed = feed(mostFollowers: 2)
        try await follow(feed) { reader in
            _ = await reader.next()
            do {
                let unused = try feed.follow(request(after: nil))
                #expect(feed.followers == 2)
                #expect(throws: Problem.tooManyFollowers) { try feed.follow(request(after: nil)) }
                _ = unused
            }
        }
        #expect(feed.followers == 0)
        _ = try feed.follow(request(after: nil))
    }

    @Test func `a token has a share of the followers, and others have theirs`() throws {
        let feed = feed(mostFollowers: 5, mostOfToken: 2)
        var generator = SplitMix64(seed: 1)
        let requests = (0..<2).map { _ in
            // Browsers that have shown the same token share its places.
            let token = TokenIdentity(id: TokenText(using: &generator).id, name: "anna", scope: .submit)
            return APIRequest(caller: .token(token))
        }
        let first = try feed.follow(requests[0])
        do {
            let second = try feed.follow(requests[0])
            let problem = #expect(throws: Problem.self) { try feed.follow(requests[0]) }
            #expect(problem == .tooManyFollowersOfToken(2))
            #expect(problem?.status == 429)
            #expect(problem?.title == "The token follows the events 2 times already")
            let other = try feed.follow(requests[1])
            // An administrator of this machine has no token.
            let local = APIRequest(caller: .user(uid: 0, isAdmin: true))
            let own = [try feed.follow(local), try feed.follow(local)]
            #expect(feed.followers == 5)
            #expect(throws: Problem.tooManyFollowers) { try feed.follow(requests[1]) }
            withExtendedLifetime((second, other, own)) {}
        }
        // A follower that has left makes room for its token.
        let again = try feed.follow(requests[0])
        #expect(feed.followers == 2)
        withExtendedLifetime((first, again)) {}
    }

    @Test func `the parameter 'after' stands for the header, which browsers cannot set`() async throws {
        let feed = feed()
        publish(feed, 1...3)
        let response = try feed.follow(APIRequest(query: Query([("after", "b-2")])))
        guard case .stream(let stream) = response.body else { throw NoStream() }
        let reader = Reader()
        let task = Task { try await stream.write(reader.writer) }
        _ = await reader.next()
        #expect(await reader.next() == "event: job\nid: b-3\ndata: 3\n\n")
        task.cancel()
        _ = await task.result
    }
}

/// Takes the chunks of a stream one by one. A write waits until its chunk is taken.
private final class Reader: Sendable {
    private struct State {
        var chunk: (text: String, taken: CheckedContinuation<Void, Never>)?
        var waiting: CheckedContinuation<String, Never>?
        var isCancelled = false
    }

    private let state = Mutex(State())

    var writer: ByteStream.Writer {
        ByteStream.Writer { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            await withTaskCancellationHandler {
                await withCheckedContinuation { taken in
                    let (waiting, isCancelled) = self.state.withLock { state in
                        if !state.isCancelled, state.waiting == nil { state.chunk = (text, taken) }
                        defer { state.waiting = nil }
                        return (state.waiting, state.isCancelled)
                    }
                    waiting?.resume(returning: text)
                    if waiting != nil || isCancelled { taken.resume() }
                }
            } onCancel: {
                let chunk = self.state.withLock { state in
                    state.isCancelled = true
                    defer { state.chunk = nil }
                    return state.chunk
                }
                chunk?.taken.resume()
            }
        }
    }

    func next() async -> String {
        await withCheckedContinuation { continuation in
            let chunk = state.withLock { state in
                if state.chunk == nil { state.waiting = continuation }
                defer { state.chunk = nil }
                return state.chunk
            }
            if let chunk {
                chunk.taken.resume()
                continuation.resume(returning: chunk.text)
            }
        }
    }
}
