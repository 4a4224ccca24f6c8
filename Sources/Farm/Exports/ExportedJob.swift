/// A job whose work another scheduler hands out, in three steps: prepare, shards, finish. All paths are absolute.
package struct ExportedJob: Hashable, Sendable {
    /// A job's name has letters, digits, dots, hyphens and underscores alone.
    package let name: String
    package let manifest: String
    /// Changes of the manifest, as `--set` takes them.
    package var overrides: [String] = []
    /// Which pictures, as arguments of `penumbra prepare`.
    package var preparation: [String] = []
    /// What patterns in ``preparation`` count from, and the entries of a list.
    package var startFolder = "/"
    package var configFile: String?
    /// Where the farm's machines have penumbra: a path, or a name that they look up.
    package let program: String
    /// `x86_64` or `arm64` where the program is a file that runs on no other.
    package var architecture: String?
    /// Folders and files that the job reads beside its manifest.
    package var folders: [String] = []
    package var files: [String] = []
    /// The folders that the outputs are below.
    package var outputs: [String] = []
    /// What the steps share; below the outputs or elsewhere.
    package let runFolder: String
    package let size: Size

    /// How the work is cut up, and what a machine needs that does a part of it.
    package struct Size: Hashable, Sendable {
        package let shards: Int
        /// Of a machine, with a worker process on each.
        package let cores: Int
        /// Of a machine, in bytes.
        package let memory: Int
        /// How long the longest task may take by estimate, in seconds of one core.
        package let longestTask: Double

        package init(shards: Int, cores: Int, memory: Int, longestTask: Double) {
            self.shards = shards
            self.cores = cores
            self.memory = memory
            self.longestTask = longestTask
        }
    }

    package init(name: String, manifest: String, program: String, runFolder: String, size: Size) {
        self.name = name
        self.manifest = manifest
        self.program = program
        self.runFolder = runFolder
        self.size = size
    }

    /// Shards that a job may be cut into: each has a file, and each is a task of the other scheduler.
    package static let shardCounts = 1...1024
}
