import Catalogs
import Coordination
import HTTPService
import JobModel
import JobStorage
import Queueing
import RenderFarm
import Runs
import Scheduling
import Settings
import Supervision

/// What runs have done, in pages, and the end of a run.
extension Service {
    var runRoutes: [Route] {
        [
            .api(.get, "/runs/{name}/attempts", .read, parameters: ["after", "limit", "task"], handler: attempts),
            .api(.get, "/runs/{name}/tasks", .read) { request in
                return try .json(encoding: try await onRun(request) { try $0.taskCounts(of: $1) })
            },
            .api(.get, "/runs/{name}/broken", .read) { request in
                let unrecorded = unrecordedFrames
                let broken = try await onRun(request) { archive, run in
                    // Most runs have none, and then their frames need not be read.
                    guard run.counts.stillBroken > 0 else { return [BrokenLine]() }
                    return try unrecorded.stillBroken(in: run, archive.details(of: run), archive)
                }
                return try .json(encoding: ["broken": broken])
            },
            .api(.get, "/runs/{name}/job", .read) { request in
                let name = request.runName
                guard let job = try await supervisor.job(ofRun: name) else {
                    throw Problem(
                        status: 404, kind: "no-job", title: "The run has no job",
                        detail: "The service has not begun '\(VisibleText.line(name))'")
                }
                return try .json(encoding: try await supervisor.job(job.id).entry)
            },
        ]
    }

    /// Reads the run that the path names.
    private func onRun<Value: Sendable>(
        _ request: APIRequest, _ body: @escaping @Sendable (RunArchive, RunStatus) throws -> Value
    ) async throws -> Value {
        let name = request.runName
        return try await onArchive { archive in try body(archive, archive.run(exactly: name)) }
    }

    // MARK: Pages

    private static let longestFramePage = 1000
    /// Attempts have logs of workers, which may be long.
    private static let longestAttemptPage = 100

    /// A page of frames. `after` is the last frame of the page before: `37`, or `37p2`.
    func frames(_ request: APIRequest) async throws -> APIResponse {
        let limit = try request.number("limit", 1...Self.longestFramePage) ?? 100
        let after = try request.value("after", "is no frame, such as 37 or 37p2", FramePlace.frame)
        let kinds = FrameResult.Kind.allCases.map(\.rawValue).joined(separator: ", ")
        let state = try request.value("state", "is none of \(kinds)", FrameResult.Kind.init)
        return try .json(
            encoding: try await onRun(request) { try $0.frames(of: $1, after: after, state: state, limit: limit) })
    }

    /// One frame, with the recipe of each of its outputs as a manifest would have it.
    func frame(_ request: APIRequest) async throws -> APIResponse {
        let id = try request.frame()
        let unrecorded = unrecordedFrames
        let (frame, time) = try await onRun(request) { archive, run in
            guard let frame = try unrecorded.frame(id, of: run, in: archive) else {
                throw Problem(
                    status: 404, kind: "no-frame", title: "There is no such frame",
                    detail: "the run has nothing recorded of frame \(FramePlace.text(id))",
                    remedy: "Its output may have been up to date: then the latest run of the job has it.")
            }
            return (frame, try archive.publicationTime(of: id, in: run))
        }
        // Without workers, values that are fallbacks are written, too.
        let catalog = frame.recipe.isEmpty ? nil : try? await queries.catalog()
        var recipes: [String?] = []
        for (index, text) in frame.recipe.split(separator: "\n").enumerated() {
            let output = frame.outputs.indices.contains(index) ? frame.outputs[index] : nil
            // The run has kept this output.
            if output == "" { continue }
            let recipe = Recipe(text: String(text))
            recipes.append(
                recipe?.manifest(
                    output: output, catalog: catalog ?? Catalog(versions: [:], filters: [], formats: [])))
        }
        let line = StoredFrameLine(frame, published: time)
        return try .json(
            encoding: FrameBody(
                line: line, recipes: recipes, explanation: line.cause.flatMap(FrameFailure.Cause.init)?.explanation,
                repaired: try await repair(of: line, request)))
    }

    /// The later run that has published a failed frame. Nil if none has, or if the caller does not see it.
    private func repair(of frame: StoredFrameLine, _ request: APIRequest) async throws -> FrameBody.Repair? {
        guard frame.state == FrameResult.Kind.failed.rawValue else { return nil }
        let repair = try await onRun(request) { archive, run in
            try archive.repairs(of: [frame], in: run)[FrameID(frame.frame, page: frame.page)]
        }
        guard let repair, try await isVisible(repair, to: request) else { return nil }
        return FrameBody.Repair(run: repair, job: try await supervisor.job(ofRun: repair)?.id)
    }

