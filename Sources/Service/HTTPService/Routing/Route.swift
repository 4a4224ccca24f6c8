/// A path and a method that the service answers.
package struct Route: Sendable {
    package typealias Handler = @Sendable (APIRequest) async throws -> APIResponse

    package let method: RequestMethod
    package let pattern: PathPattern
    package let access: Access
    /// Whether the handler is cancelled if the client closes its side of the connection. A change is carried out to its end.
    let endsWithClient: Bool
    package let handler: Handler

    /// - Parameters:
    ///   - path: `/api/v1/jobs/{id}`: a segment in braces matches every segment that is not empty.
    ///   - endsWithClient: Whether the handler is cancelled if the client closes its side of the connection. For slow answers that change
    ///     nothing.
    ///   - handler: A thrown `Problem` is the answer. Other errors are logged, and answered by 500.
    package init(
        _ method: RequestMethod, _ path: String, _ access: Access, endsWithClient: Bool = false,
        handler: @escaping Handler
    ) {
        self.method = method
        self.endsWithClient = endsWithClient
        pattern = PathPattern(path)
        self.access = access
        self.handler = handler
    }

    /// The same route, with a handler around its own.
    package func wrapped(by wrap: (@escaping Handler) -> Handler) -> Route {
        Route(method, pattern.description, access, endsWithClient: endsWithClient, handler: wrap(handler))
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
