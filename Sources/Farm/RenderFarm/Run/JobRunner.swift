import Coordination
import FoundationEssentials
package import JobModel

/// Runs jobs, one after another: all are prepared before the first one starts.
package struct JobRunner {
    let context: RunContext

    package init(_ context: RunContext) { self.context = context }

    /// - Returns: the worst of their ends.
    package func run(_ jobs: [JobSpec]) async throws -> RunOutcome {
        let execution = Execution(context)
        return try await Admission(context).admit(jobs) { stages in
            var worst = RunOutcome.done
            for index in stages.indices {
                let outcome = try await execution.run(&stages[index])
                worst = max(worst, outcome)
                if outcome == .storage || outcome > .busy { break }
            }
            try Finishing(context).writeReports(stages)
            return worst
        }
    }

    /// Accepts the outputs of jobs that are there.
    ///
    /// - Parameter moved: only those of jobs, or of pictures, that had another name or place.
    package func adopt(_ jobs: [JobSpec], moved: Bool) async throws -> RunOutcome {
        try await Admission(context).admit(jobs) { stages in
            var worst = RunOutcome.done
            for job in stages.compactMap(\.job) {
                worst = max(worst, try await JobAdoption(context: context).adopt(job, moved: moved))
            }
            return worst
        }
    }

    /// Runs jobs. The metrics report those that could not start, too.
    func runReportingMetrics(_ jobs: [JobSpec]) async throws -> RunOutcome {
        let start = Date()
        do {
            let outcome = try await run(jobs)
            reportUnstarted(jobs, outcome, since: start)
            return outcome
        } catch {
            reportUnstarted(jobs, FarmError(error).outcome, since: start)
            throw error
        }
    }

    private func reportUnstarted(_ jobs: [JobSpec], _ outcome: RunOutcome, since start: Date) {
        do {
            try context.reports.writeUnstartedMetrics(
                jobs.map(\.name), outcome, since: start.timeIntervalSince1970, now: Date().timeIntervalSince1970)
        } catch {
            // The run's own end is worse news than that.
            context.listener.report(.failed(FarmError(error)))
        }
    }
}
