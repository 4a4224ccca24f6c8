import Synchronization

/// Decides whether a request is let in, before its body is read.
///
/// The order is: what the request says of itself, its route, who asks, what he may, and how often.
final class AccessControl: Sendable {
    private struct Rates {
        var writes: TokenBuckets<TokenID>
        var reads: TokenBuckets<TokenID>
        var wrongTokens: TokenBuckets<PeerAddress>
    }

    private let table: RouteTable
    private let hosts: HostNames
    private let authenticator: any Authenticator
    private let serviceID: String
    private let clock: ServiceClock
    private let rates: Mutex<Rates>

    init(
        table: RouteTable, hosts: HostNames, authenticator: any Authenticator, serviceID: String, limits: HTTPLimits,
        clock: ServiceClock
    ) {
        self.table = table
        self.hosts = hosts
        self.authenticator = authenticator
        self.serviceID = serviceID
        self.clock = clock
        rates = Mutex(
            Rates(
                writes: TokenBuckets(capacity: limits.writesPerSecond, per: .seconds(1)),
                reads: TokenBuckets(capacity: limits.readsPerSecond, per: .seconds(1)),
                wrongTokens: TokenBuckets(capacity: limits.wrongTokensPerMinute, per: .seconds(60))))
    }

    /// The head of a request, as it came.
    struct Head: Sendable {
        let method: String
        let target: RequestTarget
        let headers: Headers
        /// Whether the client uses TLS.
        let isSecure: Bool
    }

    enum Admission: Sendable {
        case route(Route, parameters: [String: String], caller: Caller?)
        case options(allowed: String)
    }

    /// - Parameter credentials: Who is at the other end of the control socket. Nil on all other sockets.
    func admit(
        _ head: Head, from peer: PeerAddress, credentials: PeerCredentials?
    ) async throws -> Admission {
        let host = try checkHost(head.headers)
        if credentials != nil { try refuseProxies(head.headers) }
        switch try table.match(head.method, head.target) {
        case .options(let allowed): return .options(allowed: allowed)
        case .route(let route, let parameters):
            let cookie = sessionCookie(isSecure: head.isSecure)
            let caller = try await caller(head.headers, cookie, from: peer, credentials: credentials)
            try check(caller, route.access)
            if route.method.isWrite, head.headers["Authorization"] == nil {
                try BrowserRules.check(head.headers, host: host, hasCookie: caller?.token?.session != nil)
            }
            try countRequest(of: caller, isWrite: route.method.isWrite)
            return .route(route, parameters: parameters, caller: caller)
        }
    }

    /// Refuses a stream whose token was revoked, or whose session has ended, after it was looked up.
    func checkAgain(_ caller: Caller?, _ access: Access) async throws {
        guard let token = caller?.token else { return }
        let record = try await lookUp { try await $0.token(token.id) }
        guard let record, record.isValid(at: clock.wallTime()), record.scope.allows(access) else {
            throw Problem.unknownToken
        }
        guard let digest = token.session else { return }
        let session = try await lookUp { try await $0.session(digest) }
        guard let session, clock.wallTime() < session.expires else { throw Problem.unauthorized }
    }

    /// Whose a token is that somebody signs in with. It counts as a change, and a wrong one as every wrong token.
    func signIn(_ token: String, from peer: PeerAddress) async throws -> TokenIdentity {
        let identity = try await identity(token[...], from: peer)
        try countRequest(of: .token(identity), isWrite: true)
        return identity
    }

    func sessionCookie(isSecure: Bool) -> SessionCookie { SessionCookie(service: serviceID, isSecure: isSecure) }

    private func checkHost(_ headers: Headers) throws(Problem) -> String {
        let values = headers.all("Host")
        guard values.count == 1, let host = values.first else { throw .malformed }
        try hosts.check(host)
        return host
    }

    /// A proxy that runs as root would make everybody who reaches it an administrator. Most proxies say that they are one.
    private func refuseProxies(_ headers: Headers) throws(Problem) {
        for name in ["Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP"]
        where headers[name] != nil {
            throw .proxyOnControlSocket
        }
    }

