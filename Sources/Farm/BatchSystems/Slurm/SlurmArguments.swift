package import Cluster
package import JobModel

/// As options of `sbatch`, each a word.
extension ClusterOptions {
    /// Of a job that does shards.
    package var requests: [String] { placement + needs + (arguments ?? []) }

    /// Where any job of a run goes, and for how long.
    fileprivate var placement: [String] {
        var words = ["--nodes=1", "--ntasks=1"]
        if let partition { words.append("--partition=\(partition)") }
        if let account { words.append("--account=\(account)") }
        if let qos { words.append("--qos=\(qos)") }
        if let time { words.append("--time=\(max(1, Int((time / 60).rounded(.up))))") }
        return words
    }

    /// Those of a job that goes on with the run: it waits for others most of the time, for as long as the run lasts.
    fileprivate var ofCoordinator: ClusterOptions {
        var options = self
        (options.time, options.memory, options.cpusPerTask) = (coordinatorTime, coordinatorMemory, 1)
        return options
    }

    /// What a job has of its node.
    fileprivate var needs: [String] {
        ["--cpus-per-task=\(cores)"] + (memory.map { ["--mem=\(max(1, $0 >> 20))M"] } ?? [])
    }
}

extension Submission {
    /// Those of `sbatch`, without the script.
    package var slurmArguments: [String] {
        let exported = variables.isEmpty ? [] : ["--export=\(variables.joined(separator: ","))"]
        switch job {
        case .array(let array):
            return exported + common(options, output: "%A_%a.out")
                + ["--array=0-\(array.count - 1)%\(options.elementsAtOnce)"] + options.needs + (options.arguments ?? [])
        case .coordinator(let job):
            let turn =
                (job.after.isEmpty ? [] : ["--dependency=afterany:\(job.after.joined(separator: ":"))"])
                + (job.delay > .zero ? ["--begin=now+\(job.delay.components.seconds)"] : [])
            // Of a word that is given twice the last one counts: what is said of elements alone does not hold for it.
            return exported + (options.arguments ?? []) + common(options.ofCoordinator, output: "coordinator-%j.out")
                + options.ofCoordinator.needs + turn
        }
    }

    private func common(_ options: ClusterOptions, output: String) -> [String] {
        [
            "--parsable", "--job-name=\(job.name)", "--comment=\(job.name)",
            // Of a pattern: a percent sign is written twice.
            "--output=\(logs.replacing("%", with: "%%"))/\(output)", "--open-mode=append", "--requeue",
            "--chdir=\(folder)",
        ] + options.placement
    }

    package var slurmScript: String {
        let command =
            switch job {
            case .array(let array):
                "shard --run \(folder.shellQuoted) --index \"$((SLURM_ARRAY_TASK_ID + \(array.firstShard)))\""
            case .coordinator(let job):
                "resume --run-dir \(job.runFolder.shellQuoted) --engine slurm --as-job"
            }
        return "#!/bin/sh\nexec \(program.shellQuoted) \(command)\n"
    }
}
