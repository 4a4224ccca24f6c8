import Glibc
import HTTPService
import Logging
import Queueing
import Synchronization
import TestSupport
import Testing

/// A server on a free port, a control socket and a web socket, for one test.
struct TestService: Sendable {
    let server: HTTPServer
    let folder: TemporaryFolder
    let tokens: TestTokens
    let log: TestLog
    let port: UInt16

    var web: Place { .port(port) }
    var control: Place { .unix(folder.file("private/control.sock")) }
    var webSocket: Place { .unix(folder.file("web.sock")) }

    /// A busy machine may take long for what a test does. No limit of time is reached that the test does not set.
    static var patientLimits: HTTPLimits {
        var limits = HTTPLimits()
        (limits.headTime, limits.bodyTime, limits.keepAliveTime) = (.seconds(600), .seconds(600), .seconds(600))
        return limits
    }

    static func run<Value: Sendable>(
        routes: [Route] = TestRoutes.all, limits: HTTPLimits = patientLimits, hosts: HostNames = HostNames(),
        serviceID: String = "", clock: ServiceClock = .system, tokens: TestTokens? = nil,
        _ body: @Sendable (TestService) async throws -> Value
    ) async throws -> Value {
        let folder = try TemporaryFolder()
        try #require(mkdir(folder.file("private"), 0o700) == 0)
        let log = TestLog()
        let tokens = try tokens ?? TestTokens()
        var options = HTTPServer.Options(listeners: [
            .control(path: folder.file("private/control.sock")), .web(path: folder.file("web.sock")),
            .loopback(port: 0),
        ])
        options.limits = limits
        options.hosts = hosts
        options.serviceID = serviceID
        let server = HTTPServer(
            options, routes: RouteTable(routes), authenticator: tokens, logger: log.logger, clock: clock)
        let bound = try server.bind()
        let port = try #require(bound.compactMap(\.port).first)
        let service = TestService(server: server, folder: folder, tokens: tokens, log: log, port: port)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            do {
                let value = try await body(service)
                server.stop()
                try await group.waitForAll()
                return value
            } catch {
                server.stop()
                throw error
            }
        }
    }

    /// The head of a request. The connection is closed after the answer.
    static func head(
        _ method: String, _ path: String, token: String? = nil, _ headers: String..., keepAlive: Bool = false
    ) -> String {
        var lines = ["\(method) \(path) HTTP/1.1", "Host: localhost"]
        if !keepAlive { lines.append("Connection: close") }
        if let token { lines.append("Authorization: Bearer \(token)") }
        return (lines + headers).joined(separator: "\r\n") + "\r\n\r\n"
    }
}

/// A route of each access, and some that do special things.
enum TestRoutes {
    static let all: [Route] = [
        Route(.get, "/open", .open) { _ in .text("open") },
        Route(.get, "/read", .read, parameters: ["label"]) { _ in .text("read") },
        Route(.post, "/submit", .submit) { request in .json(request.body, status: 201) },
        Route(.get, "/admin", .admin) { _ in .text("admin") },
        Route(.post, "/open", .open) { request in .text("\(request.body.count)") },
        Route(.delete, "/admin", .admin) { _ in .empty() },
        Route(.get, "/jobs/{id}", .open) { request in .text("job \(request.parameters["id"] ?? "")") },
        Route(.get, "/jobs/actions", .open) { _ in .text("actions") },
        Route(.get, "/who", .open) { request in .text("\(request.peer) \(String(describing: request.caller))") },
        Route(.get, "/fails", .open) { _ in throw SecretFailure(secret: "/home/anna/secret") },
        Route(.get, "/bad-header", .open) { _ in
            APIResponse(headers: ["Location": "/a\r\nSet-Cookie: x=y"], body: .bytes([]))
        },
        Route(.get, "/problem", .open) { _ in throw Problem(status: 409, kind: "ended", title: "The run has ended") },
        Route(.get, "/preparing", .open) { _ in
            throw Problem(status: 503, kind: Problem.preparing, title: "The picture is being made ready")
        },
        Route(.get, "/tagged", .open) { request in try .page(Array("page".utf8), contentType: "text/html", for: request)
        },
        Route(.get, "/chunks", .open) { _ in
            APIResponse(
                body: .stream(
                    ByteStream { writer in
                        for part in ["one ", "two ", "three"] { try await writer.write(Array(part.utf8)) }
                    }))
        },
        Route(.get, "/broken", .open) { _ in
            APIResponse(
                body: .stream(
                    ByteStream { writer in
                        try await writer.write(Array("part".utf8))
                        throw SecretFailure(secret: "disk")
                    }))
        },
    ]

