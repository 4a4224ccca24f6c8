import Coordination
package import JobModel
import JobStorage
import Planning
import Reports
import Runs

extension JobRunner {
    /// Accepts the outputs of jobs that are there.
    ///
    /// - Parameter moved: only those of jobs, or of pictures, that had another name or place.
    package func adopt(_ jobs: [JobSpec], moved: Bool) async throws -> RunOutcome {
        try await starting(jobs) { started in
            var status = RunOutcome.done
            for job in started {
                status = max(status, moved ? try await takeOver(job) : try await adopt(job))
            }
            return status
        }
    }

    private func takeOver(_ job: StartedJob) async throws -> RunOutcome {
        guard let ledger = job.ledger else { return .done }
        let name = job.prepared.job.name
        let preparation = preparation.working(for: job.directory)
        let freshness = try await preparation.formersByBytes(job.prepared)
        let moved = try OutputTakeover(job.prepared.targets, freshness, ledger)
        if !moved.owned.isEmpty {
            reporting.complain(
                "\(name): not taken over", moved.owned.map(\.record.path),
                reasons: moved.owned.map {
                    "the job '\(PathText.visible($0.job))' of \(PathText.visible($0.manifest)) is still there"
                })
        }
        // What of them is out of date is known once pictures were compared with what was recorded.
        var prepared = try await preparation.prepare(job.prepared.job, contents: try ledger.currentContents())
        try await preparation.compare(&prepared)
        try ledger.tidyIndexes { try job.directory.temporaryPath(in: $0, for: "index") }
        let taken = Set(moved.taken.map(PathKey.init))
        let targets = prepared.targets.filter { $0.outputs.contains { taken.contains(PathKey($0)) } }
        let stale = targets.filter(\.isWork).count
        reporting.say(
            "\(name): \(Figures.plural(taken.count, "output")) taken over"
                + (stale == 0
                    ? ""
                    : "; \(Figures.plural(stale, "frame")) \(stale == 1 ? "is" : "are") out of date, and rendered by the next run")
        )
        return moved.owned.isEmpty ? .done : .someFailed
    }

    private func adopt(_ job: StartedJob) async throws -> RunOutcome {
        let (prepared, spec) = (job.prepared, job.prepared.job)
        let candidates = Adoption.candidates(prepared.targets)
        let files = Adoption.files(of: candidates)
        let findings = try await preparation.findings(of: files, spec)
        let headers = try await preparation.headers(of: files, spec)
        let books = OutputTracker(
            ledger: job.ledger, freshness: prepared.freshness,
            hasPictures: !prepared.job.picturePaths.isEmpty, now: Int(currentTime() / 1_000_000_000))
        let adoption = try Adoption(prepared.targets, findings: findings, headers: headers, tracker: books)
        try job.ledger?.tidyIndexes { try job.directory.temporaryPath(in: $0, for: "index") }
        let name = spec.name
        if !adoption.failures.isEmpty {
            reporting.complain(
                "\(name): not adopted because of \(Figures.plural(adoption.failures.count, "file"))",
                adoption.failures.map(\.path), reasons: adoption.failures.map(\.reason))
        }
        reporting.say(
            "\(name): \(Figures.plural(adoption.adopted.count, "frame")) adopted"
                + (adoption.missing.isEmpty
                    ? ""
                    : ", \(Figures.count(adoption.missing.count)) with missing outputs, which the next run renders"))
        return adoption.failures.isEmpty ? .done : .someFailed
    }
}
