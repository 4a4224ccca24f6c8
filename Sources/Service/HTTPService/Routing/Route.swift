/// A path and a method that the service answers.
package struct Route: Sendable {
    package typealias Handler = @Sendable (APIRequest) async throws -> APIResponse

    package let method: RequestMethod
    package let pattern: PathPattern
    package let access: Access
    package let parameters: QueryParameters
    /// Whether a request may have an `Idempotency-Key`.
    package let takesKey: Bool
    /// Whether the handler is cancelled if the client closes its side of the connection. A change is carried out to its end.
    let endsWithClient: Bool
    package let handler: Handler

    /// - Parameters:
    ///   - path: `/api/v1/jobs/{id}`: a segment in braces matches every segment that is not empty.
    ///   - parameters: What the query may have. A request with another parameter is refused before its handler is called, because a
    ///     misspelled parameter must not be ignored.
    ///   - takesKey: Whether the handler answers a request that is repeated with its `Idempotency-Key` as the first one. Other
    ///     routes refuse keys of changes, because a client that sends one relies on it.
    ///   - endsWithClient: Whether the handler is cancelled if the client closes its side of the connection. For slow answers that change
    ///     nothing.
    ///   - handler: A thrown `Problem` is the answer. Other errors are logged, and answered by 500.
    package init(
        _ method: RequestMethod, _ path: String, _ access: Access, parameters: QueryParameters = [],
        takesKey: Bool = false, endsWithClient: Bool = false, handler: @escaping Handler
    ) {
        self.init(
            method, PathPattern(path), access, parameters, takesKey, endsWithClient: endsWithClient
        ) { request in
            try parameters.check(request.query)
            if method.isWrite, !takesKey, request.headers["Idempotency-Key"] != nil { throw Problem.unknownKey }
            return try await handler(request)
        }
    }

    private init(
        _ method: RequestMethod, _ pattern: PathPattern, _ access: Access, _ parameters: QueryParameters,
        _ takesKey: Bool, endsWithClient: Bool, _ handler: @escaping Handler
    ) {
        self.method = method
        self.endsWithClient = endsWithClient
        self.pattern = pattern
        self.access = access
        self.parameters = parameters
        self.takesKey = takesKey
        self.handler = handler
    }

    /// The same route, with a handler around its own.
    package func wrapped(by wrap: (@escaping Handler) -> Handler) -> Route {
        Route(method, pattern, access, parameters, takesKey, endsWithClient: endsWithClient, wrap(handler))
    }
}

/// The parameters that the query of a route may have.
package enum QueryParameters: Hashable, Sendable, ExpressibleByArrayLiteral {
    case known(Set<String>)
    /// For documents that people open in browsers. Links to them may have parameters of other programs.
    case any

    package init(arrayLiteral names: String...) { self = .known(Set(names)) }

    fileprivate func check(_ query: Query) throws(Problem) {
        guard case .known(let names) = self else { return }
        for parameter in query.parameters where !names.contains(parameter.name) {
            throw .unknownParameter(parameter.name, known: names.sorted())
        }
    }
}

/// What a caller needs for a route. Each level includes the ones before it.
package enum Access: String, CaseIterable, Hashable, Sendable {
    /// Nobody has to say who asks.
    case open
    case read
    case submit
    case admin
}

package struct PathPattern: Hashable, Sendable, CustomStringConvertible {
    enum Segment: Hashable, Sendable {
        case literal(String)
        case parameter(String)
    }

    package let description: String
    let segments: [Segment]

    init(_ text: String) {
        precondition(text.hasPrefix("/"), "the path '\(text)' of a route has to begin with '/'")
        description = text
        segments = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { part in
            part.hasPrefix("{") && part.hasSuffix("}")
                ? .parameter(String(part.dropFirst().dropLast())) : .literal(String(part))
        }
    }

    /// The values of its parameters. Nil if the path is another one.
    func parameters(of path: [String]) -> [String: String]? {
        guard path.count == segments.count else { return nil }
        var found: [String: String] = [:]
        for (segment, text) in zip(segments, path) {
            switch segment {
            case .literal(let literal): if literal != text { return nil }
            case .parameter(let name):
                if text.isEmpty { return nil }
                found[name] = text
            }
        }
        return found
    }

    /// Patterns of one shape match the same paths.
    var shape: [String?] {
        segments.map { segment in
            switch segment {
            case .literal(let text): text
            case .parameter: nil
            }
        }
    }

    /// Whether this pattern is tried first: at the first difference it has a literal.
    func isMoreSpecific(than other: PathPattern) -> Bool {
        for (own, foreign) in zip(shape, other.shape) where (own == nil) != (foreign == nil) { return own != nil }
        return false
    }
}
