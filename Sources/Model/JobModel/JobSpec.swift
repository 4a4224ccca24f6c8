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
    public var chain: [FilterInvocation]
    public var output: OutputTemplate
    public var save: SaveOptions
    public var color: ColorPolicy
    public var tile: TileSize
    public var shard: ShardMode
    public var existing: ExistingPolicy
    /// Attempts of a task after its first.
    public var retries: Int
    public var timeout: TimeLimit
    public var maxPixels: Int
    public var verify: VerifyLevel

    public init(
        name: String, summary: String = "", manifestPath: String, folder: String, inputs: [String],
        exclude: [String] = [], chain: [FilterInvocation], output: OutputTemplate, save: SaveOptions = SaveOptions(),
        color: ColorPolicy = .keep, tile: TileSize = .auto, shard: ShardMode = .auto,
        existing: ExistingPolicy = .overwrite, retries: Int = 2, timeout: TimeLimit = .auto,
        maxPixels: Int = 2_000_000_000, verify: VerifyLevel = .digest
    ) {
        self.name = name
        self.summary = summary
        self.manifestPath = manifestPath
        self.folder = folder
        self.inputs = inputs
        self.exclude = exclude
        self.chain = chain
        self.output = output
        self.save = save
        self.color = color
        self.tile = tile
        self.shard = shard
        self.existing = existing
        self.retries = retries
        self.timeout = timeout
        self.maxPixels = maxPixels
        self.verify = verify
    }
}
