import FoundationEssentials
import JobModel

extension JobRunner {
    /// Runs jobs; the metrics tell of those that could not start, too.
    func runTellingMetrics(_ jobs: [JobSpec]) async throws -> RunOutcome {
        let start = Date()
        do {
            let status = try await run(jobs)
            tellUnstarted(jobs, status, since: start)
            return status
        } catch {
            tellUnstarted(jobs, FarmError(error).outcome, since: start)
            throw error
        }
    }

    private func tellUnstarted(_ jobs: [JobSpec], _ status: RunOutcome, since start: Date) {
        do {
            try wishes.reports.tellUnstarted(
                jobs.map(\.name), status, since: start.timeIntervalSince1970, now: Date().timeIntervalSince1970)
        } catch {
            // The run's own end is worse news than that.
            reporting.complain(FarmError(error).message)
        }
    }
}
