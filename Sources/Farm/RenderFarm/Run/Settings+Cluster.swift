import BatchSystems
package import Cluster
package import JobModel
package import Settings
import Shards

/// The systems that run jobs on clusters: each engine that is one has its place here.
extension Settings {
    /// That of the engine; nil for the local one.
    package func batchSystem() throws(FarmError) -> (any BatchSystem)? {
        engine.value.isCluster ? try batchSystem(for: engine.value) : nil
    }

    /// That which has the jobs of a run, whatever the engine is now.
    package func batchSystem(of jobs: SubmittedJobs) throws(FarmError) -> any BatchSystem {
        try batchSystem(for: jobs.engine ?? .slurm)
    }

    private func batchSystem(for engine: EngineName) throws(FarmError) -> any BatchSystem {
        guard engine == .commands else { return SlurmSystem() }
        guard let commands = commands.value else {
            throw FarmError(
                .usage,
                "the engine 'commands' needs the site's commands\n   = name them by 'submit', 'status', 'cancel' and 'describe' "
                    + "under 'commands' in the config file; docs/commands.md has what they do")
        }
        return CommandSystem(commands)
    }

    /// What is wanted of a job on a cluster.
    ///
    /// - Parameter arguments: further ones of `sbatch`, from the command line.
    package func clusterOptions(for job: JobSpec, arguments: [String]) -> ClusterOptions {
        var flags = ClusterOptions()
        if !arguments.isEmpty { flags.arguments = arguments }
        return flags.over((job.slurm ?? ClusterOptions()).over(slurm.value))
    }
}
