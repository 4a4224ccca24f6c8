/// What a manifest asks for, typed and checked. Values only: nothing here has been looked up on disk.
public struct JobSpec: Hashable, Sendable, Codable {
    public var name: String
    public var summary: String
    /// The manifest's real path.
    public var manifestPath: String
    /// The folder that relative paths start from: the manifest's own.
    public var folder: String
    /// Glob patterns, relative to `folder` or absolute.
    public var inputs: [String]
    public var exclude: [String]
    /// What all outputs have in common.
    public var chain: [FilterInvocation]
    /// At least one.
    public var outputs: [JobOutput]
    public var color: ColorPolicy
    public var tile: TileSize
    public var shard: ShardMode
    public var existing: ExistingPolicy
    /// Attempts of a task after its first.
    public var retries: Int
    public var timeout: TimeLimit
    public var maxPixels: Int
    public var verify: VerifyLevel
    public var compare: ComparePolicy
    public var upgrade: UpgradePolicy
    public var durability: Durability
    public var maxFailures: FailureLimit
    /// Files that were changed within so many seconds are left for the next run.
    public var minAge: Double
    /// Where the list of outputs is written, relative to `folder` or absolute.
    public var index: String?
    public var receipts: ReceiptPolicy
    /// Where it runs on a cluster. Of no account for what is made.
    public var slurm: ClusterOptions?

    public init(
        name: String, summary: String = "", manifestPath: String, folder: String, inputs: [String],
        exclude: [String] = [], chain: [FilterInvocation], outputs: [JobOutput],
        color: ColorPolicy = .keep, tile: TileSize = .auto, shard: ShardMode = .auto,
        existing: ExistingPolicy = .update, retries: Int = 2, timeout: TimeLimit = .auto,
        maxPixels: Int = 2_000_000_000, verify: VerifyLevel = .digest,
        compare: ComparePolicy = .stamp, upgrade: UpgradePolicy = .keep, durability: Durability = .file,
        maxFailures: FailureLimit = .none, minAge: Double = 0, index: String? = nil,
        receipts: ReceiptPolicy = .none
    ) {
        self.receipts = receipts
        self.compare = compare
        self.upgrade = upgrade
        self.durability = durability
        self.maxFailures = maxFailures
        self.minAge = minAge
        self.index = index
        self.name = name
        self.summary = summary
        self.manifestPath = manifestPath
        self.folder = folder
        self.inputs = inputs
        self.exclude = exclude
        self.chain = chain
        self.outputs = outputs
        self.color = color
        self.tile = tile
        self.shard = shard
        self.existing = existing
        self.retries = retries
        self.timeout = timeout
        self.maxPixels = maxPixels
        self.verify = verify
    }

    /// True when names are known only after the pictures were probed.
    public var needsProbe: Bool { outputs.contains { $0.template.needsProbe } }

    /// True when names are known only after the pictures' bytes were read.
    public var needsContent: Bool { outputs.contains { $0.template.needsContent } }

    /// True when names depend on the day, or on which other inputs there are.
    public var namesOrder: Bool { outputs.contains { $0.template.namesOrder } }

    /// True when the outputs are animations, or frames of one.
    public var isAnimated: Bool { outputs.contains { $0.animation != nil } }

    /// True when every page of an input, or of the animation that is made of it, is a frame of its own.
    public var rendersPages: Bool { outputs.contains { $0.template.namesPages } }

    /// What is read of an input; the first page of it where pages are frames.
    public var pages: PageChoice {
        if isAnimated { return rendersPages ? .frame(0) : .first }
        return rendersPages ? .first : .animation
    }
}
