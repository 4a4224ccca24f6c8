import Coordination
import HTTPService
import JobModel
import JobStorage
import QueueStorage
import Queueing
import Runs
import ServiceAPI
import Supervision

/// Who works on what, and what is done again.
extension Service {
    var workRoutes: [Route] {
        [
            .api(.get, "/workers", .read, handler: workers),
            .api(.post, "/runs/{name}/retry", .submit, takesKey: true, handler: retryRun),
            .api(.post, "/runs/{name}/verify", .submit, handler: verify),
        ]
    }

    // MARK: Workers

    private func workers(_ request: APIRequest) async throws -> APIResponse {
        let live = try await onArchive { archive in
            try archive.runs(ended: 0).compactMap { run in
                archive.live(of: run).map { (run.stored.name, run.stored.job, $0) }
            }
        }
        let processes = Dictionary(grouping: await Blocking.run { () in WorkerProcesses.all() }, by: \.run)
        var runs: [WorkingRun] = []
        for (name, job, live) in live where try await isVisible(name, to: request) {
            runs.append(WorkingRun(name, job: job, live, processes[name] ?? []))
        }
        return try .json(encoding: ["runs": runs])
    }

    // MARK: Again

    /// A new job that does the same as the one of the run.
    private func retryRun(_ request: APIRequest) async throws -> APIResponse {
        let body = try request.retryBody()
        let (name, caller) = (request.runName, try request.queueCaller())
        guard let job = try await changedJob(of: request) else {
            let run = try await onArchive { try $0.run(exactly: name).stored.name }
            throw Self.retryWithoutJob(run)
        }
        return try await answer(
            try await supervisor.retry(
                job.id, by: caller, key: request.idempotencyKey(), deadline: body.deadline))
    }

    /// Compares the outputs that the run published with their records.
    private func verify(_ request: APIRequest) async throws -> APIResponse {
        let body =
            request.body.isEmpty ? VerifyRequest() : try StrictJSON.decode(VerifyRequest.self, from: request.body)
        let name = request.runName
        _ = try await changedJob(of: request)
        let sample = min(body.sample ?? FarmCommands.longestList, FarmCommands.longestList)
        let outputs = try await onArchive { archive in
            let frames = try archive.frames(of: archive.run(exactly: name))
            return Self.spread(
                frames.filter { $0.state.kind == .published }.flatMap(\.outputs).filter { $0.hasPrefix("/") },
                over: sample)
        }
        guard !outputs.isEmpty else {
            throw FarmError(
                .busy,
                "\(name): the outputs that it published are not known\n   = 'penumbra verify' with the manifest checks all "
                    + "outputs of the job")
        }
        return .lines(try await queries.verify(outputs, for: request.queueCaller().owner))
    }

    /// At most so many values, from everywhere in the list.
    package static func spread<Value>(_ values: [Value], over count: Int) -> [Value] {
        guard values.count > count else { return values }
        return (0..<count).map { values[$0 * values.count / count] }
    }
}

/// The worker slots of an open run.
private struct WorkingRun: Encodable, Sendable {
    let run: String
    let job: String
    /// The most tasks at a time. Nil for as many as there are workers.
    let limit: Int?
    /// How many tasks run, and how many could.
    let leased: Int
    let wanted: Int
    let slots: [Slot]
    let processes: [Process]

    struct Slot: Encodable, Sendable {
        let slot: Int
        let worker: Int
        /// `37/frame`
        let task: String
        let attempt: Int
        let since: String
        let file: String?

        init(_ task: LiveRun.Task) {
            let frame = task.page == 0 ? "\(task.frame)" : "\(task.frame)p\(task.page + 1)"
            self.task = "\(frame)/\(task.kind)" + (task.tile.map { "-\($0)" } ?? "")
            (slot, worker, attempt, file) = (task.slot, task.worker, task.attempt, task.file)
            since = RunLine.time(task.since)
        }
    }

    struct Process: Encodable, Sendable {
        let pid: Int
        /// What it has in memory, in bytes.
        let resident: Int?
    }

    init(_ run: String, job: String, _ live: LiveRun, _ processes: [RunProcess]) {
        (self.run, self.job) = (run, job)
        (limit, leased, wanted) = (live.workerLimit, live.leased, live.wanted)
        slots = live.running.map(Slot.init)
        self.processes = processes.map { Process(pid: $0.id, resident: $0.residentBytes) }
    }
}
