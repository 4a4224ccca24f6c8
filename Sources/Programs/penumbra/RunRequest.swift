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
    /// The run whose frames `penumbra retry --state left` passes by, but for those that were left; nil for a run that is none
    /// of these.
    var leftOf: String?

    /// The same with options that take the place of those that were given: of an option that is there twice, the parser takes
    /// the last one.
    func with(_ options: [String]) -> RunRequest {
        var request = self
        request.arguments.insert(contentsOf: options, at: arguments.firstIndex(of: "--") ?? arguments.endIndex)
        return request
    }

    /// Whether it asks for some frames of another run.
    var isRetry: Bool { inputs != nil || leftOf != nil }

    init() {}

    init(arguments: [String], folder: String, inputs: Set<PathKey>? = nil, leftOf: String? = nil) {
        self.leftOf = leftOf
        self.inputs = inputs?.sorted().map(\.path)
        self.arguments = arguments
        self.folder = folder
    }
}
