import JobModel
import JobStorage

/// The command that began a run, so that it can be given again.
struct RunRequest: Hashable, Sendable, StoredJSON {
    /// Those of `penumbra run`, without the command.
    var arguments: [String] = []
    /// Where it was given.
    var folder = "/"
    /// The inputs that `penumbra retry` had chosen; nil for all.
    var inputs: [String]?

    init() {}

    init(arguments: [String], folder: String, inputs: Set<PathKey>? = nil) {
        self.inputs = inputs?.sorted().map(\.path)
        self.arguments = arguments
        self.folder = folder
    }
}
