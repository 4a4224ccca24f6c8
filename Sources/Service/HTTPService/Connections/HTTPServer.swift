package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Answers requests by HTTP/1.1 on several sockets, with one table of routes.
///
/// It uses NIO's decoder and encoder, and decides everything else itself. Frameworks above NIO answer malformed requests
/// with an empty 400, restart their only time limit with every byte, and cannot take a socket that is open already.
package final class HTTPServer: Sendable {
    package struct Options: Hashable, Sendable {
        package var listeners: [Listener]
        package var hosts = HostNames()
        package var limits = HTTPLimits()
        /// Whether all web connections come from a proxy, which adds TLS and says in `X-Forwarded-For` who asks.
        package var isBehindProxy = false
        /// Tells this service from others at the same host: letters and digits. It is in the name of the cookie of sessions.
        package var serviceID = ""

        package init(listeners: [Listener]) { self.listeners = listeners }
    }

    /// A socket that is open.
    package struct Bound: Hashable, Sendable {
        package let kind: Listener.Kind
        /// A path, or an address with its port.
        package let name: String
        package let port: UInt16?
    }

    private struct Socket {
        let bound: Bound
        let createdFile: ListeningSocket.CreatedFile?
        let descriptor: Int32
    }

    private enum Phase {
        case new
        case bound([Socket])
        case running
        case ended
    }

    private struct State {
        var phase = Phase.new
        var isStopping = false
        var listening: [any Channel] = []
        var connections: [ObjectIdentifier: any Channel] = [:]
        /// Cancels the handlers of requests that are still open.
        var cancelHandlers: (@Sendable () -> Void)?
    }

    private let options: Options
    private let responder: Responder
    private let streams: OpenStreams
    private let logger: Logger
    private let state = Mutex(State())

    package init(
        _ options: Options, routes: RouteTable, authenticator: any Authenticator, logger: Logger,
        clock: ServiceClock = .system
    ) {
        self.options = options
        self.logger = logger
        streams = OpenStreams()
        responder = Responder(
            access: AccessControl(
                table: routes, hosts: options.hosts, authenticator: authenticator, serviceID: options.serviceID,
                limits: options.limits, clock: clock),
            streams: streams, limits: options.limits, clock: clock, logger: logger)
    }

    deinit {
        // Sockets that were opened and never served.
        if case .bound(let sockets) = state.withLock({ $0.phase }) { Self.discard(sockets) }
    }

    // MARK: Opening

    /// Opens all sockets. Connections wait in their queues until `run`. It performs short file operations.
    @discardableResult
    package func bind() throws -> [Bound] {
        var sockets: [Socket] = []
        do {
            for listener in options.listeners { sockets += try open(listener) }
        } catch {
            Self.discard(sockets)
            throw error
        }
        let isFirst = state.withLock { state in
            guard case .new = state.phase else { return false }
            state.phase = .bound(sockets)
            return true
        }
        precondition(isFirst, "a server is bound once")
        return sockets.map(\.bound)
    }

    private func open(_ listener: Listener) throws(ListenerError) -> [Socket] {
        switch listener {
        case .control(let path): return [Self.hold(try .unix(.control, path: path))]
        case .web(let path): return [Self.hold(try .unix(.web, path: path))]
        case .loopback(let port): return try loopback(port)
        case .address(let address, let port):
            guard let endpoint = InternetEndpoint(address, port: port) else {
                throw ListenerError(place: address, problem: .notAnAddress)
            }
            guard endpoint.isLoopback || options.isBehindProxy else {
                throw ListenerError(place: "\(endpoint)", problem: .notBehindProxy)
            }
            return [Self.hold(try .internet(address, port: port))]
        case .inherited(let descriptor, let kind):
            return [Self.hold(try .inherited(descriptor, kind, isBehindProxy: options.isBehindProxy))]
        }
    }

    /// The same port by IPv4 and IPv6: browsers try either for 'localhost', and another user must not get the other one.
    private func loopback(_ port: UInt16) throws(ListenerError) -> [Socket] {
        let four = Self.hold(try .internet("127.0.0.1", port: port))
        do {
            return [four, Self.hold(try .internet("::1", port: four.bound.port ?? port))]
        } catch  where error.problem == .addressMissing {
            return [four]
        } catch {
            Self.discard([four])
            throw error
        }
    }

    private static func hold(_ socket: consuming ListeningSocket) -> Socket {
        Socket(
            bound: Bound(kind: socket.kind, name: socket.name, port: socket.port), createdFile: socket.createdFile,
            descriptor: socket.takeDescriptor())
    }

    private static func discard(_ sockets: [Socket]) {
        for socket in sockets {
            SystemCalls.close(socket.descriptor)
            if let file = socket.createdFile { ListeningSocket.remove(file) }
        }
    }

    // MARK: Serving

    /// Accepts connections until the task is cancelled or `stop` is called, and returns when all connections are closed.
    ///
    /// When it stops, it accepts nothing more, ends all streams, and closes idle connections. Open requests are answered, for
    /// which they have the time of the options.
    package func run() async throws {
        let sockets = state.withLock { state -> [Socket]? in
            guard case .bound(let sockets) = state.phase else { return nil }
            state.phase = .running
            return sockets
        }
        guard let sockets else { preconditionFailure("a server is bound, and then run once") }
        defer {
            state.withLock { $0.phase = .ended }
            for case let file? in sockets.map(\.createdFile) { ListeningSocket.remove(file) }
        }
        var servers: [(server: NIOAsyncChannel<Accepted, Never>, bound: Bound)] = []
        for (index, socket) in sockets.enumerated() {
            do {
                servers.append((try await accepting(socket), socket.bound))
            } catch {
                // NIO has closed the descriptor that failed, and those before it belong to it, too.
                for socket in sockets[(index + 1)...] { SystemCalls.close(socket.descriptor) }
                for (server, _) in servers { try? await server.channel.close() }
                throw error
            }
        }
        let isStopping = state.withLock { state in
            state.listening = servers.map(\.server.channel)
            return state.isStopping
        }
        if isStopping { closeListeners() }
        let accepting = servers
        // A task of its own, which is awaited here: a cancellation must not reach the requests that are still open.
        let work = Task {
            await withDiscardingTaskGroup { group in
                for (server, bound) in accepting { group.addTask { await self.accept(server, bound) } }
            }
        }
        state.withLock { $0.cancelHandlers = { work.cancel() } }
        defer { state.withLock { $0.cancelHandlers = nil } }
        await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            stop()
        }
    }

    /// Begins to stop. Returns at once.
    package func stop() {
        let isFirst = state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
        guard isFirst else { return }
        closeListeners()
        streams.endAll()
        for connection in state.withLock({ Array($0.connections.values) }) {
            connection.pipeline.fireUserInboundEventTriggered(ServiceIsStopping())
        }
        // Whoever is not done by then is cut off.
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: TimeAmount(options.limits.shutdownTime)) {
            [weak self] in
            self?.cutOff()
        }
    }

    private func cutOff() {
        let (connections, cancelHandlers) = state.withLock { (Array($0.connections.values), $0.cancelHandlers) }
        for connection in connections { connection.close(promise: nil) }
        cancelHandlers?()
    }

    /// Ends the streams of a token. Its next request is refused by the `Authenticator`.
    package func tokenWasRevoked(_ id: TokenID) { streams.end(of: id) }

    /// Ends the streams of a session. Its next request is refused by the `Authenticator`.
    package func sessionHasEnded(_ session: SecretDigest) { streams.end(ofSession: session) }

    private func closeListeners() {
        for channel in state.withLock({ $0.listening }) { channel.close(promise: nil) }
    }

    // MARK: Connections

    private enum Accepted: Sendable {
        case served(Connection)
        /// There are too many connections. A handler on the event loop does the rest.
        case refused
    }

    private func accepting(_ socket: Socket) async throws -> NIOAsyncChannel<Accepted, Never> {
        let slots = ConnectionSlots(most: options.limits.connections)
        let (limits, logger) = (options.limits, logger)
        return try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .bind(socket.descriptor) { channel in
                channel.eventLoop.makeSucceededFuture(Self.prepare(channel, slots, limits, logger))
            }
    }

    /// Called on the channel's event loop. It closes the channel itself if that fails, because nobody else would.
    private static func prepare(
        _ channel: any Channel, _ slots: ConnectionSlots, _ limits: HTTPLimits, _ logger: Logger
    ) -> Accepted {
        do {
            switch slots.take() {
            case .taken:
                let slot = ConnectionSlot(slots)
                channel.closeFuture.whenComplete { _ in slot.giveBack() }
                return .served(try Connection(channel, limits: limits, slot: slot, logger: logger))
            case .refuse:
                channel.closeFuture.whenComplete { _ in slots.refused() }
                try channel.pipeline.syncOperations.addHandler(RefusedConnection())
            case .drop: channel.close(promise: nil)
            }
        } catch {
            channel.close(promise: nil)
        }
        return .refused
    }

    private func accept(_ server: NIOAsyncChannel<Accepted, Never>, _ bound: Bound) async {
        do {
            try await server.executeThenClose { connections in
                await withDiscardingTaskGroup { group in
                    do {
                        for try await case .served(let connection) in connections {
                            group.addTask { await self.serve(connection, bound) }
                        }
                    } catch {
                        self.logger.error("Accepting connections has failed", metadata: Self.facts(bound, error))
                    }
                }
            }
        } catch {
            logger.error("Closing a socket has failed", metadata: Self.facts(bound, error))
        }
    }

    private static func facts(_ bound: Bound, _ error: any Error) -> Logger.Metadata {
        ["socket": "\(bound.name)", "error": "\(error)"]
    }

    private func serve(_ connection: Connection, _ bound: Bound) async {
        let channel = connection.channel
        let isStopping = state.withLock { state in
            state.connections[ObjectIdentifier(channel)] = channel
            return state.isStopping
        }
        if isStopping { channel.pipeline.fireUserInboundEventTriggered(ServiceIsStopping()) }
        await connection.serve(responder, kind: bound.kind, isBehindProxy: options.isBehindProxy || bound.kind == .web)
        state.withLock { _ = $0.connections.removeValue(forKey: ObjectIdentifier(channel)) }
    }
}
