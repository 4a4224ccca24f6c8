package import JobModel
public import JobStorage

/// What a run is asked for. It is stored with the run, so that the run can be resumed by another process, on another machine, or by
/// a later version.
///
/// Paths are absolute, or start from ``folder``. Every value but the manifests has a default.
public struct RunRequest: Hashable, Sendable, StoredJSON {
    /// Version 1 stored only the words of a command line: see ``arguments``.
    package static let latestVersion = 2

    package var version = latestVersion
    /// Where relative paths start.
    public var folder = "/"
    public var manifests: [Manifest] = []
    /// Changes of the manifests' values for this run: `filters[0].gaussian.radius=14`.
    public var overrides: [String] = []

    /// Inputs have to match one of these patterns; empty for all inputs.
    public var only: [String] = []
    /// So many frames that there is something to do with, counted from the first; nil for all.
    public var limit: Int?
    /// A file that names the inputs, in place of the manifest's `inputs`. `-` is the standard input, which no other process can
    /// read again.
    package var filesFrom: String?
    /// The inputs that `penumbra retry` chose, with those that are broken; nil for all.
    package var inputs: [String]?
    /// The run whose frames are passed by if they have ended. `penumbra retry --state left` does the others; nil otherwise.
    package var leftOf: String?

    /// Everything is made again, and replaces whatever is at the outputs' paths.
    public var isForced = false
    /// Entries of `inputs` may match nothing, and disks of pictures may be missing.
    public var allowsEmpty = false
    /// Pictures and outputs that are gone since the last run were removed on purpose.
    public var allowsGone = false
    /// Broken pictures that are known, and outputs that are kept, count as failures.
    package var isStrict = false
    package var orphans = Orphans.listed
    /// How long to wait for other runs to end, in seconds.
    public var lockWait = 0.0
    /// The run ends cleanly after so many seconds; nil for no deadline.
    public var deadline: Double?
    /// The run is repeated whenever its inputs or manifests change.
    package var isWatching = false

    package var engine: EngineName?
    package var slurmArguments: [String] = []
    package var workers: Int?
    package var configFile: String?
    package var stateFolder: String?
    package var scratch: String?
    /// The work is handed to a cluster, and the process that asked for it ends.
    package var isDetached = false

    package var reportPage: String?
    package var metricsFile: String?
    /// Nothing is printed if all is well.
    package var isQuiet = false
    /// JSON lines are printed.
    package var printsJSON = false

    /// The words behind `penumbra run`, in version 1 only. That version stores nothing else of the command.
    package private(set) var arguments: [String]?

    public struct Manifest: Hashable, Sendable, Codable {
        /// With ``text``: a file that need not exist. Jobs are known by it, and relative paths in the manifest start from its folder.
        public var path: String
        /// Nil if the file holds the manifest.
        public var text: String?

        public init(path: String, text: String? = nil) {
            self.path = path
            self.text = text
        }
    }

    /// What becomes of outputs whose inputs are gone.
    package enum Orphans: String, Hashable, Sendable, Codable {
        case listed
        /// Removed, unless they are many.
        case removed
        case allRemoved
    }

    public init(manifests: [Manifest], folder: String) {
        self.manifests = manifests
        self.folder = folder
    }

    /// It repeats some frames of another run.
    package var isRetry: Bool { inputs != nil || leftOf != nil }

    /// False for a request that a later version of Penumbra has stored: it may ask for what this one does not know.
    package var isKnown: Bool { version <= Self.latestVersion }
}

extension RunRequest {
    private enum CodingKeys: String, CodingKey {
        case version, folder, manifests, overrides, only, limit, filesFrom, inputs, leftOf, isForced, allowsEmpty,
            allowsGone
        case isStrict, orphans, lockWait, deadline, isWatching, engine, slurmArguments, workers, configFile, stateFolder
        case scratch, isDetached, reportPage, metricsFile, isQuiet, printsJSON, arguments
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        /// What a version did not know has its default.
        func read<Value: Decodable>(_ key: CodingKeys, _ value: inout Value) throws {
            if let found = try values.decodeIfPresent(Value.self, forKey: key) { value = found }
        }
        func read<Value: Decodable>(_ key: CodingKeys, _ value: inout Value?) throws {
            value = try values.decodeIfPresent(Value.self, forKey: key)
        }
        version = 1
        try read(.version, &version)
        version = max(1, version)
        try read(.folder, &folder)
        try read(.manifests, &manifests)
        try read(.overrides, &overrides)
        try read(.only, &only)
        try read(.limit, &limit)
        try read(.filesFrom, &filesFrom)
        try read(.inputs, &inputs)
        try read(.leftOf, &leftOf)
        try read(.isForced, &isForced)
        try read(.allowsEmpty, &allowsEmpty)
        try read(.allowsGone, &allowsGone)
        try read(.isStrict, &isStrict)
        try read(.orphans, &orphans)
        try read(.lockWait, &lockWait)
        try read(.deadline, &deadline)
        try read(.isWatching, &isWatching)
        try read(.engine, &engine)
        try read(.slurmArguments, &slurmArguments)
        try read(.workers, &workers)
        try read(.configFile, &configFile)
        try read(.stateFolder, &stateFolder)
        try read(.scratch, &scratch)
        try read(.isDetached, &isDetached)
        try read(.reportPage, &reportPage)
        try read(.metricsFile, &metricsFile)
        try read(.isQuiet, &isQuiet)
        try read(.printsJSON, &printsJSON)
        try read(.arguments, &arguments)
    }
}
