package import HTTPService

/// The page that browsers show: a document at `/`, and what it loads at `/page/NAME`.
///
/// Its addresses are relative, so that a proxy may put a prefix before them. Nothing in it is secret, so nobody has to
/// sign in for it: the page itself asks for a token.
package enum PageRoutes {
    package static let all: [Route] = [
        Route(.get, "/", .open, parameters: .any) { try answer(PageAsset.document, $0) },
        Route(.get, "/page/{name}", .open, parameters: .any) { request in
            guard let asset = assets[request.parameters["name"] ?? ""] else { throw Problem.notFound(request.path) }
            return try answer(asset, request)
        },
    ]

    private static let assets = Dictionary(
        PageAsset.others.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

    /// Browsers keep a file, and ask each time whether it is still the same: an upgrade of the service changes the page at once.
    private static func answer(_ asset: PageAsset, _ request: APIRequest) throws -> APIResponse {
        try .page(asset.bytes, gzip: asset.gzip, contentType: asset.contentType, for: request)
    }
}
