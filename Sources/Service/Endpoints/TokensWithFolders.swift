import Coordination
import FoundationEssentials
import HTTPService
import JobModel
import Queueing
import QueueStorage
import ServiceAPI
import Supervision

/// A token with folders sees its own jobs and their runs, and nothing of others: their paths and messages are none of its
/// business. It cannot use addresses that are not listed here, so that a new one is safe until somebody has thought of it.
extension Service {
    private enum Visibility {
        /// Nothing there is about jobs, or the handler leaves out jobs of others.
        case all
        /// The path names a job.
        case ownJob
        /// The path names a run.
        case ownRun
    }

    private static let visibilities: [String: Visibility] = {
        var visibilities: [String: Visibility] = [:]
        func add(_ visibility: Visibility, _ method: RequestMethod, _ paths: String...) {
            for path in paths { visibilities["\(method.rawValue) \(APIPath.root)\(path)"] = visibility }
        }
        add(.all, .get, "/jobs", "/runs", "/events", "/status", "/filters", "/formats", "/schema")
        add(.all, .get, "/errors", "/workers", "/session")
        add(.all, .delete, "/session")
        add(.all, .post, "/jobs", "/jobs/actions", "/check", "/preview")
        add(.ownJob, .get, "/jobs/{id}", "/jobs/{id}/log", "/jobs/{id}/manifest")
        add(.ownJob, .patch, "/jobs/{id}")
        for action in ["cancel", "run-next", "hold", "release", "retry"] { add(.ownJob, .post, "/jobs/{id}/\(action)") }
        add(.ownRun, .get, "/runs/{name}", "/runs/{name}/map", "/runs/{name}/errors")
        add(.ownRun, .get, "/runs/{name}/errors/{group}/exclude")
        add(.ownRun, .get, "/runs/{name}/frames", "/runs/{name}/frames/{number}/attempts", "/runs/{name}/attempts")
        add(.ownRun, .get, "/runs/{name}/frames/{number}")
        for picture in ["picture", "crop", "facts"] { add(.ownRun, .get, "/runs/{name}/frames/{number}/\(picture)") }
        add(.ownRun, .get, "/runs/{name}/tasks", "/runs/{name}/broken", "/runs/{name}/job")
        for action in ["pause", "resume", "cancel", "retry"] { add(.ownRun, .post, "/runs/{name}/\(action)") }
        return visibilities
    }()

    /// The route, with the limits of tokens with folders.
    func limitingVisibility(_ route: Route) -> Route {
        guard route.access != .open else { return route }
        let visibility = Self.visibilities["\(route.method.rawValue) \(route.pattern)"]
        return route.wrapped { handler in
            { request in
                if let owner = request.onlyOwner {
                    try await answering { try await check(visibility, owner, request) }
                }
                return try await handler(request)
            }
        }
    }

    /// A refusal of a need would tell how that job has ended. So a caller needs only jobs that he sees.
    func refuseForeign(_ needs: [Need], _ request: APIRequest) async throws {
        guard let owner = request.onlyOwner else { return }
        for need in needs {
            let job = try await supervisor.onStore { try $0.job(need.job) }
            guard job?.owner == owner else { throw Refusal(need.job, .needsUnknown(need.job)) }
        }
    }

    /// The error of a run that does not exist, which is also told of runs that the caller does not see.
    static func unknownRun(_ name: String) -> FarmError {
        FarmError(
            .missingInput,
            "no run is called '\(VisibleText.line(String(name.prefix(200))))'\n   = 'penumbra status' lists the runs")
    }

    private func check(_ visibility: Visibility?, _ owner: Owner, _ request: APIRequest) async throws {
        switch visibility {
        case .all: return
        case .ownJob:
            let id = try request.job()
            guard try await supervisor.job(id).job.owner == owner else { throw Refusal(id, .unknownJob) }
        case .ownRun:
            let name = request.parameters["name"] ?? ""
            guard try await supervisor.job(ofRun: name)?.owner == owner else { throw Self.unknownRun(name) }
        case nil:
            throw Problem(
                status: 403, kind: "folders", title: "A token with folders may not do this",
                detail: "This address is for tokens that may use all folders",
                remedy: "Ask an administrator for a token without folders.")
        }
    }
}

extension APIRequest {
    /// The folders of the caller's token. Nil if he may use all.
    var roots: [String]? {
        if case .token(let token) = caller { token.roots } else { nil }
    }

    /// The only owner whose jobs the caller sees. Nil if he sees all.
    var onlyOwner: Owner? {
        if case .token(let token) = caller, token.roots != nil { .token("\(token.id)") } else { nil }
    }
}

extension JobFilter {
    /// The filter, for a token with folders: it knows its own name alone, and may not learn others.
    func named(for request: APIRequest) -> JobFilter {
        guard let owner = request.onlyOwner, case .token(let token) = request.caller, !ownerNames.isEmpty else {
            return self
        }
        var filter = self
        filter.ownerNames = []
        // No token has an empty identifier.
        filter.owners.formUnion(ownerNames.map { $0 == token.name ? owner : .token("") })
        return filter
    }

    /// The filter, for a caller who sees only jobs of this owner. Nil if it matches none of them.
    func limited(to owner: Owner?) -> JobFilter? {
        guard let owner else { return self }
        guard ownerNames.isEmpty, owners.isEmpty || owners.contains(owner) else { return nil }
        var filter = self
        filter.owners = [owner]
        return filter
    }
}

/// Makes problems of errors.
private func answering(_ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch {
        throw Problem(error) ?? error
    }
}
