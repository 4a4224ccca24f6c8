import Coordination
import HTTPService
import JobModel
import JobStorage
import QueueStorage
import Queueing
import RenderFarm
import Runs
import SafeFiles
import Scheduling
import ServiceAPI
import Supervision

/// Failed frames, grouped by what is wrong with them.
extension Service {
    var failureRoutes: [Route] {
        [
            .api(.get, "/errors", .read) { request in
                return try .json(encoding: try await failures(visibleTo: request))
            },
            .api(.get, "/runs/{name}/errors", .read) { request in
                let name = request.runName
                let run = try await onArchive { try $0.run(exactly: name) }
                return try .json(encoding: try await failures(of: [run], for: request))
            },
            .api(.get, "/runs/{name}/errors/{group}/exclude", .read, handler: exclusion),
        ]
    }

    /// So many of the latest runs that have failures are looked at.
    private static let mostRuns = 20
    /// They are searched among so many that have ended.
    private static let mostEnded = 1000
    private static let mostFramesOfRun = 20_000
    /// For each of so many a token with folders costs a look into the queue.
    private static let mostCandidates = 500
    /// A longer line helps nobody.
    private static let mostExcluded = 1000

    private func failures(visibleTo request: APIRequest) async throws -> FailureList {
        let runs = try await onArchive { archive in
            try archive.runs(ended: Self.mostEnded).filter { $0.condition.isGoingOn || $0.counts.failed > 0 }
                .prefix(Self.mostCandidates)
        }
        var visible: [RunStatus] = []
        for run in runs where visible.count < Self.mostRuns {
            if try await isVisible(run.stored.name, to: request) { visible.append(run) }
        }
        return try await failures(of: visible, for: request)
    }

    private static func failures(of runs: [RunStatus], in archive: RunArchive) throws -> [FailedFrame] {
        // The latest run is the first one, and its frames are the last ones.
        try runs.reversed().flatMap { run in
            let frames = try archive.frames(of: run, after: nil, state: .failed, limit: mostFramesOfRun).frames
            let repairs = try archive.repairs(of: frames, in: run)
            return frames.map { frame in
                FailedFrame(
                    run: run.stored.name, number: frame.frame, page: frame.page, input: frame.input,
                    cause: frame.cause ?? "", message: frame.message ?? "",
                    isRepaired: repairs[FrameID(frame.frame, page: frame.page)] != nil)
            }
        }
    }

    /// - Parameter runs: The latest first.
    private func failures(of runs: [RunStatus], for request: APIRequest) async throws -> FailureList {
        let failures = try await onArchive { archive in try Self.failures(of: runs, in: archive) }
        let failed = Set(failures.map(\.run))
        var list: [FailureList.Run] = []
        for run in runs.reversed() where failed.contains(run.stored.name) {
            list.append(try await retry(of: run.stored, for: request))
        }
        return FailureList(
            try FailureGroup.groups(of: failures), frames: failures.count,
            repaired: failures.count(where: \.isRepaired), runs: list)
    }

    /// The job of a run, and why the caller cannot retry it.
    private func retry(of run: RunRecord, for request: APIRequest) async throws -> FailureList.Run {
        let caller = try request.queueCaller()
        let found = try await supervisor.onStore { store in
            try store.job(run: run.name).map { ($0, try store.known($0.id)?.retriedAs) }
        }
        let obstacle: String?
        if let (job, retry) = found {
            let isForeign = caller.isLimited && job.owner != caller.owner
            obstacle = isForeign ? Problem.foreignRun.detail : job.obstacleToRetry(after: retry)?.message
        } else {
            obstacle = Self.retryWithoutJob(run.name).message
        }
        return FailureList.Run(run, job: found?.0.id, obstacle: obstacle)
    }

    /// The lines of a manifest that leave out the pictures of a group.
    private func exclusion(_ request: APIRequest) async throws -> APIResponse {
        let (name, group) = (request.runName, request.parameters["group"] ?? "")
        let line = try await onArchive { archive -> (line: ExcludeLine, more: Int)? in
            let run = try archive.run(exactly: name)
            let inputs = try FailureGroup.inputs(of: group, in: Self.failures(of: [run], in: archive))
            guard !inputs.isEmpty else { return nil }
            let named = Array(inputs.prefix(Self.mostExcluded))
            return (
                ExcludeLine(leavingOut: named, manifest: run.stored.manifest) { FileSystem.exists($0) },
                inputs.count - named.count
            )
        }
        guard let line else {
            throw Problem(
                status: 404, kind: "no-group", title: "There is no such group",
                detail: "the run has no failed pictures of this group any more",
                remedy: "Ask for the errors of the run again.")
        }
        return try .json(encoding: ExclusionBody(line.line, more: line.more))
    }
}

private struct FailureList: Encodable, Sendable {
    private static let mostGroups = 200

    /// A run with failed frames.
    struct Run: Encodable, Sendable {
        struct Obstacle: Encodable, Sendable {
            let detail: String
            let remedy: String?
        }

        let run: String
        /// The name of its job.
        let name: String
        let started: WallTime
        /// The path of its manifest.
        let manifest: String
        /// Nil for a run that the service has not begun.
        let job: Queueing.JobID?
        /// Why the caller cannot retry it. Nil if he can.
        let obstacle: Obstacle?

        init(_ run: RunRecord, job: Queueing.JobID?, obstacle message: String?) {
            (self.run, name, manifest, self.job) = (run.name, run.job, run.manifest, job)
            started = WallTime(milliseconds: run.started / 1_000_000)
            obstacle = message.map {
                let words = Explanation(message: $0)
                return Obstacle(detail: words.summary, remedy: words.remedy)
            }
        }
    }

    let errors: [FailureGroup]
    /// The failed frames of all groups, also of those that are left out.
    let frames: Int
    /// How many of them a later run has published.
    let repaired: Int
    /// How many groups there are.
    let total: Int
    /// The runs of all groups, the earliest first.
    let runs: [Run]

    init(_ groups: [FailureGroup], frames: Int, repaired: Int, runs: [Run]) {
        errors = Array(groups.prefix(Self.mostGroups))
        total = groups.count
        (self.frames, self.repaired, self.runs) = (frames, repaired, runs)
    }
}

/// The answer to `GET …/errors/{group}/exclude`.
private struct ExclusionBody: Encodable, Sendable {
    /// `exclude: [photos/a.png]`. Nil if no picture can be named.
    let line: String?
    /// How many pictures it names.
    let pictures: Int
    /// Pictures that a manifest cannot name.
    let unnamed: [String]
    /// How many pictures are left out of this answer.
    let more: Int

    init(_ line: ExcludeLine, more: Int) {
        (self.line, pictures, unnamed, self.more) = (line.text, line.count, line.unnamed, more)
    }
}

extension Service {
    /// The refusal of a retry of a run that nobody has submitted to the service.
    static func retryWithoutJob(_ run: String) -> FarmError {
        let run = VisibleText.line(run)
        return FarmError(
            .busy,
            "\(run): no job of the service has this run\n   = 'penumbra retry \(run)' renders its failed frames again")
    }

    /// Whether the caller may read of a run. A token with folders reads only of runs of its own jobs.
    func isVisible(_ run: String, to request: APIRequest) async throws -> Bool {
        guard let owner = request.onlyOwner else { return true }
        return try await supervisor.job(ofRun: run)?.owner == owner
    }
}
