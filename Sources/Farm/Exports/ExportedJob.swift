/// A job that another scheduler runs in three steps: prepare, shards, finish. All paths are absolute.
package struct ExportedJob: Hashable, Sendable {
    /// The job's name. It has only letters, digits, dots, hyphens and underscores.
    package let name: String
    package let manifest: String
    /// Changes of the manifest, as arguments of `--set`.
    package var overrides: [String] = []
    /// The selection of pictures, as arguments of `penumbra prepare`.
    package var preparation: [String] = []
    /// The folder that patterns in ``preparation``, and the entries of a list, start from.
    package var startFolder = "/"
    package var configFile: String?
    /// The program on the farm's machines: a path, or a name that they find by themselves.
    package let program: String
    /// `x86_64` or `arm64` if the program runs on no other machine.
    package var architecture: String?
    /// Folders and files that the job reads in addition to its manifest.
    package var folders: [String] = []
    package var files: [String] = []
    /// Folders that contain the outputs.
    package var outputs: [String] = []
    /// The folder that the steps share. It may be below the outputs or elsewhere.
    package let runFolder: String
    package let size: Size

    /// The number of shards, and the resources of a machine for one of them.
    package struct Size: Hashable, Sendable {
        package let shards: Int
        /// Cores of a machine. A worker process runs on each.
        package let cores: Int
        /// Memory of a machine in bytes.
        package let memory: Int
        /// The estimated time of the longest task, in seconds of one core.
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

    /// The possible numbers of shards. Each shard has a file, and is a task of the other scheduler.
    package static let shardCounts = 1...1024
}
