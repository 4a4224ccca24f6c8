import Coordination
import HTTPService
import JobModel
import QueueStorage
import Queueing
import ServiceAPI
import Supervision

extension Service {
    var jobRoutes: [Route] {
        [
            .api(.post, "/jobs", .submit, takesKey: true, handler: submit),
            .api(
                .get, "/jobs", .read, parameters: ["cursor", "label", "limit", "name", "owner", "state"], handler: list),
            .api(.post, "/jobs/actions", .submit, handler: act),
            .api(.get, "/jobs/{id}", .read) { request in try await show(request.job(), request) },
            .api(.patch, "/jobs/{id}", .submit, handler: change),
            .api(.get, "/jobs/{id}/log", .read, handler: log),
            .api(.get, "/jobs/{id}/manifest", .read, handler: manifest),
            .api(.post, "/jobs/{id}/cancel", .submit) { request in
                let caller = try request.queueCaller()
                return try await change(request, "cancel") { job, now in try job.cancel(by: caller.owner, at: now) }
            },
            .api(.post, "/jobs/{id}/run-next", .submit) { request in
                try request.queueCaller().priorityLimit?.check(.runNext)
                return try await change(request, "run-next") { job, now in try job.runNext(at: now) }
            },
            .api(.post, "/jobs/{id}/hold", .submit) { request in
                try await change(request, "hold") { job, _ in try job.hold() }
            },
            .api(.post, "/jobs/{id}/release", .submit) { request in
                try await change(request, "release") { job, now in try job.release(at: now) }
            },
            .api(.post, "/jobs/{id}/retry", .submit, takesKey: true, handler: retry),
        ]
    }

    // MARK: New jobs

    private func submit(_ request: APIRequest) async throws -> APIResponse {
        let caller = try request.queueCaller()
        let body = try StrictJSON.decode(SubmitRequest.self, from: request.body)
        var order = SubmissionOrder(
            owner: caller.owner, key: try request.idempotencyKey(), place: body.place, name: body.source.name)
        (order.options, order.priority, order.labels) = (body.options, body.priority, body.labels)
        (order.needs, order.isHeld, order.notBefore) = (body.after, body.isHeld, body.notBefore)
        (order.roots, order.priorityLimit) = (request.roots, caller.priorityLimit)
        try await refuseForeign(order.needs, request)
        return try await answer(try await supervisor.submit(order, from: caller.address))
    }

    private func retry(_ request: APIRequest) async throws -> APIResponse {
        let body = try request.retryBody()
        return try await answer(
            try await supervisor.retry(
                request.job(), by: request.queueCaller(), key: request.idempotencyKey(), deadline: body.deadline))
    }

    func answer(_ insertion: Insertion) async throws -> APIResponse {
        let isNew = if case .new = insertion { true } else { false }
        let job = insertion.job
        return try .json(
            encoding: SubmitResponse(try await supervisor.entry(of: job), isNew: isNew), status: isNew ? 201 : 200,
            headers: [
                "Location": "\(APIPath.root)/jobs/\(job.id.number)",
                // For a change that is to be made only if nobody has changed the job since.
                "ETag": EntityTag(Supervisor.tag(of: job)).description,
            ])
    }

    // MARK: Lists

    private static let pageLength = 100

    private func list(_ request: APIRequest) async throws -> APIResponse {
        let filter = try await supervisor.resolved(
            request.filter(except: ["cursor", "limit"]).named(for: request))
        var limit = Self.pageLength
        if let text = try request.query.value("limit") {
            guard let number = Int(text), (1...QueueStore.longestPage).contains(number) else {
                throw Problem(
                    status: 422, kind: "value", title: "A value is not accepted",
                    detail: "limit: '\(VisibleText.line(text))' is not a number from 1 to \(QueueStore.longestPage)")
            }
            limit = number
        }
        let cursor = try request.cursor()
        var list = JobList([], total: 0, cursor: nil)
        if let filter = filter.limited(to: request.onlyOwner) {
            let listing = try await supervisor.jobs(filter, before: cursor, limit: limit)
            list = JobList(listing.jobs, total: listing.total, cursor: listing.next.map(Cursor.text))
        }
        let response = try APIResponse.json(encoding: list)
        guard case .bytes(let bytes) = response.body else { return response }
        return response.tagged(try EntityTag(of: bytes), for: request)
    }

    private func show(_ id: JobID, _ request: APIRequest) async throws -> APIResponse {
        let (job, entry) = try await supervisor.job(id)
        let response = try APIResponse.json(encoding: entry)
        let version = Supervisor.tag(of: job)
        guard [.waiting, .running].contains(job.state.name), case .bytes(let bytes) = response.body else {
            return response.tagged(EntityTag(version), for: request)
        }
        // Its place in the queue, the reason to wait, and whether its run is paused may change although the job does not.
        return response.tagged(try EntityTag(version: version, details: bytes), for: request)
    }

    /// The end of the log of the job's last process.
    private func log(_ request: APIRequest) async throws -> APIResponse {
        guard let path = try await supervisor.logPath(of: request.job()) else { return .text("") }
        return .text(await Blocking.run { RunLogFile.text(at: path) })
    }

    /// The manifest, with what a submission of it needs.
    private func manifest(_ request: APIRequest) async throws -> APIResponse {
        let job = try await supervisor.job(request.job()).job
        var options = RunOptions()
        options.roots = request.roots
        let source = job.manifest
        let text = try await queries.text(of: source.place, name: source.fileName ?? job.name, options)
        return try .json(encoding: ManifestBody(source, text))
    }

