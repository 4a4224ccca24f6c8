/// All routes of a service. Everything that is not in it is answered by 404 or 405.
package struct RouteTable: Sendable {
    package let routes: [Route]

    /// - Precondition: No two routes have the same method and match the same paths.
    package init(_ routes: [Route]) {
        var seen: Set<[String?]> = []
        for route in routes {
            precondition(
                seen.insert([route.method.rawValue] + route.pattern.shape).inserted,
                "\(route.method.rawValue) \(route.pattern) is there twice")
        }
        self.routes = routes
    }

    package enum Match: Sendable {
        case route(Route, parameters: [String: String])
        /// The path exists. The answer lists its methods.
        case options(allowed: String)
    }

    package func match(_ method: String, _ target: RequestTarget) throws(Problem) -> Match {
        let all = routes.compactMap { route in
            route.pattern.parameters(of: target.segments).map { (route: route, parameters: $0) }
        }
        // Of '/jobs/actions' and '/jobs/{id}' the one with the literal is meant, whatever the method is.
        guard let best = all.map(\.route.pattern).min(by: { $0.isMoreSpecific(than: $1) }) else {
            throw .notFound(target.path)
        }
        let matches = all.filter { $0.route.pattern.shape == best.shape }
        let isHead = method == "HEAD"
        if let found = matches.first(where: { $0.route.method.rawValue == (isHead ? "GET" : method) }) {
            return .route(found.route, parameters: found.parameters)
        }
        let allowed = Self.allowed(matches.map(\.route.method))
        if method == "OPTIONS" { return .options(allowed: allowed) }
        throw .methodNotAllowed(method, allowed: allowed)
    }

    private static func allowed(_ methods: [RequestMethod]) -> String {
        RequestMethod.allCases.filter(methods.contains).flatMap { $0 == .get ? ["GET", "HEAD"] : [$0.rawValue] }
            .joined(separator: ", ") + ", OPTIONS"
    }
}
