/// What is wanted of the jobs of a cluster; nil where nothing is said, which leaves it to the cluster, or to the values of
/// ``defaults``. It changes no pixel.
///
/// Manifests and config files have it under `slurm`, the first system that there was.
public struct ClusterOptions: Hashable, Sendable, Codable {
    /// The queue.
    public var partition: String?
    public var account: String?
    public var qos: String?
    /// Of an element, in seconds.
    public var time: Double?
    /// Of an element, in bytes.
    public var memory: Int?
    /// Of a job that goes on with a run as its coordinator, in seconds. Another follows it when that is not enough.
    public var coordinatorTime: Double?
    /// Of a job that goes on with a run as its coordinator, in bytes.
    public var coordinatorMemory: Int?
    /// Cores of an element, each with a worker process.
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

    public init(cpusPerTask: Int? = nil, throttle: Int? = nil, shardSeconds: Double? = nil, grace: Double? = nil) {
        self.cpusPerTask = cpusPerTask
        self.throttle = throttle
        self.shardSeconds = shardSeconds
        self.grace = grace
    }

    /// What holds where nothing is said, and is not left to the cluster.
    public static let defaults = ClusterOptions(
        cpusPerTask: Standard.cores, throttle: Standard.elements, shardSeconds: Standard.shardTime,
        grace: Standard.grace)

    private enum Standard {
        static let (cores, elements, shardTime, grace) = (1, 16, 60.0, 30.0)
    }

    public var cores: Int { cpusPerTask ?? Standard.cores }
    public var elementsAtOnce: Int { throttle ?? Standard.elements }
    public var shardTime: Duration { .seconds(shardSeconds ?? Standard.shardTime) }
    public var fileGrace: Duration { .seconds(grace ?? Standard.grace) }

    /// These, and what they leave open as `others` have it. Arguments of both count, these last.
    public func over(_ others: ClusterOptions) -> ClusterOptions {
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

/// The commands by which a site's own scripts run jobs on a cluster: absolute paths. A manifest, which may be somebody else's,
/// cannot name them.
public struct ClusterCommands: Hashable, Sendable, Codable {
    public var submit: String
    public var status: String
    public var cancel: String
    public var describe: String

    public init(submit: String, status: String, cancel: String, describe: String) {
        self.submit = submit
        self.status = status
        self.cancel = cancel
        self.describe = describe
    }
}

/// What starts workers. All engines are listed here; each cluster has its place in `Settings.batchSystem` of `RenderFarm`.
package enum EngineName: String, Hashable, Sendable, Codable, CaseIterable {
    /// Worker processes on this machine.
    case local
    /// Job arrays of a Slurm cluster.
    case slurm
    /// Jobs of any cluster, by commands that the site's config file names.
    case commands

    package var isCluster: Bool { self != .local }
}
