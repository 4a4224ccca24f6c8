import Coordination
import JobModel
import Reports

extension JobRunner {
    /// Accepts the outputs of jobs that are there.
    func adopt(_ jobs: [JobSpec]) async throws -> ExitStatus {
        try await starting(jobs) { started in
            var status = ExitStatus.done
            for job in started { status = max(status, try await adopt(job)) }
            return status
        }
    }

    private func adopt(_ job: StartedJob) async throws -> ExitStatus {
        let (prepared, spec) = (job.prepared, job.prepared.job)
        let candidates = Adoption.candidates(prepared.targets)
        let files = Adoption.files(of: candidates)
        let findings = try await preparation.findings(of: files, spec)
        let headers = try await preparation.headers(of: files, spec)
        let books = RunBooks(ledger: job.ledger, freshness: prepared.freshness, now: Int(currentTime() / 1_000_000_000))
        let adoption = try Adoption(prepared.targets, findings: findings, headers: headers, books: books)
        try job.ledger?.tidyIndexes { try job.directory.temporaryPath(in: $0, for: "index") }
        let name = spec.name
        if !adoption.faults.isEmpty {
            reporting.complain(
                "\(name): not adopted because of \(Figures.plural(adoption.faults.count, "file"))",
                adoption.faults.map(\.path), reasons: adoption.faults.map(\.reason))
        }
        reporting.say(
            "\(name): \(Figures.plural(adoption.adopted.count, "frame")) adopted"
                + (adoption.missing.isEmpty
                    ? ""
                    : ", \(Figures.count(adoption.missing.count)) with missing outputs, which the next run renders"))
        return adoption.faults.isEmpty ? .done : .someFailed
    }
}
