import BatchSystems
package import Cluster
import Coordination
package import JobModel
import JobStorage
package import Runs
import Shards

extension RunArchive {
    /// Asks the coordinator of a run to end it. A run without a coordinator ends at once, and its files are removed.
    ///
    /// - Parameter system: the batch system of an engine other than Slurm. It is called only if the run has jobs there.
    /// - Returns: messages that say what was done.
    /// - Throws: ``FarmError`` if a cluster does not cancel the run's jobs, or if another coordinator has just taken the run
    ///   over; errors of the database and of files.
    package func cancel(
        _ run: RunStatus, system: (EngineName) throws -> (any BatchSystem)?
    ) async throws -> [RunNotice.Text] {
        let name = run.stored.name
        switch run.condition {
        case .running, .paused:
            try run.folder.ask(.cancel)
            return [
                RunNotice.Text(
                    .result, "\(name): its coordinator was asked to end it; 'penumbra wait' waits for the end")
            ]
        case .interrupted, .detached:
            let successor = await successor(of: run)
            if let scratch = run.folder.scratch {
                try await Self.endJobs(of: SubmittedJobs(of: ShardFolder(scratch)), system)
            }
            // The run gets the same end as if its coordinator had been stopped.
            let removal = try await Blocking.run {
                try abandon(run, reason: "cancelled", outcome: .interrupted, now: currentTime())
            }
            guard removal != .refused else {
                throw FarmError(.busy, "\(name): another coordinator has just taken it over")
            }
            ShardFolder.removeIfEmpty(logs: "\(run.folder.state)/logs/\(name)")
            var messages: [RunNotice.Text] = []
            if removal == .complete {
                messages.append(RunNotice.Text(.result, "\(name): given up, and its files are removed"))
            } else {
                messages.append(
                    RunNotice.Text(
                        .remark,
                        "\(name): given up; some of its files cannot be removed now, for example on a disk that is not "
                            + "mounted; a later run removes them"))
            }
            if successor == .never, run.condition == .detached {
                messages.append(
                    RunNotice.Text(
                        .remark, "\(name): jobs that were submitted by hand, or by scripts, are to be ended there"))
            }
            return messages
        case .done, .failed, .stopped:
            // The coordinator may have been killed before it removed the folder.
            await Blocking.run { RunFolder.sweep(state: state) }
            return [RunNotice.Text(.result, "\(name): has ended already")]
        }
    }

    /// The job in the cluster's queue that will continue the run.
    package func successor(of run: RunStatus) async -> SubmittedJobs.Successor {
        guard let scratch = run.folder.scratch else { return .never }
        return await SubmittedJobs(of: ShardFolder(scratch)).successor(on: SlurmSystem())
    }

    /// Cancels jobs that a killed coordinator left in the queues of clusters.
    private static func endJobs(
        of jobs: SubmittedJobs, _ system: (EngineName) throws -> (any BatchSystem)?
    ) async throws {
        try await cancelling(in: SlurmSystem()) { () throws(BatchError) in
            try await jobs.endCoordinators(on: SlurmSystem())
        }
        for engine in jobs.engines {
            // Slurm needs no settings: any node can cancel its jobs, whatever this user's state folder is on.
            let known: (any BatchSystem)? = engine == .slurm ? SlurmSystem() : try system(engine)
            guard let system = known else { continue }
            try await cancelling(in: system) { () throws(BatchError) in
                try await jobs.endArrays(before: .max, on: system)
            }
        }
    }

    private static func cancelling(
        in system: any BatchSystem, _ cancel: () async throws(BatchError) -> Void
    ) async throws(FarmError) {
        do {
            try await cancel()
        } catch {
            throw FarmError(
                .unavailable,
                "the run's jobs are in \(system.traits.name)'s queue and cannot be cancelled: \(error.message)")
        }
    }
}
