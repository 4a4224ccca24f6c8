import Logging
import NIOCore
import NIOHTTP1
import Queueing

/// Answers one request after the other: access, body, handler, answer, log.
struct Responder: Sendable {
    typealias BodyIterator = NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator

    let access: AccessControl
    let streams: OpenStreams
    let limits: HTTPLimits
    let clock: ServiceClock
    let logger: Logger

    /// What is known of a request so far, for its answer and its line in the log.
    private struct Progress {
        /// Decoded, and without the query. Empty until the target was read, and if there is a token in it.
        var path = ""
        var caller: Caller?
        var route: Route?
        var isHead = false
        /// Whether the answer will come soon, and the client asks again until then.
        var isPreparing = false
    }

    /// Throws if the connection ends before the answer is written.
    func answer(_ exchange: Exchange, body: inout BodyIterator) async throws {
        let start = clock.now()
        var progress = Progress()
        progress.isHead = exchange.head.method == .HEAD
        var response: APIResponse
        var stream: RunningStream?
        do {
            response = try await respond(exchange, &progress, &body)
            if case .stream(let body) = response.body, !progress.isHead {
                stream = try await begin(body, progress, exchange)
            }
        } catch let problem as Problem {
            progress.isPreparing = problem.kind == Problem.preparing
            response = problem.response
        } catch let error as ConnectionLost {
            throw error
        } catch let error as AuthenticatorError {
            logger.error("Tokens cannot be looked up", metadata: facts(progress, exchange, error.cause))
            response = Problem.accessUnavailable.response
        } catch {
            logger.error("A request has failed", metadata: facts(progress, exchange, error))
            response = Problem.internalError.response
        }
        if !response.headers.areSafe {
            logger.error("An answer has a header that cannot be sent", metadata: facts(progress, exchange, nil))
            response = Problem.internalError.response
        }
        defer { log(response, progress, exchange, start) }
        defer { stream.map(end) }
        try await write(response, stream, progress, exchange)
    }

    // MARK: Responding

    private func respond(
        _ exchange: Exchange, _ progress: inout Progress, _ body: inout BodyIterator
    ) async throws -> APIResponse {
        let head = exchange.head
        let headers = Headers(head.headers)
        let target = try RequestTarget(head.uri)
        guard !target.holdsToken else { throw Problem.tokenInAddress }
        progress.path = target.path
        let admission = try await access.admit(
            AccessControl.Head(
                method: head.method.rawValue, target: target, headers: headers, isSecure: exchange.isSecure),
            from: exchange.peer, credentials: exchange.credentials)
        switch admission {
        case .options(let allowed): return .empty(headers: ["Allow": allowed])
        case .route(let route, let parameters, let caller):
            progress.caller = caller
            progress.route = route
            let bytes = try await readBody(exchange, &body)
            let request = APIRequest(
                method: route.method, path: target.path, parameters: parameters, query: target.query, headers: headers,
                body: bytes,
                caller: caller, peer: exchange.peer, sessionCookie: access.sessionCookie(isSecure: exchange.isSecure),
                signIn: SignIn { [access, peer = exchange.peer] in try await access.signIn($0, from: peer) })
            return try await route.endsWithClient
                ? answer(request, route, whileConnected: exchange) : route.handler(request)
        }
    }