    // MARK: Changes

    private func change(_ request: APIRequest) async throws -> APIResponse {
        let body = try StrictJSON.decode(JobChange.self, from: request.body)
        if let priority = body.priority { try request.queueCaller().priorityLimit?.check(priority) }
        try await refuseForeign(body.after ?? [], request)
        return try await change(request, "change", hasBody: true) { job, now, known in
            if let priority = body.priority { try job.set(priority) }
            if let needs = body.after { try job.set(needs, known: known) }
            if !body.labels.isEmpty { job.set(try body.labels(from: job.labels)) }
            if let isHeld = body.isHeld { if isHeld { try job.hold() } else { try job.release(at: now) } }
        }
    }

    private func change(
        _ request: APIRequest, _ action: String,
        _ body: @escaping @Sendable (inout Submission, WallTime) throws -> Void
    ) async throws -> APIResponse {
        try await change(request, action, hasBody: false) { job, now, _ in try body(&job, now) }
    }

    private func change(
        _ request: APIRequest, _ action: String, hasBody: Bool,
        _ body: @escaping @Sendable (inout Submission, WallTime, (JobID) -> KnownJob?) throws -> Void
    ) async throws -> APIResponse {
        if !hasBody { try request.refuseBody() }
        let id = try request.job()
        let expected: String?
        if request.headers.all("If-Match").isEmpty {
            expected = nil
        } else {
            let tag = Supervisor.tag(of: try await supervisor.job(id).job)
            try request.requireMatch(EntityTag(tag))
            // It may change once more before it is changed here.
            expected = tag
        }
        let job = try await supervisor.change(
            id, by: request.queueCaller(), action: action, expecting: expected, body)
        return try await show(job.id, request)
    }

    private func act(_ request: APIRequest) async throws -> APIResponse {
        let body = try StrictJSON.decode(ActionRequest.self, from: request.body)
        let outcome = try await supervisor.apply(
            body.action, to: supervisor.resolved(body.filter.named(for: request)), expecting: body.expected,
            by: request.queueCaller())
        return try .json(encoding: ActionResponse(outcome))
    }
}

/// The answer to `GET /jobs/{id}/manifest`: the members of a submission, and the text of a file, too.
private struct ManifestBody: Encodable {
    let text: String
    /// Of the file that the service reads. Nil for an uploaded text.
    var manifest: String?
    /// Where relative paths of an uploaded text start.
    var folder: String?
    /// Of the file that an uploaded text stands for.
    let name: String?

    init(_ source: ManifestSource, _ text: String) {
        self.text = text
        name = source.fileName
        switch source.place {
        case .file(let path): manifest = path
        case .uploaded(_, let folder): self.folder = folder
        }
    }
}

/// The place of a page in a list. Clients pass it on and do not read it.
private enum Cursor {
    static func text(_ job: JobID) -> String { "j\(job.number)" }

    static func job(_ text: String) -> JobID? {
        guard text.first == "j", let number = Int(text.dropFirst()), number > 0 else { return nil }
        return JobID(number)
    }
}

extension SubmitRequest {
    var place: ManifestSource.Place { source.place }
}

extension SubmitRequest.Source {
    var place: ManifestSource.Place {
        switch self {
        case .file(let path): .file(path: path)
        case .text(let text, let folder, _): .uploaded(text: text, folder: folder)
        }
    }

    var name: String? { if case .text(_, _, let name) = self { name } else { nil } }
}

extension APIRequest {
    /// The job that the path names.
    func job() throws(Problem) -> JobID {
        let text = parameters["id"] ?? ""
        guard let number = Int(text), number > 0, String(number) == text else {
            throw Problem(
                status: 404, kind: "no-job", title: "There is no such job",
                detail: "'\(VisibleText.line(String(text.prefix(100))))' is no number of a job",
                remedy: "'penumbra queue --all' lists all jobs.")
        }
        return JobID(number)
    }

    fileprivate func cursor() throws(Problem) -> JobID? {
        guard let text = try query.value("cursor") else { return nil }
        guard let job = Cursor.job(text) else {
            throw Problem(
                status: 422, kind: "value", title: "A value is not accepted",
                detail: "cursor: it is no cursor of this list",
                remedy: "Take the cursor of the page before, or leave it out for the first page.")
        }
        return job
    }

    /// Draft `httpapi-idempotency-key-header`. The value may be quoted.
    func idempotencyKey() throws -> String? {
        let values = headers.all("Idempotency-Key")
        guard let first = values.first else { return nil }
        guard values.count == 1 else {
            throw Problem(
                status: 422, kind: "value", title: "A value is not accepted",
                detail: "Idempotency-Key: it is there twice")
        }
        guard first.count > 1, first.first == "\"", first.last == "\"" else { return first }
        return String(first.dropFirst().dropLast())
    }

    /// A request that needs no body may have an empty object.
    func refuseBody() throws {
        guard !body.isEmpty else { return }
        _ = try StrictJSON.decode(Nothing.self, from: body)
    }

    /// The body of a retry. Most have none.
    func retryBody() throws -> RetryRequest {
        body.isEmpty ? RetryRequest() : try StrictJSON.decode(RetryRequest.self, from: body)
    }

    private struct Nothing: Decodable {
        init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: NoKey.self) }
        private enum NoKey: CodingKey {}
    }

    /// The filter of a query. Its other parameters are left out.
    func filter(except others: Set<String>) throws -> JobFilter {
        let parts = query.parameters.filter { !others.contains($0.name) }
        return try JobFilter(parts.map { (key: $0.name, value: $0.value) })
    }
}
