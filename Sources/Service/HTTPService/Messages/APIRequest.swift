/// A request that has passed the access checks of its route.
package struct APIRequest: Sendable {
    package let method: RequestMethod
    /// The decoded path, without the query.
    package let path: String
    /// The values of the names in the route's pattern: `id` for `/jobs/{id}`.
    package let parameters: [String: String]
    package let query: Query
    package let headers: Headers
    package let body: [UInt8]
    /// Nil only on open routes.
    package let caller: Caller?
    package let peer: PeerAddress
    /// The cookie of a session at the address of this request.
    package let sessionCookie: SessionCookie
    /// For a token that is in the body.
    package let signIn: SignIn

    package init(
        method: RequestMethod = .get, path: String = "/", parameters: [String: String] = [:], query: Query = Query(),
        headers: Headers = Headers(), body: [UInt8] = [], caller: Caller? = nil, peer: PeerAddress = .local("test"),
        sessionCookie: SessionCookie = SessionCookie(service: "", isSecure: false), signIn: SignIn = .unknown
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.query = query
        self.headers = headers
        self.body = body
        self.caller = caller
        self.peer = peer
        self.sessionCookie = sessionCookie
        self.signIn = signIn
    }
}

/// Finds out whose a token is that somebody signs in with, within the same limits as for tokens of headers.
package struct SignIn: Sendable {
    private let check: @Sendable (String) async throws -> TokenIdentity

    package init(check: @escaping @Sendable (String) async throws -> TokenIdentity) { self.check = check }

    /// Throws a `Problem` for a token that is not valid.
    package func identity(of token: String) async throws -> TokenIdentity { try await check(token) }

    /// Knows no token.
    package static let unknown = SignIn { _ in throw Problem.unknownToken }
}

/// The methods of routes. `HEAD` and `OPTIONS` are answered for every path by the table of routes.
package enum RequestMethod: String, CaseIterable, Hashable, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"

    /// Whether a request may change something. Such requests have a lower rate, and rules for browsers.
    package var isWrite: Bool { self != .get }
}

/// The other end of a connection.
package enum PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IP address, without the port.
    case internet(String)
    /// The name of a local socket: `control` or `web`.
    case local(String)

    package var description: String {
        switch self {
        case .internet(let address): address
        case .local(let name): name
        }
    }
}
