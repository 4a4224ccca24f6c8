/// What a user wants of the jobs that Slurm runs for him. Nil is Slurm's own choice.
package struct SlurmOptions: Hashable, Sendable {
    package var partition: String?
    package var account: String?
    package var qos: String?
    /// In seconds; Slurm counts minutes.
    package var time: Double?
    /// Of an element, in bytes.
    package var memory: Int?
    /// Of a coordinator's job, in seconds. Another follows it when that is not enough.
    package var coordinatorTime: Double?
    /// Of a coordinator's job, in bytes.
    package var coordinatorMemory: Int?
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
