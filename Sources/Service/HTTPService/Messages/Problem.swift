import JobModel
package import Queueing

/// Why a request was not carried out, as RFC 9457 describes it.
package struct Problem: Error, Hashable, Sendable {
    /// One of several things that are wrong, such as the lines of a manifest.
    package struct Finding: Hashable, Sendable, Encodable {
        /// Starts at 1. Nil if the problem has no place in a text.
        package let line: Int?
        package let column: Int?
        package let message: String
        package let remedy: String?

        package init(line: Int? = nil, column: Int? = nil, message: String, remedy: String? = nil) {
            self.line = line
            self.column = column
            self.message = message
            self.remedy = remedy
        }
    }

    /// The kind of an answer that will come soon. A page asks for it every second.
    package static let preparing = "preparing"

    package let status: Int
    /// The last part of `type`. Programs tell problems apart by it, and `/problems/KIND` explains it.
    package let kind: String
    package let title: String
    package let detail: String?
    package let remedy: String?
    package let errors: [Finding]
    package var headers: Headers

    package init(
        status: Int, kind: String, title: String, detail: String? = nil, remedy: String? = nil, errors: [Finding] = [],
        headers: Headers = Headers()
    ) {
        self.status = status
        self.kind = kind
        self.title = title
        self.detail = detail
        self.remedy = remedy
        self.errors = errors
        self.headers = headers
    }

    private struct Body: Encodable {
        let type: String
        let title: String
        let status: Int
        let detail: String?
        let remedy: String?
        let errors: [Finding]?
    }

    package var response: APIResponse {
        let body = Body(
            type: "/problems/\(kind)", title: title, status: status, detail: detail, remedy: remedy,
            errors: errors.isEmpty ? nil : errors)
        // Encoding fails only for numbers that JSON lacks, and there are none here.
        let text = (try? JSONBytes.encode(body)).map { String(decoding: $0, as: UTF8.self) }
        let bytes = Array(VisibleText.json(text ?? #"{"status":\#(status),"type":"/problems/\#(kind)"}"#).utf8)
        var headers = headers
        headers["Content-Type"] = "application/problem+json"
        return APIResponse(status: status, headers: headers, body: .bytes(bytes))
    }
}

/// The problems of the transport. Each kind has one place for its words.
extension Problem {
    // MARK: Requests that cannot be read

    package static func badTarget(_ detail: String) -> Problem {
        Problem(status: 400, kind: "bad-path", title: "The address cannot be read", detail: detail)
    }

    package static func repeatedParameter(_ name: String) -> Problem {
        Problem(
            status: 400, kind: "bad-query", title: "A parameter occurs more than once",
            detail: "'\(VisibleText.line(name))' may occur once")
    }

    static func unknownParameter(_ name: String, known: [String]) -> Problem {
        Problem(
            status: 422, kind: "value", title: "A value is not accepted",
            detail: "there is no parameter '\(VisibleText.line(String(name.prefix(100))))'",
            remedy: known.isEmpty
                ? "This address has no parameters." : "The parameters are \(known.joined(separator: ", ")).")
    }

    static let unknownKey = Problem(
        status: 422, kind: "value", title: "A value is not accepted",
        detail: "Idempotency-Key: this address takes none",
        remedy:
            "Leave it out. The page 'Jobs in the HTTP interface' of the documentation says which requests take a key."
    )

    static let unknownMethod = Problem(
        status: 400, kind: "bad-request", title: "This is not a valid HTTP request",
        detail: "The method is none that HTTP has", remedy: "Use GET, HEAD, OPTIONS, POST, PATCH or DELETE.")

    package static let malformed = Problem(
        status: 400, kind: "bad-request", title: "This is not a valid HTTP request",
        remedy: "Send HTTP/1.1 with one Host, and with either one Content-Length or Transfer-Encoding: chunked.")

    package static func tooSlow(_ part: String, _ limit: Duration) -> Problem {
        Problem(
            status: 408, kind: "too-slow", title: "The request came too slowly",
            detail: "The \(part) of a request must arrive within \(limit.inWords)")
    }

    package static func bodyTooLarge(_ limit: Int) -> Problem {
        Problem(
            status: 413, kind: "too-large", title: "The body is too large", detail: "The limit is \(limit) bytes")
    }

    package static func headTooLarge(_ limits: HTTPLimits) -> Problem {
        Problem(
            status: 431, kind: "head-too-large", title: "The head of the request is too large",
            detail: "The limits are \(limits.headBytes) bytes and \(limits.headFields) fields")
    }

    package static let unknownExpectation = Problem(
        status: 417, kind: "expectation", title: "The value of Expect is unknown",
        remedy: "Send 'Expect: 100-continue', or no Expect.")

    // MARK: Routes

    package static func notFound(_ path: String) -> Problem {
        Problem(
            status: 404, kind: "not-found", title: "There is nothing at this address",
            detail: "No resource has the path '\(VisibleText.line(String(path.prefix(200))))'")
    }

    package static func methodNotAllowed(_ method: String, allowed: String) -> Problem {
        Problem(
            status: 405, kind: "method-not-allowed", title: "This resource does not have this method",
            detail: "It has \(allowed), and not \(VisibleText.line(String(method.prefix(40))))",
            headers: ["Allow": allowed])
    }

    package static func changedMeanwhile(_ current: EntityTag) -> Problem {
        Problem(
            status: 412, kind: "changed", title: "The resource has changed since it was read",
            detail: "Its tag is now \(current)", remedy: "Read it again, and repeat the change if it still applies.",
            headers: ["ETag": current.description])
    }

    // MARK: Access

    package static let unauthorized = Problem(
        status: 401, kind: "unauthorized", title: "This address needs a token",
        remedy: "Send 'Authorization: Bearer pnb_…'. An administrator makes a token by 'penumbra token add'.",
        headers: ["WWW-Authenticate": "Bearer"])

    package static let unknownToken = Problem(
        status: 401, kind: "unauthorized", title: "The token is not valid",
        detail: "The token is unknown, expired or revoked",
        remedy:
            "Ask an administrator for a new one ('penumbra token add'). After five wrong tokens in a minute, further "
            + "ones are refused with 429.",
        headers: ["WWW-Authenticate": #"Bearer error="invalid_token""#])

    package static let malformedAuthorization = Problem(
        status: 401, kind: "unauthorized", title: "The Authorization header cannot be read",
        remedy: "Send one 'Authorization: Bearer pnb_…'.",
        headers: ["WWW-Authenticate": #"Bearer error="invalid_request""#])

    package static let tokenInAddress = Problem(
        status: 400, kind: "token-in-address", title: "A token must not be part of an address",
        detail: "Addresses are kept in logs and histories. Revoke this token if the address was sent over a network",
        remedy: "Send it as 'Authorization: Bearer pnb_…'.")

    package static func forbidden(has scope: TokenScope, needs access: Access) -> Problem {
        Problem(
            status: 403, kind: "scope", title: "The token does not allow this",
            detail: "The token's scope is '\(scope.rawValue)', and this request needs '\(access.rawValue)'")
    }

    package static func otherUser(_ uid: UInt32) -> Problem {
        Problem(
            status: 403, kind: "other-user", title: "This socket is for the user of the service",
            detail: "User \(uid) is neither that user nor root",
            remedy: "Use the web socket or the port of the service, with a token.")
    }

    package static let proxyOnControlSocket = Problem(
        status: 403, kind: "proxy", title: "This socket is not for proxies",
        detail: "Everybody whom a proxy lets in here would be an administrator",
        remedy: "Let the proxy use the web socket of the service.")

    package static let foreignPage = Problem(
        status: 403, kind: "foreign-page", title: "The request comes from a page of another site",
        detail: "It may change something, and the browser says that it belongs to another address",
        remedy:
            "Use the service's own page, or send a token in the Authorization header. A proxy has to pass the header "
            + "Host on as it is.")

    package static func unknownHost(_ names: [String]) -> Problem {
        Problem(
            status: 421, kind: "unknown-host", title: "This service does not have this name",
            detail: "Its names are \(names.joined(separator: ", "))",
            remedy: "Use one of these names, or add the name to 'hosts' in the service's config file.")
    }

    // MARK: Limits

    package static func tooManyRequests(retryAfter seconds: Int) -> Problem {
        Problem(
            status: 429, kind: "too-many-requests", title: "The token has sent too many requests",
            remedy: "Wait \(seconds) s.", headers: ["Retry-After": "\(seconds)"])
    }

    package static func tooManyWrongTokens(retryAfter seconds: Int) -> Problem {
        Problem(
            status: 429, kind: "too-many-wrong-tokens", title: "This address has sent too many wrong tokens",
            remedy: "Wait \(seconds) s, and check the token.", headers: ["Retry-After": "\(seconds)"])
    }

    package static let tooManyConnections = Problem(
        status: 503, kind: "too-many-connections", title: "The service has too many connections",
        remedy: "Try again later, and close connections that are not used.", headers: ["Retry-After": "5"])

    package static let tooManyFollowers = Problem(
        status: 503, kind: "too-many-followers", title: "Too many clients follow the events",
        remedy: "Try again later.", headers: ["Retry-After": "10"])

    package static func tooManyFollowersOfToken(_ most: Int) -> Problem {
        Problem(
            status: 429, kind: "too-many-followers", title: "The token follows the events \(most) times already",
            remedy: "Close pages and programs that are not used, or use another token.", headers: ["Retry-After": "10"])
    }

    package static let stopping = Problem(
        status: 503, kind: "stopping", title: "The service is stopping", remedy: "Try again later.",
        headers: ["Retry-After": "5"])

    // MARK: The service's own

    package static let accessUnavailable = Problem(
        status: 503, kind: "access-unavailable", title: "The service cannot check tokens at present",
        remedy: "Try again later. The service's log has the cause.", headers: ["Retry-After": "5"])

    /// The cause is in the log. It may name files or tokens, so the answer does not have it.
    package static let internalError = Problem(
        status: 500, kind: "internal", title: "The service has failed to answer",
        remedy: "The service's log has the cause.")
}

extension Duration {
    /// For limits: whole seconds, or milliseconds.
    var inWords: String {
        let (seconds, attoseconds) = components
        return attoseconds == 0 ? "\(seconds) s" : "\(seconds * 1000 + attoseconds / 1_000_000_000_000_000) ms"
    }
}
