import Coordination
import JobModel
import JobStorage
import Planning
import Reports
import Runs

/// Accepts the outputs of a job that are there.
struct JobAdoption {
    let context: RunContext
    private var listener: any RunListener { context.listener }

    /// - Parameter moved: only outputs of jobs, or of pictures, that had another name or place.
    func adopt(_ job: ClaimedJob, moved: Bool) async throws -> RunOutcome {
        moved ? try await takeOver(job) : try await adopt(job)
    }

    private func takeOver(_ job: ClaimedJob) async throws -> RunOutcome {
        guard let ledger = job.ledger else { return .done }
        let name = job.prepared.job.name
        let preparation = context.preparation.working(for: job.folder)
        let freshness = try await preparation.formersByBytes(job.prepared)
        let moved = try OutputTakeover(job.prepared.targets, freshness, ledger)
        if !moved.owned.isEmpty {
            listener.report(
                name,
                .notTakenOver(
                    moved.owned.map {
                        FileReason(
                            path: $0.record.path,
                            reason:
                                "the job '\(PathText.visible($0.job))' of \(PathText.visible($0.manifest)) is still there"
                        )
                    }))
        }
        // What of them is out of date is known once pictures were compared with what was recorded.
        var prepared = try await preparation.prepare(job.prepared.job, contents: try ledger.currentContents())
        try await preparation.compare(&prepared)
        try ledger.tidyIndexes { try job.folder.temporaryPath(in: $0, for: "index") }
        let taken = Set(moved.taken.map(PathKey.init))
        let targets = prepared.targets.filter { $0.outputs.contains { taken.contains(PathKey($0)) } }
        let stale = targets.filter(\.isWork).count
        listener.report(name, .takenOver(taken.count, stale: stale))
        return moved.owned.isEmpty ? .done : .someFailed
    }

    private func adopt(_ job: ClaimedJob) async throws -> RunOutcome {
        let (prepared, spec) = (job.prepared, job.prepared.job)
        let candidates = Adoption.candidates(prepared.targets)
        let files = Adoption.files(of: candidates)
        let findings = try await context.preparation.findings(of: files, spec)
        let headers = try await context.preparation.headers(of: files, spec)
        let tracker = OutputTracker(
            ledger: job.ledger, freshness: prepared.freshness,
            hasPictures: !prepared.job.picturePaths.isEmpty, now: Int(currentTime() / 1_000_000_000))
        let adoption = try Adoption(prepared.targets, findings: findings, headers: headers, tracker: tracker)
        try job.ledger?.tidyIndexes { try job.folder.temporaryPath(in: $0, for: "index") }
        if !adoption.failures.isEmpty {
            listener.report(
                spec.name, .notAdopted(adoption.failures.map { FileReason(path: $0.path, reason: $0.reason) }))
        }
        listener.report(spec.name, .adopted(adoption.adopted.count, missing: adoption.missing.count))
        return adoption.failures.isEmpty ? .done : .someFailed
    }
}
