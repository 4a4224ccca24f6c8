package import Queueing

/// Who sends a request.
package enum Caller: Hashable, Sendable {
    /// A process on this machine, by the control socket. The kernel says whose it is.
    case user(uid: UInt32, isAdmin: Bool)
    /// Somebody with a token, or a browser that has shown it.
    case token(TokenIdentity)

    /// Whether the caller may use a route.
    package func check(_ access: Access) throws(Problem) {
        switch self {
        case .user(let uid, isAdmin: false): throw .otherUser(uid)
        case .user(_, isAdmin: true): return
        case .token(let token):
            guard token.scope.allows(access) else { throw .forbidden(has: token.scope, needs: access) }
        }
    }

    /// For logs.
    var label: String {
        switch self {
        case .user(let uid, _): "uid \(uid)"
        case .token(let token): "token \(token.id)"
        }
    }

    var token: TokenIdentity? {
        if case .token(let token) = self { token } else { nil }
    }
}

package struct TokenIdentity: Hashable, Sendable {
    package let id: TokenID
    /// The name that an administrator has given it.
    package let name: String
    package let scope: TokenScope
    /// The folders that its jobs may use. Nil if all are allowed.
    package let roots: [String]?
    /// The highest priority that its owner may give jobs. Nil for no limit.
    package let maxPriority: Priority?
    package let expires: WallTime?
    /// The session of a browser that has sent a cookie in the token's place, by the digest of the cookie.
    package let session: SecretDigest?

    package init(
        id: TokenID, name: String, scope: TokenScope, roots: [String]? = nil, maxPriority: Priority? = nil,
        expires: WallTime? = nil, session: SecretDigest? = nil
    ) {
        self.id = id
        self.name = name
        self.scope = scope
        self.roots = roots
        self.maxPriority = maxPriority
        self.expires = expires
        self.session = session
    }
}

extension TokenScope {
    func allows(_ access: Access) -> Bool {
        switch access {
        case .open, .read: true
        case .submit: self >= .submit
        case .admin: self == .admin
        }
    }
}

/// Tokens and sessions, as their owner stores them.
///
/// Both are looked up once for each request, so that a revoked token is refused at once.
package protocol Authenticator: Sendable {
    func token(_ id: TokenID) async throws -> TokenRecord?
    /// The session of a browser, by the digest of its cookie.
    func session(_ digest: SecretDigest) async throws -> SessionRecord?
    /// Called for each request with a valid token, so it must not block.
    func noteUse(of token: TokenID, at time: WallTime)
}

extension Authenticator {
    package func noteUse(of token: TokenID, at time: WallTime) {}
}

package struct TokenRecord: Hashable, Sendable {
    package let digest: SecretDigest
    package let name: String
    package let scope: TokenScope
    package let roots: [String]?
    /// The highest priority that its owner may give jobs. Nil for no limit.
    package let maxPriority: Priority?
    package let expires: WallTime?
    package let isRevoked: Bool

    package init(
        digest: SecretDigest, name: String, scope: TokenScope, roots: [String]? = nil,
        maxPriority: Priority? = nil, expires: WallTime? = nil, isRevoked: Bool = false
    ) {
        self.digest = digest
        self.name = name
        self.scope = scope
        self.roots = roots
        self.maxPriority = maxPriority
        self.expires = expires
        self.isRevoked = isRevoked
    }

    package func isValid(at time: WallTime) -> Bool { !isRevoked && (expires.map { time < $0 } ?? true) }
}

package struct SessionRecord: Hashable, Sendable {
    /// The token that the browser has shown. If it is revoked, the session ends with it.
    package let token: TokenID
    package let expires: WallTime

    package init(token: TokenID, expires: WallTime) {
        self.token = token
        self.expires = expires
    }
}
