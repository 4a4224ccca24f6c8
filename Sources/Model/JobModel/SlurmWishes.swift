/// What is wanted of the jobs of a Slurm cluster; nil where nothing is said. It changes no pixel.
public struct SlurmWishes: Hashable, Sendable, Codable {
    public var partition: String?
    public var account: String?
    public var qos: String?
    /// Of an element, in seconds.
    public var time: Double?
    /// Of an element, in bytes.
    public var memory: Int?
    /// Of a job that goes on with a run as its coordinator, in seconds.
    public var coordinatorTime: Double?
    /// Of a job that goes on with a run as its coordinator, in bytes.
    public var coordinatorMemory: Int?
    /// Cores of an element.
    public var cpusPerTask: Int?
    /// Elements at once.
    public var throttle: Int?
    /// How long an element is to work, in seconds.
    public var shardSeconds: Double?
    /// How long the shared file system may take to show a file, in seconds.
    public var grace: Double?
    /// An absolute folder that all nodes share.
    public var folder: String?
    /// Further arguments of `sbatch`.
    public var arguments: [String]?

    public init() {}

    /// These, and what they leave open as `others` have it. Arguments of both count, these last.
    public func over(_ others: SlurmWishes) -> SlurmWishes {
        var all = others
        all.partition = partition ?? others.partition
        all.account = account ?? others.account
        all.qos = qos ?? others.qos
        all.time = time ?? others.time
        all.memory = memory ?? others.memory
        all.coordinatorTime = coordinatorTime ?? others.coordinatorTime
        all.coordinatorMemory = coordinatorMemory ?? others.coordinatorMemory
        all.cpusPerTask = cpusPerTask ?? others.cpusPerTask
        all.throttle = throttle ?? others.throttle
        all.shardSeconds = shardSeconds ?? others.shardSeconds
        all.grace = grace ?? others.grace
        all.folder = folder ?? others.folder
        if let arguments { all.arguments = (others.arguments ?? []) + arguments }
        return all
    }
}
