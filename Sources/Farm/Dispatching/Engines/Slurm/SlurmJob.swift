/// A job before Slurm knows it.
package protocol SlurmJob: Sendable {
    /// Unique: by it a submission is found again whose answer was lost.
    var name: String { get }

    /// Those of `sbatch`, without the script.
    ///
    /// - Parameters:
    ///   - folder: the run's, on the shared file system.
    ///   - logs: the folder of what jobs print.
    func arguments(_ options: SlurmOptions, folder: String, logs: String) -> [String]

    /// Replaces itself by the program, so that Slurm's signals reach that.
    func script(program: String, folder: String) -> String
}

extension SlurmJob {
    fileprivate func common(_ options: SlurmOptions, folder: String, output: String, logs: String) -> [String] {
        [
            "--parsable", "--job-name=\(name)", "--comment=\(name)",
            // Of a pattern: a percent sign is written twice.
            "--output=\(logs.replacing("%", with: "%%"))/\(output)", "--open-mode=append", "--requeue",
            "--chdir=\(folder)",
        ] + options.placement
    }

    fileprivate func quoted(_ text: String) -> String { "'\(text.replacing("'", with: #"'\''"#))'" }
}

/// A job array: one element a shard.
package struct ArrayJob: Hashable, SlurmJob {
    package let name: String
    /// The shard of the element with index 0; the others follow.
    package let firstShard: Int
    package let count: Int

    package init(name: String, firstShard: Int, count: Int) {
        self.name = name
        self.firstShard = firstShard
        self.count = count
    }

    package var shards: Range<Int> { firstShard..<(firstShard + count) }

    /// The same shards in two, for a site that takes no more at once. Nil for a single one.
    package var halves: (ArrayJob, ArrayJob)? {
        guard count > 1 else { return nil }
        let half = count / 2
        return (
            ArrayJob(name: "\(name)a", firstShard: firstShard, count: half),
            ArrayJob(name: "\(name)b", firstShard: firstShard + half, count: count - half)
        )
    }

    package func arguments(_ options: SlurmOptions, folder: String, logs: String) -> [String] {
        common(options, folder: folder, output: "%A_%a.out", logs: logs)
            + ["--array=0-\(count - 1)%\(options.throttle)"] + options.needs + options.arguments
    }

    package func script(program: String, folder: String) -> String {
        """
        #!/bin/sh
        exec \(quoted(program)) shard --run \(quoted(folder)) --index "$((SLURM_ARRAY_TASK_ID + \(firstShard)))"

        """
    }
}

/// A job that goes on with a run as its coordinator.
package struct CoordinatorJob: Hashable, SlurmJob {
    package let name: String
    /// The jobs that have to end first, however they do: a dependency on their success could wait for ever.
    package let after: [String]
    /// The run as `penumbra resume` takes it.
    package let runFolder: String
    /// How long it waits at least.
    package let delay: Duration
    /// How many frames the run had left when it was submitted; nil where nobody knows.
    package let left: Int?

    package init(
        name: String, after: [String], runFolder: String, delay: Duration = .zero, left: Int? = nil
    ) {
        self.name = name
        self.after = after
        self.runFolder = runFolder
        self.delay = delay
        self.left = left
    }

    package func arguments(_ options: SlurmOptions, folder: String, logs: String) -> [String] {
        let arguments = common(options.ofCoordinator, folder: folder, output: "coordinator-%j.out", logs: logs)
        let turn =
            (after.isEmpty ? [] : ["--dependency=afterany:\(after.joined(separator: ":"))"])
            + (delay > .zero ? ["--begin=now+\(delay.components.seconds)"] : [])
        // Of a word that is given twice the last one counts: what is said of elements alone does not hold for it.
        return options.arguments + arguments + options.ofCoordinator.needs + turn
    }

    package func script(program: String, folder: String) -> String {
        """
        #!/bin/sh
        exec \(quoted(program)) resume --run-dir \(quoted(runFolder)) --engine slurm --as-job

        """
    }
}
