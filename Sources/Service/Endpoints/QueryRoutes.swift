import Catalogs
import HTTPService
import Queueing
import ServiceAPI
import Supervision

/// What the farm can do, and what a job would do. Nothing is kept.
extension Service {
    var queryRoutes: [Route] {
        [
            .api(.post, "/check", .submit, handler: check),
            .api(.post, "/plan", .submit, handler: plan),
            .api(.get, "/filters", .read) { request in
                return try .tagged(.json(encoding: try await queries.catalog().filters), for: request)
            },
            .api(.get, "/formats", .read) { request in
                return try .tagged(.json(encoding: try await queries.catalog().formats), for: request)
            },
            .api(.get, "/schema", .read) { request in
                var response = APIResponse.json(Array(try await queries.schema().utf8))
                response.headers["Content-Type"] = "application/schema+json"
                return try .tagged(response, for: request)
            },
        ]
    }

    private func check(_ request: APIRequest) async throws -> APIResponse {
        let body = try StrictJSON.decode(SubmitRequest.self, from: request.body)
        var options = body.options
        options.roots = request.roots
        let manifest = try await supervisor.check(body.place, name: body.source.name, options)
        return try .json(encoding: CheckedBody(manifest))
    }

    private func plan(_ request: APIRequest) async throws -> APIResponse {
        let body = try StrictJSON.decode(SubmitRequest.self, from: request.body)
        // A wrong manifest is refused with all its problems, as at a submission.
        let checked = try await supervisor.check(body.place, name: body.source.name, body.options)
        // Under the path that the manifest of a submission has. Another path would be another job, to which no outputs belong.
        let name = body.source.name ?? checked.job
        return .lines(
            try await queries.plan(body.place, name: name, body.options, for: request.queueCaller().owner))
    }
}

/// The answer to `POST /check`.
private struct CheckedBody: Encodable {
    let job: String
    let digest: String
    let warnings: [Problem.Finding]

    init(_ manifest: CheckedManifest) {
        job = manifest.job
        digest = manifest.digest
        warnings = manifest.warnings.map {
            Problem.Finding(line: $0.line, column: $0.column, message: $0.message, remedy: $0.remedy)
        }
    }
}

extension APIResponse {
    /// What a command has printed with `--json`: a value on each line.
    static func lines(_ text: String) -> APIResponse {
        APIResponse(headers: ["Content-Type": "application/x-ndjson"], body: .bytes(Array(text.utf8)))
    }

    /// With a tag of its bytes, so that a client that has them already gets 304.
    static func tagged(_ response: APIResponse, for request: APIRequest) throws -> APIResponse {
        guard case .bytes(let bytes) = response.body else { return response }
        return response.tagged(try EntityTag(of: bytes), for: request)
    }
}

extension Problem {
    init(_ error: FarmQueryError) {
        switch error {
        case .busy:
            self.init(status: 503, kind: "busy", title: "The service is busy", message: error.message)
            headers["Retry-After"] = "5"
        case .refused:
            self.init(status: 422, kind: "refused", title: "This cannot be answered", message: error.message)
        case .failed:
            self.init(status: 503, kind: "farm", title: "The farm cannot do this now", message: error.message)
        }
    }
}
