/// Options for jobs of a cluster. A nil value leaves the choice to the cluster, or to ``defaults``. The options change no
/// pixel.
///
/// Manifests and config files have them under `slurm`, the first supported system.
public struct ClusterOptions: Hashable, Sendable, Codable {
    /// The queue.
    public var partition: String?
    public var account: String?
    public var qos: String?
    /// For an element, in seconds.
    public var time: Double?
    /// For an element, in bytes.
    public var memory: Int?
    /// For a job that resumes a run as its coordinator, in seconds. If the time is too short, another job follows.
    public var coordinatorTime: Double?
    /// For a job that resumes a run as its coordinator, in bytes.
    public var coordinatorMemory: Int?
    /// The cores of an element. Each has a worker process.
    public var cpusPerTask: Int?
    /// The number of elements at a time.
    public var throttle: Int?
    /// The wanted time of an element, in seconds.
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

    /// The values for options that are nil and not left to the cluster.
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

    /// These options, completed by `others`. Arguments of both are used, these last.
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

/// The commands of a site that run jobs on a cluster, as absolute paths. A manifest cannot name them, because it may be
/// foreign.
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

/// The engines, which start workers. `Settings.batchSystem` of `RenderFarm` makes each cluster's system.
package enum EngineName: String, Hashable, Sendable, Codable, CaseIterable {
    /// Worker processes on this machine.
    case local
    /// Job arrays of a Slurm cluster.
    case slurm
    /// Jobs of any cluster, through commands in the site's config file.
    case commands

    package var isCluster: Bool { self != .local }
}
