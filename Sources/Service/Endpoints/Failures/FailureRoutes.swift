import HTTPService
import JobModel
import JobStorage
import Queueing
import Runs
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
                let failures = try await onArchive { archive in
                    try Self.failures(of: [archive.run(exactly: name)], in: archive)
                }
                return try .json(encoding: FailureList(failures))
            },
        ]
    }

    /// So many of the latest runs that have failures are looked at.
    private static let mostRuns = 20
    private static let mostFramesOfRun = 20_000
    /// For each of so many a token with folders costs a look into the queue.
    private static let mostCandidates = 500

    private func failures(visibleTo request: APIRequest) async throws -> FailureList {
        let runs = try await onArchive { archive in
            try archive.runs().filter { $0.condition.isGoingOn || $0.counts.failed > 0 }.prefix(Self.mostCandidates)
        }
        var visible: [RunStatus] = []
        for run in runs where visible.count < Self.mostRuns {
            if try await isVisible(run.stored.name, to: request) { visible.append(run) }
        }
        return try await onArchive { [visible] archive in
            FailureList(try Self.failures(of: visible, in: archive))
        }
    }

    private static func failures(of runs: [RunStatus], in archive: RunArchive) throws -> [FailedFrame] {
        // The latest run is the first one, and its frames are the last ones.
        try runs.reversed().flatMap { run in
            try archive.frames(of: run, after: nil, state: .failed, limit: mostFramesOfRun).frames.map { frame in
                FailedFrame(
                    run: run.stored.name, number: frame.frame, page: frame.page, input: frame.input,
                    cause: frame.cause ?? "", message: frame.message ?? "")
            }
        }
    }
}

private struct FailureList: Encodable, Sendable {
    private static let mostGroups = 200

    let errors: [FailureGroup]
    /// The failed frames of all groups, also of those that are left out.
    let frames: Int
    /// How many groups there are.
    let total: Int

    init(_ failures: [FailedFrame]) {
        let groups = FailureGroup.groups(of: failures)
        errors = Array(groups.prefix(Self.mostGroups))
        frames = failures.count
        total = groups.count
    }
}

extension Service {
    /// Whether the caller may read of a run. A token with folders reads only of runs of its own jobs.
    func isVisible(_ run: String, to request: APIRequest) async throws -> Bool {
        guard let owner = request.onlyOwner else { return true }
        return try await supervisor.job(ofRun: run)?.owner == owner
    }
}
