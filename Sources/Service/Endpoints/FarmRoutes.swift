import Coordination
import HTTPService
import JobModel
import JobStorage
import Queueing
import QueueStorage
import RenderFarm
import Runs
import ServiceAPI
import Supervision

/// The service itself, and the runs of its state folder, whoever began them.
extension Service {
    var farmRoutes: [Route] {
        [
            .api(.get, "/status", .read) { request in
                try .json(encoding: await status(countingJobsOf: request.onlyOwner))
            },
            .api(.post, "/drain", .admin) { request in
                let body = try StrictJSON.decode(DrainRequest.self, from: request.body)
                try await supervisor.drain(body.isDrained, by: request.queueCaller())
                return try .json(encoding: await status())
            },
            .api(.get, "/runs", .read, parameters: ["ended"]) { request in
                let ended = try request.number("ended", 0...RunList.mostEnded) ?? RunList.mostEnded
                let owner = request.onlyOwner
                let lines = try await onArchive { [store] archive in
                    // Only the queue knows whose a run is.
                    let names = try owner.map { try store.runs(of: $0, limit: Self.mostOwnRuns) }
                    let runs =
                        try names.map { RunStatus.latest(of: try archive.runs(named: $0), ended: ended) }
                        ?? archive.runs(ended: ended)
                    return try runs.map { try RunLine($0, in: archive) }
                }
                return try .json(encoding: RunList(lines))
            },
            .api(.get, "/runs/{name}", .read) { request in
                let name = request.runName
                return try .json(encoding: try await onArchive { try RunLine($0.run(exactly: name), in: $0) })
            },
            .api(.get, "/runs/{name}/frames", .read, parameters: ["after", "limit", "state"], handler: frames),
            .api(.get, "/runs/{name}/frames/{number}", .read, handler: frame),
            .api(.get, "/runs/{name}/frames/{number}/attempts", .read, handler: attempts),
            .api(.get, "/runs/{name}/map", .read, handler: map),
            .api(.post, "/runs/{name}/pause", .submit) { try await ask($0) { try $0.folder.ask(.pause) } },
            .api(.post, "/runs/{name}/resume", .submit) { try await ask($0) { $0.folder.takeBack(.pause) } },
            .api(.post, "/runs/{name}/cancel", .submit, handler: cancel),
            .init(.get, "/metrics", .read) { _ in
                try await answering {
                    let successes = try await supervisor.onStore {
                        try $0.lastSuccesses(limit: ServiceMetric.mostNames)
                    }
                    return .text(MetricsText(try await status(), successes).text)
                }
            },
            .init(.get, "/healthz", .open) { _ in .text("alive\n") },
            .init(.get, "/readyz", .open) { _ in
                // Anybody may ask, so the answer gives no reason. The log of the service does.
                let trouble = try? await supervisor.condition().trouble
                return trouble == .some(nil)
                    ? .text("ready\n") : .text("the service's database cannot be used\n", status: 503)
            },
        ]
    }

    /// Of a token with folders. Those that go on and the last ones that have ended are among so many.
    private static let mostOwnRuns = 1000

    private func status(countingJobsOf owner: Owner? = nil) async throws -> ServiceStatus {
        let condition = try await supervisor.condition(countingJobsOf: owner)
        let uptime = now() - about.started
        return ServiceStatus(
            version: about.version, pid: about.processID, started: about.started,
            uptime: Int(max(0, uptime.components.seconds)), isDrained: condition.limits.isDrained,
            workers: condition.limits.workers, openRuns: condition.openRuns, maxRuns: condition.limits.maxRuns,
            serviceFolder: about.serviceFolder, stateFolder: about.stateFolder, queue: QueueCounts(condition.counts))
    }

    // MARK: Runs

    /// The database of runs, and the folders of open ones, are read on a thread that may block.
    func onArchive<Value: Sendable>(
        _ body: @escaping @Sendable (RunArchive) throws -> Value
    ) async throws -> Value {
        let state = about.stateFolder
        return try await Blocking.run { () throws -> Value in try body(RunArchive(state: state)) }
    }

    private func attempts(_ request: APIRequest) async throws -> APIResponse {
        let name = request.runName
        let text = request.parameters["number"] ?? ""
        let unknown = Problem(
            status: 404, kind: "no-frame", title: "There is no such frame",
            detail: "the run has no frame '\(VisibleText.line(String(text.prefix(20))))'")
        guard let number = Int(text), number > 0, String(number) == text else { throw unknown }
        let lines = try await onArchive { archive in
            let run = try archive.run(exactly: name)
            let attempts = try archive.attempts(of: run, frame: number)
            // Frames that needed no work have no attempts.
            if attempts.isEmpty, let map = try archive.map(of: run), !map.has(inputNumber: number) { throw unknown }
            return attempts.map(AttemptLine.init)
        }
        return try .json(encoding: ["attempts": lines])
    }

    private func map(_ request: APIRequest) async throws -> APIResponse {
        let name = request.runName
        // Events with this number, or an earlier one, are in the map already.
        let last = feed.lastID
        let line = try await onArchive { archive in try archive.map(of: archive.run(exactly: name)).map(MapLine.init) }
        guard let line else {
            throw Problem(
                status: 404, kind: "no-map", title: "The states of the run's frames are not known",
                detail: "It has no plan yet, or an early version of Penumbra has run it",
                remedy: "If the run has just begun, ask again in a moment.")
        }
        return try .json(encoding: line, headers: ["Last-Event-ID": last])
    }

    /// Sends a request to the coordinator of a run that goes on.
    private func ask(
        _ request: APIRequest, _ body: @escaping @Sendable (RunStatus) throws -> Void
    ) async throws -> APIResponse {
        try request.refuseBody()
        let name = request.runName
        _ = try await changedJob(of: request)
        let line = try await onArchive { archive in
            let run = try archive.run(exactly: name)
            guard run.condition == .running || run.condition == .paused else {
                throw FarmError(.busy, "\(run.stored.name): has no coordinator; it is \(run.condition.rawValue)")
            }
            try body(run)
            return try RunLine(archive.renewed(run), in: archive)
        }
        return try .json(encoding: line, status: 202)
    }
}

extension APIRequest {
    /// The whole name of a run. Its beginning, or a job, is not enough here.
    var runName: String { parameters["name"] ?? "" }

    func number(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
        guard let text = try query.value(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw Problem(
                status: 422, kind: "value", title: "A value is not accepted",
                detail:
                    "\(name): '\(VisibleText.line(text))' is not a number from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }
}
