/// The checked content of a manifest. It contains only values. Nothing has been looked up on disk.
public struct JobSpec: Hashable, Sendable, Codable {
    public var name: String
    public var summary: String
    /// The manifest's real path.
    public var manifestPath: String
    /// The folder of relative paths: the manifest's own.
    public var folder: String
    /// Glob patterns, relative to `folder` or absolute.
    public var inputs: [String]
    public var exclude: [String]
    /// The filters that all outputs share.
    public var chain: [FilterInvocation]
    /// At least one.
    public var outputs: [JobOutput]
    public var color: ColorPolicy
    public var tile: TileSize
    public var shard: ShardMode
    public var existing: ExistingPolicy
    /// Further attempts at a task after the first.
    public var retries: Int
    public var timeout: TimeLimit
    public var maxPixels: Int
    /// How finely PDF and SVG are drawn, in pixels for each inch. Nil for 72. (Jobs that earlier versions have
    /// stored have no such key.)
    public var dpi: Int?
    public var verify: VerifyLevel
    public var compare: ComparePolicy
    public var upgrade: UpgradePolicy
    public var durability: Durability
    public var maxFailures: FailureLimit
    /// Files that were changed within this many seconds are left for the next run.
    public var minAge: Double
    /// The path of the list of outputs, relative to `folder` or absolute.
    public var index: String?
    public var receipts: ReceiptPolicy
    /// How many pictures the job has to find before it starts. Nil for any number.
    public var expect: InputExpectation?
    /// Nil keeps earlier outputs. (Jobs that earlier versions have stored have no such key.)
    public var onFailure: FailedOutputPolicy?
    /// Options for a cluster. They do not affect the outputs.
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

    /// Whether names are known only after the pictures were probed.
    public var needsProbe: Bool { outputs.contains { $0.template.needsProbe } }

    /// Whether names are known only after the pictures' bytes were read.
    public var needsContent: Bool { outputs.contains { $0.template.needsContent } }

    /// Whether names depend on the day, or on the other inputs.
    public var namesOrder: Bool { outputs.contains { $0.template.namesOrder } }

    /// Whether the outputs are animations, or frames of one.
    public var isAnimated: Bool { outputs.contains { !$0.animations.isEmpty } }

    /// Whether every page of an input, or of its animation, is a frame of its own.
    public var rendersPages: Bool { outputs.contains { $0.template.namesPages } }

    /// The pages that are read of an input. If pages are frames, the first page.
    public var pages: PageChoice {
        if isAnimated { return rendersPages ? .frame(0) : .first }
        return rendersPages ? .first : .animation
    }
}
