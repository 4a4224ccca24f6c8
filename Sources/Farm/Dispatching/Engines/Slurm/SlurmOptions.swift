/// What a user wants of the jobs that Slurm runs for him. Nil is Slurm's own choice.
package struct SlurmOptions: Hashable, Sendable {
    package var partition: String?
    package var account: String?
    package var qos: String?
    /// In seconds; Slurm counts minutes.
    package var time: Double?
    /// Of an element, in bytes.
    package var memory: Int?
    /// Cores of an element, each with a worker process.
    package var cpusPerTask: Int
    /// Elements at once.
    package var throttle: Int
    /// How long an element is to work.
    package var shardSeconds: Double
    /// How long a shared file system may take to show a file.
    package var grace: Double
    /// Further arguments of `sbatch`.
    package var arguments: [String]

    package init(
        partition: String? = nil, account: String? = nil, qos: String? = nil, time: Double? = nil,
        memory: Int? = nil, cpusPerTask: Int = 1, throttle: Int = 16, shardSeconds: Double = 60, grace: Double = 30,
        arguments: [String] = []
    ) {
        self.partition = partition
        self.account = account
        self.qos = qos
        self.time = time
        self.memory = memory
        self.cpusPerTask = cpusPerTask
        self.throttle = throttle
        self.shardSeconds = shardSeconds
        self.grace = grace
        self.arguments = arguments
    }
}

/// A job array before Slurm knows it: one element a shard.
package struct SlurmSubmission: Hashable, Sendable {
    /// Unique: by it a submission is found again whose answer was lost.
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

    package func arguments(_ options: SlurmOptions, folder: String, logs: String) -> [String] {
        var arguments = [
            "--parsable", "--job-name=\(name)", "--comment=\(name)", "--array=0-\(count - 1)%\(options.throttle)",
            // Of a pattern: a percent sign is written twice.
            "--output=\(logs.replacing("%", with: "%%"))/%A_%a.out", "--open-mode=append", "--requeue",
            "--chdir=\(folder)", "--nodes=1", "--ntasks=1", "--cpus-per-task=\(options.cpusPerTask)",
        ]
        if let partition = options.partition { arguments.append("--partition=\(partition)") }
        if let account = options.account { arguments.append("--account=\(account)") }
        if let qos = options.qos { arguments.append("--qos=\(qos)") }
        if let time = options.time { arguments.append("--time=\(max(1, Int((time / 60).rounded(.up))))") }
        if let memory = options.memory { arguments.append("--mem=\(max(1, memory >> 20))M") }
        return arguments + options.arguments
    }

    /// Replaces itself by the program, so that Slurm's signals reach that.
    package func script(program: String, folder: String) -> String {
        """
        #!/bin/sh
        exec \(Self.quoted(program)) shard --run \(Self.quoted(folder)) --index "$((SLURM_ARRAY_TASK_ID + \(firstShard)))"

        """
    }

    private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: #"'\''"#))'" }
}
