import HTTPService

/// The description of all routes, for programs that make clients of it.
extension Service {
    var descriptionRoutes: [Route] {
        [
            .api(.get, "/openapi.yaml", .open) { request in
                return try .tagged(
                    APIResponse(
                        headers: ["Content-Type": "application/yaml"], body: .bytes(PackageResources.openapi_yaml)),
                    for: request)
            }
        ]
    }
}
