import Logging
import NIOCore
import NIOHTTP1

/// One connection: its requests are answered one after the other.
struct Connection: Sendable {
    private typealias Parts = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private let parts: Parts
    private let closing: ConnectionClosing
    private let slot: ConnectionSlot

    var channel: any Channel { parts.channel }

    /// Called on the channel's event loop.
    init(_ channel: any Channel, limits: HTTPLimits, slot: ConnectionSlot, logger: Logger) throws {
        self.slot = slot
        closing = ConnectionClosing()
        let guardian = ConnectionGuard(limits: limits, closing: closing, logger: logger)
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteWatch(guardian))
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = limits.headBytes
        decoding.maxHeaderListSize = limits.headBytes
        decoding.maxHeaderFieldCount = limits.headFields
        try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: true,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoding)
        try pipeline.addHandler(guardian)
        parts = try Parts(
            wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
    }

    /// Returns when the connection is closed.
    func serve(_ responder: Responder, kind: Listener.Kind, isBehindProxy: Bool) async {
        do {
            let credentials = kind == .control ? try await peerCredentials() : nil
            try await parts.executeThenClose { inbound, outbound in
                var iterator = inbound.makeAsyncIterator()
                do {
                    while let part = try await iterator.next() {
                        // Bodies that nobody has read are passed over.
                        guard case .head(let head) = part else { continue }
                        let exchange = Exchange(
                            head: head, peer: peer(kind, head, isBehindProxy),
                            isSecure: Self.isSecure(kind, head, isBehindProxy), credentials: credentials,
                            channel: channel, closing: closing, slot: slot, outbound: outbound)
                        try await responder.answer(exchange, body: &iterator)
                    }
                } catch {
                    // The client has gone, or the guard has closed the connection.
                }
                // The guard closes it, after the client has got everything.
                try await channel.closeFuture.get()
            }
        } catch {
            // Its end is all that can be said of a broken connection. What was answered is in the log.
            channel.close(promise: nil)
        }
    }

    private func peer(_ kind: Listener.Kind, _ head: HTTPRequestHead, _ isBehindProxy: Bool) -> PeerAddress {
        // The last address is the one that the proxy itself has seen. Those before it are what a client claims.
        if kind != .control, isBehindProxy, let forwarded = head.headers["X-Forwarded-For"].last,
            let last = forwarded.split(separator: ",").last?.trimming(" "),
            InternetEndpoint(String(last), port: 0) != nil
        {
            return .internet(String(last))
        }
        return channel.remoteAddress?.ipAddress.map { .internet($0) } ?? .local(kind.rawValue)
    }

    /// As the proxy says: the service itself speaks no TLS. At a port without a proxy everybody could claim it.
    private static func isSecure(_ kind: Listener.Kind, _ head: HTTPRequestHead, _ isBehindProxy: Bool) -> Bool {
        guard kind != .control, isBehindProxy, let forwarded = head.headers["X-Forwarded-Proto"].last,
            let last = forwarded.split(separator: ",").last
        else { return false }
        return String(last.trimming(" ")).equalsIgnoringCase("https")
    }

    private func peerCredentials() async throws -> PeerCredentials {
        guard let options = channel as? any SocketOptionProvider else { throw ChannelError.operationUnsupported }
        let answer: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: PeerCredentials.optionName))
        return try await answer.get()
    }
}

/// What is needed to answer one request.
struct Exchange: Sendable {
    let head: HTTPRequestHead
    let peer: PeerAddress
    /// Whether the client uses TLS.
    let isSecure: Bool
    let credentials: PeerCredentials?
    let channel: any Channel
    let closing: ConnectionClosing
    let slot: ConnectionSlot
    let outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>
}
