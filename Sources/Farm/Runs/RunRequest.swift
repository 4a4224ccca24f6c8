package import JobModel
public import JobStorage

/// A request for a run. It is stored with the run, so that another process, another machine or a later version can resume
/// it.
///
/// Paths are absolute, or relative to ``folder``. Every value except the manifests has a default.
public struct RunRequest: Hashable, Sendable, StoredJSON {
    /// Version 1 stored only the words of a command line: see ``arguments``.
    package static let latestVersion = 2

    package var version = latestVersion
    /// The folder of relative paths.
    public var folder = "/"
    public var manifests: [Manifest] = []
    /// Changes of the manifests' values for this run: `filters[0].gaussian.radius=14`.
    public var overrides: [String] = []

    /// Only inputs that match one of these patterns; empty for all inputs.
    public var only: [String] = []
    /// The largest number of frames with work, counted from the first; nil for all.
    public var limit: Int?
    /// A file with the list of inputs, in place of the manifest's `inputs`. `-` is the standard input, which other
    /// processes cannot read again.
    package var filesFrom: String?
    /// The inputs that `penumbra retry` chose, including broken ones; nil for all.
    package var inputs: [String]?
    /// Only damaged outputs of ``inputs`` are made again; nil otherwise.
    package var repair: Repair?
    /// The run whose concluded frames are passed over by `penumbra retry --state left`; nil otherwise.
    package var leftOf: String?

    /// Renders everything again, and replaces any files at the outputs' paths.
    public var isForced = false
    /// Allows entries of `inputs` that match nothing, and missing disks of pictures.
    public var allowsEmpty = false
    /// Pictures and outputs that are missing since the last run were removed on purpose.
    public var allowsGone = false
    /// Known broken pictures and kept outputs count as failures.
    package var isStrict = false
    /// Tries pictures again that earlier runs have found broken.
    package var triesBroken: Bool {
        get { retryBroken ?? false }
        set { retryBroken = newValue ? true : nil }
    }
    /// Nil for false, so that requests without it keep the text that earlier versions have stored.
    private var retryBroken: Bool?
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
    /// Hands the work to a cluster, and ends the process.
    package var isDetached = false

    package var reportPage: String?
    package var metricsFile: String?
    /// Prints nothing if all is well.
    package var isQuiet = false
    /// Prints JSON lines.
    package var printsJSON = false

    /// The arguments of `penumbra run`, in version 1 only. That version stores nothing else of the command.
    package private(set) var arguments: [String]?

    public struct Manifest: Hashable, Sendable, Codable {
        /// If ``text`` is given, the file need not exist. The path identifies the job, and its folder is that of relative
        /// paths in the manifest.
        public var path: String
        /// The text of the manifest; nil to read the file.
        public var text: String?

        public init(path: String, text: String? = nil) {
            self.path = path
            self.text = text
        }
    }

    /// Damaged outputs that a run makes again.
    package struct Repair: Hashable, Sendable, Codable {
        package struct Output: Hashable, Sendable, Codable {
            package let path: String
            /// What is at the path. If other bytes are there by then, the output is no more damaged than any other. Nil for nothing.
            package let found: Digest?

            package init(path: String, found: Digest?) {
                (self.path, self.found) = (path, found)
            }
        }

        /// The name of the job that published them.
        package let job: String
        package let outputs: [Output]

        package init(job: String, outputs: [Output]) {
            (self.job, self.outputs) = (job, outputs)
        }
    }

    /// What happens to outputs whose inputs are gone.
    package enum Orphans: String, Hashable, Sendable, Codable {
        case listed
        /// Removed, unless there are too many.
        case removed
        case allRemoved
    }

    public init(manifests: [Manifest], folder: String) {
        self.manifests = manifests
        self.folder = folder
    }

    /// Whether it repeats some frames of another run.
    package var isRetry: Bool { inputs != nil || leftOf != nil }

    /// False for a request of a later version of Penumbra, which may contain unknown values.
    package var isKnown: Bool { version <= Self.latestVersion }
}

extension RunRequest {
    private enum CodingKeys: String, CodingKey {
        case version, folder, manifests, overrides, only, limit, filesFrom, inputs, repair, leftOf, isForced,
            allowsEmpty,
            allowsGone
        case isStrict, retryBroken, orphans, lockWait, deadline, isWatching, engine, slurmArguments, workers,
            configFile, stateFolder
        case scratch, isDetached, reportPage, metricsFile, isQuiet, printsJSON, arguments
    }

    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        /// Values that an earlier version did not store keep their defaults.
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
        try read(.repair, &repair)
        try read(.leftOf, &leftOf)
        try read(.isForced, &isForced)
        try read(.allowsEmpty, &allowsEmpty)
        try read(.allowsGone, &allowsGone)
        try read(.isStrict, &isStrict)
        try read(.retryBroken, &retryBroken)
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
