/// The folder's README file.
struct SlurmReadMe {
    let job: ExportedJob
    let folder: String

    var text: String {
        """
        # \(job.name), for Slurm

        Made by `penumbra export --to slurm`. Read the scripts, change their `#SBATCH` lines if you like, and then:

            sh \(ShellWord.quoted("\(folder)/submit.sh"))

        | script | what it does |
        |---|---|
        | submit.sh | gives the others to `sbatch`, each to begin when the one before has ended, and prints their numbers |
        | prepare.sh | finds the inputs, reads their headers, decodes pictures that are cut into tiles, writes \(job.size.shards) shards |
        | render.sh | an array: each element does one shard, with a worker process on each of its cores |
        | finish.sh | checks what the shards have done, does what is missing, joins tiles, verifies and publishes |

        All machines have to see, under the same paths: this folder, `\(job.program)`,
        the manifest `\(job.manifest)`, its inputs and outputs,
        and what the steps share, `\(job.runFolder)`.

        ## To follow it

            \(queue)
            \(penumbra("status"))
            \(penumbra("logs"))

        `submitted` has the numbers of the jobs that were submitted last. What the scripts print is in `logs`. The end of `logs/finish.*.out` says what became of the job, and the finish job's exit
        code is that of `penumbra run`: 0 when all is done.

        ## To cancel it

            scancel $(\(queue) --noheader --format=%A | sort -u)

        What was published stays. What the steps share stays, too, for the next try.

        ## To try again

            sh \(ShellWord.quoted("\(folder)/submit.sh"))

        goes on where the last try was left: shards that are done are not done again. Where little is left, this alone will do:

            cd \(ShellWord.quoted(folder)) && sbatch finish.sh

        """
    }

    /// Names are compared, too, because a controller that lost its state reuses numbers.
    private var queue: String { "squeue --name=\(names) --jobs=\"$(tr ' ' , < \(submitted))\"" }

    private var names: String { ShellWord.quoted(job.slurmNames) }

    /// The file with the jobs' numbers, which submit.sh writes.
    private var submitted: String { ShellWord.quoted("\(folder)/submitted") }

    private func penumbra(_ command: String) -> String {
        ShellWord.joined([job.program, command, "--run-dir", job.runFolder])
    }
}