    /// A page of attempts, of one task or of all.
    private func attempts(_ request: APIRequest) async throws -> APIResponse {
        let limit = try request.number("limit", 1...Self.longestAttemptPage) ?? Self.longestAttemptPage
        let task = try request.value("task", "is no task, such as 37 or 37/tile-12", TaskFilter.init)
        let after = try request.query.value("after")
        let page = try await onRun(request) { try $0.attempts(of: $1, after: after, of: task, limit: limit) }
        guard let page else { throw APIRequest.wrong("after", after ?? "", "is no place in this list") }
        return try .json(encoding: page)
    }

    // MARK: The end of a run

    /// The job of a run that the caller wants to change. Nil for a run that the service has not begun.
    ///
    /// - Throws: ``Problem`` if the caller may change only his own jobs, and this is none of them.
    func changedJob(of request: APIRequest) async throws -> Submission? {
        let caller = try request.queueCaller()
        let job = try await supervisor.job(ofRun: request.runName)
        guard !caller.isLimited || job?.owner == caller.owner else {
            throw Problem.foreignRun
        }
        return job
    }

    /// Ends a run. If a job that has not ended has begun it, then the job is cancelled: otherwise the service would begin the run again.
    func cancel(_ request: APIRequest) async throws -> APIResponse {
        try request.refuseBody()
        let (name, caller) = (request.runName, try request.queueCaller())
        let job = try await changedJob(of: request)
        let (archive, run) = try await onRun(request) { ($0, $1) }
        if let job, !job.state.name.isEnd {
            _ = try await supervisor.change(job.id, by: caller, action: "cancel") { job, now, _ in
                try job.cancel(by: caller.owner, at: now)
            }
        } else {
            guard !run.condition.isEnded else {
                throw FarmError(.busy, "\(name): has ended already")
            }
            _ = try await archive.cancel(run) { [settings] engine in try settings.batchSystem(for: engine) }
        }
        let line = try await onArchive { archive in
            try RunLine(archive.run(exactly: name), in: archive)
        }
        return try .json(encoding: line, status: 202)
    }
}

extension Problem {
    static let foreignRun = Problem(
        status: 403, kind: "foreign-run", title: "The run is somebody else's",
        detail: "only the owner of its job, and administrators, may change the run",
        remedy: "Ask its owner, or use a token of the scope 'admin'.")
}

/// The answer to `GET …/frames/{number}`.
private struct FrameBody: Encodable {
    let line: StoredFrameLine
    /// In the order of the outputs. Nil for a recipe of another version of Penumbra.
    let recipes: [String?]
    /// What the cause means, and what to do first. Nil if it has not failed.
    let explanation: String?
    /// The run that has published it since it failed in this one.
    let repaired: Repair?

    struct Repair: Encodable {
        let run: String
        /// Nil for a run that the service has not begun.
        let job: Queueing.JobID?
    }

    private enum CodingKeys: String, CodingKey { case recipes, explanation, repaired }

    func encode(to encoder: any Encoder) throws {
        try line.encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(recipes, forKey: .recipes)
        try values.encodeIfPresent(explanation, forKey: .explanation)
        try values.encodeIfPresent(repaired, forKey: .repaired)
    }
}

extension APIRequest {
    /// The frame that the path names.
    func frame() throws -> FrameID {
        let text = parameters["number"] ?? ""
        guard let frame = FramePlace.frame(text), FramePlace.text(frame) == text else {
            throw Problem(
                status: 404, kind: "no-frame", title: "There is no such frame",
                detail: "'\(VisibleText.line(String(text.prefix(100))))' is no frame, such as 37 or 37p2")
        }
        return frame
    }

    /// The value of a parameter. Nil if it is not given.
    ///
    /// - Parameter rule: what is wrong with a value that cannot be read.
    func value<Value>(_ name: String, _ rule: String, _ read: (String) -> Value?) throws -> Value? {
        guard let text = try query.value(name) else { return nil }
        guard let value = read(text) else { throw Self.wrong(name, text, rule) }
        return value
    }

    static func wrong(_ name: String, _ text: String, _ rule: String) -> Problem {
        Problem(
            status: 422, kind: "value", title: "A value is not accepted",
            detail: "\(name): '\(VisibleText.line(String(text.prefix(100))))' \(rule)")
    }
}
