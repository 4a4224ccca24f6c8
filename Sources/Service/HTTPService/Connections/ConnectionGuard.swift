import Logging
import NIOCore
import NIOHTTP1

/// Enforces the limits of one connection on its event loop: times, framing, and an orderly end.
///
/// It answers what never becomes a request: a head that is malformed, too large or too slow, and a body that is too slow. It
/// also decides when a connection is closed. All other parts of a message pass through.
///
///      head time          body time                        keep-alive time
///     ──────────► reading ──────────► answering ──────────► (next request)
///          │                 │            │ Connection: close
///          └──────── 400, 408, 431 ───────┴──► lingering ──► closed
final class ConnectionGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private enum Deadline {
        /// For the first byte of a connection, or of its next request. The connection is closed without an answer.
        case silence
        case head
        case body
    }

    private enum Phase {
        case open
        /// The last answer is being written.
        case ending
        /// The last answer is sent, and what the client still sends is dropped. If the connection was closed at once, the
        /// kernel would reset it, and the client could lose the answer.
        case lingering
        case closed
    }

    private let limits: HTTPLimits
    private let closing: ConnectionClosing
    private var phase = Phase.open
    /// Its own, while it is part of the pipeline: `ByteWatch` has another one, which lies before the encoder.
    private var context: ChannelHandlerContext?
    private var deadline: Deadline?
    private var timer: Scheduled<Void>?
    private var stalledTimer: Scheduled<Void>?
    /// Requests whose answers are not yet written.
    private var openRequests = 0
    /// Whether a head has come, but not the end of its body.
    private var isReading = false
    /// Whether bytes of the next head have come.
    private var hasBytes = false
    private var isAnswerBegun = false
    /// Whether the answer is a stream of events, which its client has to want.
    private var isEvents = false
    /// Whether the answer that is being written is the last one.
    private var closesNow = false
    /// Whether no further request is taken: the connection is closed once the open ones are answered.
    private var closesWhenIdle = false
    private var isInputClosed = false
    /// What is wrong with the bytes after the open requests.
    private var pendingProblem: Problem?
    private var lingeringBytes = 0

    static let lingerTime: TimeAmount = .seconds(2)
    static let mostLingeringBytes = 4 << 20

    private let logger: Logger

    init(limits: HTTPLimits, closing: ConnectionClosing, logger: Logger) {
        self.limits = limits
        self.logger = logger
        self.closing = closing
    }

    // MARK: The connection

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { begin(.silence, limits.headTime, context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelActive(context: ChannelHandlerContext) {
        begin(.silence, limits.headTime, context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        phase = .closed
        timer?.cancel()
        stalledTimer?.cancel()
        closing.close()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case ChannelEvent.inputClosed:
            isInputClosed = true
            closesWhenIdle = true
            closing.closeInput()
            // A follower of events that closes its side has gone. Other answers are still sent: programs may close their
            // side after a request.
            if phase == .lingering || openRequests == 0 || isEvents { context.close(promise: nil) }
            context.fireUserInboundEventTriggered(event)
        case is ServiceIsStopping:
            closesWhenIdle = true
            if phase == .open, openRequests == 0, pendingProblem == nil { context.close(promise: nil) }
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    // MARK: Reading

    /// Whether the bytes are to be decoded. Called before they are.
    func received(_ count: Int) -> Bool {
        guard let context else { return false }
        switch phase {
        case .open:
            if !isReading {
                hasBytes = true
                if openRequests == 0, deadline != .head { begin(.head, limits.headTime, context) }
            }
            return true
        case .ending, .lingering:
            lingeringBytes += count
            if lingeringBytes > Self.mostLingeringBytes { context.close(promise: nil) }
            return false
        case .closed: return false
        }
    }

    /// While it lingers nobody else asks for more bytes.
    func finishedReading() {
        if phase == .lingering { context?.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard phase == .open, pendingProblem == nil, !closesWhenIdle || isReading else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            openRequests += 1
            isReading = true
            hasBytes = false
            // The decoder stops after a request that asks for another protocol.
            if !head.isKeepAlive || head.method == .CONNECT || head.headers.contains(name: "Upgrade") {
                closesWhenIdle = true
            }
            begin(.body, limits.bodyTime, context)
        case .body: break
        case .end:
            isReading = false
            hasBytes = false
            stopTimer()
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow: refuse(.headTooLarge(limits), context)
        case HTTPParserError.invalidMethod: refuse(.unknownMethod, context)
        case is HTTPParserError, is ByteToMessageDecoderError: refuse(.malformed, context)
        default:
            // The connection itself is broken.
            context.close(promise: nil)
        }
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        guard phase == .open, pendingProblem == nil else { return }
        stopTimer()
        logger.info(
            "Refused",
            metadata: [
                "status": "\(problem.status)", "problem": "\(problem.kind)",
                "peer": "\(context.remoteAddress?.ipAddress ?? "local")",
            ])
        pendingProblem = problem
        answerPendingProblem(context)
    }

    /// Answers once all earlier requests are answered.
    private func answerPendingProblem(_ context: ChannelHandlerContext) {
        guard let problem = pendingProblem, phase == .open else { return }
        if isReading, openRequests == 1, isAnswerBegun {
            // The bad request has got its answer already, or a part of it.
            context.close(promise: nil)
            return
        }
        guard openRequests == (isReading ? 1 : 0) else { return }
        phase = .ending
        let response = problem.response
        var headers = HTTPHeaders(ResponseHeaders.complete(response.headers).fields.map { ($0.name, $0.value) })
        headers.replaceOrAdd(name: "Connection", value: "close")
        guard case .bytes(let bytes) = response.body else { return }
        headers.replaceOrAdd(name: "Content-Length", value: "\(bytes.count)")
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: response.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
        writeEnd(wrapOutboundOut(.end(nil)), promise: nil, context)
    }

    // MARK: Writing

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard phase == .open else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            guard head.status.code >= 200 else { return context.write(data, promise: promise) }
            isAnswerBegun = true
            let isStream = !head.headers.contains(name: "Content-Length") && head.status.mayHaveResponseBody
            isEvents = isStream && head.headers["Content-Type"].contains("text/event-stream")
            if isEvents, isInputClosed { return context.close(promise: nil) }
            let isOld = head.version.minor == 0
            // Nobody reads the rest of a body whose request is answered already. HTTP/1.0 shows the end of a stream by
            // closing the connection.
            closesNow =
                (isReading && openRequests == 1) || (isStream && isOld)
                || head.headers["Connection"].contains { $0.equalsIgnoringCase("close") }
                || (closesWhenIdle && openRequests == 1 && pendingProblem == nil)
            if closesNow {
                head.headers.replaceOrAdd(name: "Connection", value: "close")
            } else if isOld {
                head.headers.replaceOrAdd(name: "Connection", value: "keep-alive")
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            openRequests -= 1
            (isAnswerBegun, isEvents) = (false, false)
            if closesNow || (closesWhenIdle && openRequests == 0 && pendingProblem == nil) {
                phase = .ending
                writeEnd(data, promise: promise, context)
                return
            }
            context.write(data, promise: promise)
            if pendingProblem != nil {
                context.flush()
                answerPendingProblem(context)
            } else if openRequests == 0 {
                if hasBytes {
                    begin(.head, limits.headTime, context)
                } else {
                    begin(.silence, limits.keepAliveTime, context)
                }
            }
        }
    }

    private func writeEnd(_ data: NIOAny, promise: EventLoopPromise<Void>?, _ context: ChannelHandlerContext) {
        stopTimer()
        let promise = promise ?? context.eventLoop.makePromise(of: Void.self)
        promise.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .success: self.linger(context)
            case .failure: context.close(promise: nil)
            }
        }
        context.writeAndFlush(data, promise: promise)
    }

    private func linger(_ context: ChannelHandlerContext) {
        guard phase == .ending else { return }
        phase = .lingering
        guard !isInputClosed else { return context.close(promise: nil) }
        context.close(mode: .output, promise: nil)
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.lingerTime) { context.close(promise: nil) }
        context.read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        stalledTimer?.cancel()
        if !context.channel.isWritable { watchClient(context, waiting: .max) }
        context.fireChannelWritabilityChanged()
    }

    /// Closes the connection if the client takes nothing for so long. A slow client that takes a little goes on.
    private func watchClient(_ context: ChannelHandlerContext, waiting before: Int) {
        stalledTimer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limits.stalledTime)) {
            let waiting = (try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? before
            guard waiting < before else { return context.close(promise: nil) }
            self.watchClient(context, waiting: waiting)
        }
    }

    // MARK: Times

    private func begin(_ next: Deadline, _ time: Duration, _ context: ChannelHandlerContext) {
        timer?.cancel()
        deadline = next
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { self.expired(context) }
    }

    private func stopTimer() {
        timer?.cancel()
        timer = nil
        deadline = nil
    }

    private func expired(_ context: ChannelHandlerContext) {
        switch deadline {
        case nil: return
        case .silence: context.close(promise: nil)
        case .head: refuse(.tooSlow("head", limits.headTime), context)
        case .body: refuse(.tooSlow("body", limits.bodyTime), context)
        }
    }
}

/// Looks at bytes before they are decoded: a head that never ends becomes no message, but it has a time.
final class ByteWatch: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let connection: ConnectionGuard

    init(_ connection: ConnectionGuard) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if connection.received(unwrapInboundIn(data).readableBytes) { context.fireChannelRead(data) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        connection.finishedReading()
    }
}

/// Sent to all connections when the service begins to stop.
struct ServiceIsStopping {}

extension HTTPResponseStatus {
    fileprivate var mayHaveResponseBody: Bool { code != 204 && code != 304 && code >= 200 }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(
            seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue + attoseconds / 1_000_000_000)
    }
}