    // MARK: Who asks

    private func caller(
        _ headers: Headers, _ cookie: SessionCookie, from peer: PeerAddress, credentials: PeerCredentials?
    ) async throws -> Caller? {
        let authorizations = headers.all("Authorization")
        if !authorizations.isEmpty {
            guard authorizations.count == 1, let token = Self.bearer(authorizations[0]) else {
                // It has no token, so it is no guess that counts.
                throw Problem.malformedAuthorization
            }
            return try await .token(identity(token, from: peer))
        }
        if let credentials {
            return .user(uid: credentials.uid, isAdmin: credentials.isAdmin)
        }
        for secret in cookie.secrets(in: headers) {
            if let identity = try await session(secret) { return .token(identity) }
        }
        return nil
    }

    private static func bearer(_ header: String) -> Substring? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, String(parts[0]).equalsIgnoringCase("Bearer") else { return nil }
        return parts[1].trimming(" ")
    }

    private func identity(_ text: Substring, from peer: PeerAddress) async throws -> TokenIdentity {
        guard let token = TokenText(text) else { throw wrongToken(.unknownToken, from: peer) }
        let record = try await lookUp { try await $0.token(token.id) }
        // An unknown ID takes as long as a wrong secret.
        let isRight = try token.digest() == record?.digest ?? .none
        let time = clock.wallTime()
        guard isRight, let record, record.isValid(at: time) else {
            throw wrongToken(.unknownToken, from: peer)
        }
        authenticator.noteUse(of: token.id, at: time)
        return TokenIdentity(
            id: token.id, name: record.name, scope: record.scope, roots: record.roots, maxPriority: record.maxPriority,
            expires: record.expires)
    }

    /// Nil for a session that has ended: the browser is asked for its token again.
    private func session(_ secret: SessionSecret) async throws -> TokenIdentity? {
        let digest = try secret.digest()
        let time = clock.wallTime()
        guard let session = try await lookUp({ try await $0.session(digest) }), time < session.expires,
            let record = try await lookUp({ try await $0.token(session.token) }), record.isValid(at: time)
        else { return nil }
        authenticator.noteUse(of: session.token, at: time)
        return TokenIdentity(
            id: session.token, name: record.name, scope: record.scope, roots: record.roots,
            maxPriority: record.maxPriority,
            expires: min(session.expires, record.expires ?? session.expires), session: digest)
    }

    private func lookUp<Value>(
        _ body: (any Authenticator) async throws -> Value
    ) async throws -> Value {
        do { return try await body(authenticator) } catch { throw AuthenticatorError(cause: error) }
    }

    /// Counts a wrong token. Right tokens are let in whatever others send from the same address, since users of one machine
    /// and all clients of one proxy can share it. To guess 256 bits stays hopeless.
    private func wrongToken(_ problem: Problem, from peer: PeerAddress) -> Problem {
        let now = clock.now()
        let wait = rates.withLock { $0.wrongTokens.take(peer, at: now) }
        return wait.map { .tooManyWrongTokens(retryAfter: $0.wholeSecondsToWait) } ?? problem
    }

    // MARK: What he may

    private func check(_ caller: Caller?, _ access: Access) throws(Problem) {
        guard let caller else {
            if access == .open { return }
            throw .unauthorized
        }
        try caller.check(access)
    }

    /// Only tokens have a rate: the administrator's own programs at the control socket may need more.
    private func countRequest(of caller: Caller?, isWrite: Bool) throws(Problem) {
        guard let id = caller?.token?.id else { return }
        let now = clock.now()
        let wait = rates.withLock { isWrite ? $0.writes.take(id, at: now) : $0.reads.take(id, at: now) }
        if let wait { throw .tooManyRequests(retryAfter: wait.wholeSecondsToWait) }
    }
}

/// The tokens could not be looked up. The cause is logged, and the caller gets 503.
struct AuthenticatorError: Error {
    let cause: any Error
}
