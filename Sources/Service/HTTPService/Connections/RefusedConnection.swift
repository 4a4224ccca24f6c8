import NIOCore

/// Tells a client that there are too many connections, and closes its own. It reads nothing of the request.
final class RefusedConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let time: TimeAmount = .seconds(1)
    private var hasAnswered = false
    private var timer: Scheduled<Void>?

    func handlerAdded(context: ChannelHandlerContext) { if context.channel.isActive { answer(context) } }

    func channelActive(context: ChannelHandlerContext) {
        answer(context)
        context.fireChannelActive()
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    private func answer(_ context: ChannelHandlerContext) {
        guard !hasAnswered else { return }
        hasAnswered = true
        // The client gets the answer before the kernel resets the connection for bytes that nobody has read.
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.text))).assumeIsolated().whenComplete { _ in
            context.close(mode: .output, promise: nil)
        }
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: Self.time) { context.close(promise: nil) }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed = event { context.close(promise: nil) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    static let text: [UInt8] = {
        let problem = Problem.tooManyConnections.response
        guard case .bytes(let body) = problem.body else { return [] }
        var headers = ResponseHeaders.complete(problem.headers)
        headers["Content-Length"] = "\(body.count)"
        headers["Connection"] = "close"
        let fields = headers.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
        return Array("HTTP/1.1 503 Service Unavailable\r\n\(fields)\r\n".utf8) + body
    }()
}