    /// Cancels the handler if the client goes away.
    private func answer(
        _ request: APIRequest, _ route: Route, whileConnected exchange: Exchange
    ) async throws -> APIResponse {
        // The event loop cancels it from outside of this task.
        let task = Task { try await route.handler(request) }
        exchange.closing.onClose(orOfInput: true) { task.cancel() }
        defer { exchange.closing.forgetAction() }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            // Nobody reads the answer, and the error is not worth a line in the log.
            if task.isCancelled, !exchange.channel.isActive { throw ConnectionLost() }
            throw error
        }
    }

    private func readBody(_ exchange: Exchange, _ iterator: inout BodyIterator) async throws -> [UInt8] {
        let headers = exchange.head.headers
        if let length = headers.first(name: "Content-Length").flatMap({ Int($0) }), length > limits.bodyBytes {
            throw Problem.bodyTooLarge(limits.bodyBytes)
        }
        if let expectation = headers.first(name: "Expect") {
            guard expectation.equalsIgnoringCase("100-continue") else { throw Problem.unknownExpectation }
            try await exchange.outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .continue)))
        }
        var bytes: [UInt8] = []
        while let part = try await iterator.next() {
            switch part {
            case .head: throw ConnectionLost()
            case .body(let buffer):
                guard bytes.count + buffer.readableBytes <= limits.bodyBytes else {
                    throw Problem.bodyTooLarge(limits.bodyBytes)
                }
                bytes.append(contentsOf: buffer.readableBytesView)
            case .end: return bytes
            }
        }
        throw ConnectionLost()
    }

    // MARK: Writing

    private func write(
        _ response: APIResponse, _ stream: RunningStream?, _ progress: Progress, _ exchange: Exchange
    ) async throws {
        var head = HTTPResponseHead(
            version: exchange.head.version.minor == 0 ? .http1_0 : .http1_1,
            status: HTTPResponseStatus(statusCode: response.status),
            headers: HTTPHeaders(ResponseHeaders.complete(response.headers).fields.map { ($0.name, $0.value) }))
        head.headers.replaceOrAdd(name: "Date", value: HTTPDate.text(clock.wallTime()))
        switch response.body {
        case .bytes(let bytes):
            let hasBody = response.status != 204 && response.status != 304
            if hasBody { head.headers.replaceOrAdd(name: "Content-Length", value: "\(bytes.count)") }
            var parts = [HTTPServerResponsePart.head(head)]
            if hasBody, !progress.isHead, !bytes.isEmpty { parts.append(.body(.byteBuffer(ByteBuffer(bytes: bytes)))) }
            try await exchange.outbound.write(contentsOf: parts + [.end(nil)])
        case .stream:
            guard let stream else {
                // The answer to HEAD. The length is unknown, and the encoder would add an empty chunk: HTTP/1.0 has answers
                // without a length.
                head.version = .http1_0
                return try await exchange.outbound.write(contentsOf: [.head(head), .end(nil)])
            }
            try await exchange.outbound.write(.head(head))
            try await send(stream, progress, exchange)
        }
    }

    // MARK: Streams

    /// A stream whose first chunk waits until the head is written.
    private struct RunningStream: Sendable {
        let id: Int
        let pump: Task<Void, any Error>
        let begin: AsyncStream<Void>.Continuation
        let expiry: Task<Void, Never>?
        let closing: ConnectionClosing
    }

    /// From here on the stream can be ended: by its client, by the revocation or the expiry of its token, by the end of its
    /// session, and by the end of the service. Each cancels its task, which the connection awaits.
    private func begin(_ stream: ByteStream, _ progress: Progress, _ exchange: Exchange) async throws -> RunningStream {
        let outbound = exchange.outbound
        let (start, begin) = AsyncStream.makeStream(of: Void.self)
        let pump = Task {
            for await _ in start { break }
            try Task.checkCancellation()
            try await stream.write(
                ByteStream.Writer { bytes in
                    guard !bytes.isEmpty else { return }
                    do {
                        try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: bytes))))
                    } catch {
                        // Only a connection that has ended takes no bytes.
                        throw ConnectionLost()
                    }
                })
        }
        guard let id = streams.add(of: progress.caller?.token, cancel: { pump.cancel() }) else {
            pump.cancel()
            throw Problem.stopping
        }
        let running = RunningStream(
            id: id, pump: pump, begin: begin, expiry: expiry(of: progress.caller, ending: pump),
            closing: exchange.closing)
        do {
            // A revocation that came before `add` is found here.
            if let route = progress.route { try await access.checkAgain(progress.caller, route.access) }
        } catch {
            end(running)
            throw error
        }
        if stream.isEndless { exchange.slot.giveBack() }
        exchange.closing.onClose { pump.cancel() }
        return running
    }

    private func expiry(of caller: Caller?, ending pump: Task<Void, any Error>) -> Task<Void, Never>? {
        guard let expires = caller?.token?.expires else { return nil }
        let clock = clock
        // Cancelled when the stream ends.
        return Task {
            if (try? await clock.sleep(expires - clock.wallTime())) != nil { pump.cancel() }
        }
    }

    private func end(_ stream: RunningStream) {
        stream.pump.cancel()
        stream.expiry?.cancel()
        stream.closing.forgetAction()
        streams.remove(stream.id)
    }

    private func send(_ stream: RunningStream, _ progress: Progress, _ exchange: Exchange) async throws {
        stream.begin.finish()
        do {
            try await stream.pump.value
        } catch is ConnectionLost where !stream.pump.isCancelled {
            throw ConnectionLost()
        } catch {
            // A stream that was cancelled ends properly. After any other error the client must not take a part for the whole:
            // the connection is cut.
            guard stream.pump.isCancelled else {
                logger.error("A stream has failed", metadata: facts(progress, exchange, error))
                exchange.channel.close(promise: nil)
                return
            }
        }
        // A client that has to be left and does not read gets no end, since it would be waited for.
        if stream.pump.isCancelled, !exchange.channel.isWritable { return exchange.channel.close(promise: nil) }
        try await exchange.outbound.write(.end(nil))
    }

    // MARK: The log

    /// Values of the query are left out: they may be private.
    private func log(_ response: APIResponse, _ progress: Progress, _ exchange: Exchange, _ start: Duration) {
        var metadata = facts(progress, exchange, nil)
        metadata["status"] = "\(response.status)"
        metadata["duration_ms"] = "\((clock.now() - start) / .milliseconds(1))"
        // Pages and commands that wait read very often.
        let isQuiet = progress.isPreparing || response.status < 400 && progress.route?.method.isWrite == false
        logger.log(level: isQuiet ? .debug : .info, "Answered", metadata: metadata)
    }

    private func facts(_ progress: Progress, _ exchange: Exchange, _ error: (any Error)?) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "method": "\(exchange.head.method.rawValue.prefix(20))",
            "path": "\(progress.path.prefix(200))",
            "peer": "\(exchange.peer)",
        ]
        if let caller = progress.caller { metadata["caller"] = "\(caller.label)" }
        if let error { metadata["error"] = "\(error)" }
        return metadata
    }
}

/// The connection has ended before the request was complete.
struct ConnectionLost: Error {}

extension Headers {
    init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers { add(name, value) }
    }
}