    /// The body is a token. The answer says whose it is, and how the browser's cookie would be called.
    static let signIn = Route(.post, "/sign-in", .open) { request in
        let text = String(decoding: request.body, as: UTF8.self)
        return .text("\(try await request.signIn.identity(of: text).name) \(request.sessionCookie.name)")
    }
}

struct SecretFailure: Error {
    let secret: String
}

/// Tokens of each scope, in memory.
final class TestTokens: Authenticator, Sendable {
    private struct State {
        var records: [TokenID: TokenRecord] = [:]
        var sessions: [SecretDigest: SessionRecord] = [:]
        var isBroken = false
        var uses: [TokenID] = []
        /// How often tokens are still found before all of them are revoked.
        var lookupsLeft = Int.max
        /// How often sessions are still found before all of them have ended.
        var sessionsLeft = Int.max
    }

    private let state = Mutex(State())
    let read: TokenText
    let submit: TokenText
    let admin: TokenText

    init() throws {
        var generator = SplitMix64(seed: 7)
        read = TokenText(using: &generator)
        submit = TokenText(using: &generator)
        admin = TokenText(using: &generator)
        for (token, scope) in [(read, TokenScope.read), (submit, .submit), (admin, .admin)] { try add(token, scope) }
    }

    func add(_ token: TokenText, _ scope: TokenScope, expires: WallTime? = nil, isRevoked: Bool = false) throws {
        let record = TokenRecord(
            digest: try token.digest(), name: "\(scope)", scope: scope, roots: ["/srv"], expires: expires,
            isRevoked: isRevoked)
        state.withLock { $0.records[token.id] = record }
    }

    func beginSession(_ secret: SessionSecret, of token: TokenText, expires: WallTime) throws {
        let digest = try secret.digest()
        state.withLock { $0.sessions[digest] = SessionRecord(token: token.id, expires: expires) }
    }

    /// Revokes all tokens after so many look-ups.
    func revokeAll(after lookups: Int) { state.withLock { $0.lookupsLeft = lookups } }

    /// Ends all sessions after so many look-ups.
    func endAllSessions(after lookups: Int) { state.withLock { $0.sessionsLeft = lookups } }

    func breakDown() { state.withLock { $0.isBroken = true } }

    func token(_ id: TokenID) async throws -> TokenRecord? {
        try state.withLock { state in
            if state.isBroken { throw SecretFailure(secret: "database") }
            guard state.lookupsLeft > 0 else { return nil }
            state.lookupsLeft -= 1
            return state.records[id]
        }
    }

    func session(_ digest: SecretDigest) async throws -> SessionRecord? {
        state.withLock { state in
            guard state.sessionsLeft > 0 else { return nil }
            state.sessionsLeft -= 1
            return state.sessions[digest]
        }
    }

    func noteUse(of token: TokenID, at time: WallTime) { state.withLock { $0.uses.append(token) } }

    /// The tokens of requests, in order.
    var uses: [TokenID] { state.withLock(\.uses) }
}

/// Keeps what is logged.
final class TestLog: Sendable {
    private struct State {
        var lines: [String] = []
        var waiting: [(part: String, count: Int, resume: @Sendable () -> Void)] = []

        func count(_ part: String) -> Int { lines.count { $0.contains(part) } }
    }

    private let state = Mutex(State())

    var text: String { state.withLock { $0.lines.joined(separator: "\n") } }

    var logger: Logger { Logger(label: "test") { [self] _ in VisibleLogHandler(Handler(log: self)) } }

    /// Returns once so many lines have the text.
    func lines(containing part: String, count: Int) async {
        await withCheckedContinuation { continuation in wait(part, count) { continuation.resume() } }
    }

    /// Blocks the thread of a script until a line has the text.
    func waitForLine(containing part: String) {
        let signal = TestSignal()
        wait(part, 1) { signal.send() }
        signal.wait()
    }

    private func wait(_ part: String, _ count: Int, resume: @escaping @Sendable () -> Void) {
        let isDone = state.withLock { state in
            if state.count(part) >= count { return true }
            state.waiting.append((part, count, resume))
            return false
        }
        if isDone { resume() }
    }

    fileprivate func add(_ line: String) {
        let done = state.withLock { state in
            state.lines.append(line)
            let counts = state.waiting.map { state.count($0.part) >= $0.count }
            let done = zip(state.waiting, counts).filter(\.1).map(\.0.resume)
            state.waiting = zip(state.waiting, counts).filter { !$0.1 }.map(\.0)
            return done
        }
        for resume in done { resume() }
    }

    private struct Handler: LogHandler {
        let log: TestLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }.joined()
            log.add("\(event.level): \(event.message)\(fields)")
        }
    }
}
