import ServiceAPI

/// A request to a service.
package struct ClientRequest: Sendable {
    package enum Method: String, Sendable {
        case get = "GET"
        case post = "POST"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    package let method: Method
    /// Below `/api/v1`, with its query: `/jobs?state=open`. Names in it are escaped (`APIPath.escaped`).
    package let path: String
    /// JSON.
    package let body: [UInt8]?
    /// The service carries out requests with the same key once. So they are repeated if the connection breaks.
    package let key: String?
    /// The ETag that the job has to have.
    package let condition: String?

    package init(
        _ method: Method, _ path: String, body: [UInt8]? = nil, key: String? = nil, condition: String? = nil
    ) {
        self.method = method
        self.path = path
        self.body = body
        self.key = key
        self.condition = condition
    }

    /// Whether it may be sent again if no answer has come: the first one may have been carried out.
    var isRepeatable: Bool { method == .get || key != nil }

    /// The bytes to send.
    func bytes(
        to address: ServiceAddress, token: BearerToken?, accepting types: String, after lastEventID: String? = nil
    ) throws(ServiceError) -> [UInt8] {
        var fields = [("Host", address.host), ("Accept", types), ("Connection", "close"), ("User-Agent", "penumbra")]
        if let token { fields.append(("Authorization", "Bearer \(token.text)")) }
        if let body {
            fields += [("Content-Type", "application/json"), ("Content-Length", "\(body.count)")]
        } else if method != .get {
            fields.append(("Content-Length", "0"))
        }
        if let key { fields.append(("Idempotency-Key", key)) }
        if let condition { fields.append(("If-Match", condition)) }
        if let lastEventID { fields.append(("Last-Event-ID", lastEventID)) }
        let target = address.prefix + APIPath.root + path
        guard Self.isVisible(target), path.isEmpty || path.utf8.first == UInt8(ascii: "/") else {
            throw ServiceError(.address, "'\(ServiceError.shown(path))' is no path of the service")
        }
        // None of them can add lines to the request.
        for (name, value) in fields where !value.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) {
            throw ServiceError(
                .address, "\(name): '\(ServiceError.shown(value))' has characters that a request cannot have")
        }
        let head = ["\(method.rawValue) \(target) HTTP/1.1"] + fields.map { "\($0): \($1)" }
        return Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + (body ?? [])
    }

    private static func isVisible(_ text: String) -> Bool { text.utf8.allSatisfy { (0x21...0x7e).contains($0) } }
}

/// The answer to a request that succeeded.
package struct ClientAnswer: Sendable {
    package let head: AnswerHead
    package let body: [UInt8]

    package var status: Int { head.status }
    package var etag: String? { head[name: "etag"] }
    package var location: String? { head[name: "location"] }

    /// How long the service asks to wait: at least a second. Nil if it does not ask, or names a date.
    var retryAfter: Duration? {
        head[name: "retry-after"].flatMap { UInt16($0) }.map { .seconds(max(1, Int($0))) }
    }

    /// The type without its parameters, in lower case.
    var type: String {
        let value = head[name: "content-type"] ?? ""
        return value.prefix { $0 != ";" && $0 != " " }.lowercased()
    }
}
