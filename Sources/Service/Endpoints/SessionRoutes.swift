import HTTPService
import QueueStorage
import Queueing
import ServiceAPI
import Supervision

/// Sessions of browsers. The page shows its user's token once, and gets a cookie that no script can read.
extension Service {
    var sessionRoutes: [Route] {
        [
            .api(.post, "/session", .open, handler: signIn),
            .api(.get, "/session", .read) { request in
                return try .json(encoding: SessionEntry(try request.tokenOfCaller()))
            },
            .api(.delete, "/session", .read, handler: signOut),
        ]
    }

    /// A session ends after so long, or with its token.
    static let sessionLifetime = Duration.seconds(12 * 3600)

    private func signIn(_ request: APIRequest) async throws -> APIResponse {
        let body = try StrictJSON.decode(SignInRequest.self, from: request.body)
        if case .user = request.caller { throw Problem.noSessionsHere }
        let token = try await request.signIn.identity(of: body.token)
        let time = now()
        let expires = min(time + Self.sessionLifetime, token.expires ?? .latest)
        // The token has expired since it was checked.
        guard time < expires else { throw Problem.unknownToken }
        var random = SystemRandomNumberGenerator()
        let secret = SessionSecret(using: &random)
        let session = StoredSession(
            digest: try secret.digest().bytes, token: "\(token.id)", created: time, expires: expires)
        // A browser that signs in again gives up its earlier session.
        let earlier = request.session
        let entry = request.auditEntry("session.begin", of: token, at: time)
        let ended = try await supervisor.onStore {
            try $0.add(session, replacing: earlier?.bytes, audit: entry)
        }
        for digest in ended.compactMap(SecretDigest.init(bytes:)) { sessionHasEnded(digest) }
        return try .json(
            encoding: SessionEntry(token, expires: expires), status: 201,
            headers: ["Set-Cookie": request.sessionCookie.header(for: secret, lifetime: expires - time)])
    }

    private func signOut(_ request: APIRequest) async throws -> APIResponse {
        try request.refuseBody()
        let token = try request.tokenOfCaller()
        guard let session = token.session else { throw Problem.notASession }
        let entry = request.auditEntry("session.end", of: token, at: now())
        _ = try await supervisor.onStore { try $0.removeSession(session.bytes, audit: entry) }
        sessionHasEnded(session)
        return .empty(headers: ["Set-Cookie": request.sessionCookie.removal])
    }
}

extension APIRequest {
    fileprivate func tokenOfCaller() throws(Problem) -> TokenIdentity {
        switch caller {
        case .token(let token): return token
        case .user: throw .noSessionsHere
        case nil: throw .unknownCaller
        }
    }

    fileprivate var session: SecretDigest? {
        if case .token(let token) = caller { token.session } else { nil }
    }

    fileprivate func auditEntry(_ action: String, of token: TokenIdentity, at time: WallTime) -> AuditEntry {
        AuditEntry(
            at: time, caller: token.owner.text, address: "\(peer)", action: action, subject: "\(token.id)",
            detail: "\(token.name), \(token.scope.rawValue)")
    }
}

extension TokenIdentity {
    fileprivate var owner: Owner { .token("\(id)") }
}

extension SessionEntry {
    fileprivate init(_ token: TokenIdentity) { self.init(token, expires: token.expires) }

    fileprivate init(_ token: TokenIdentity, expires: WallTime?) {
        self.init(
            name: token.name, scope: token.scope, owner: token.owner, roots: token.roots ?? [],
            maxPriority: token.maxPriority, expires: expires)
    }
}

extension Problem {
    /// Everybody who reaches the control socket is an administrator, with a cookie or without one.
    fileprivate static let noSessionsHere = Problem(
        status: 409, kind: "no-session", title: "The control socket has no sessions",
        detail: "The kernel says who calls here, so there is nothing to sign in to or out of",
        remedy: "Sign in at a port of the service ('penumbra serve --listen'), or at its web socket.")

    fileprivate static let notASession = Problem(
        status: 409, kind: "no-session", title: "The request belongs to no session",
        detail: "It has a token in its header",
        remedy: "Send the cookie of the session without a token, or revoke the token ('penumbra token revoke').")
}
