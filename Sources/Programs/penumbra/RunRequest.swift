import FoundationEssentials

/// The command that began a run, so that it can be given again.
struct RunRequest: Hashable, Codable, Sendable {
    /// Those of `penumbra run`, without the command.
    var arguments: [String] = []
    /// Where it was given.
    var folder = "/"
    /// The inputs that `penumbra retry` had chosen; nil for all.
    var inputs: [String]?

    var json: String {
        // The same text for the same request: texts are compared.
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Strings alone, which JSON always can.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    init() {}

    init(arguments: [String], folder: String, inputs: Set<String>? = nil) {
        self.inputs = inputs?.sorted()
        self.arguments = arguments
        self.folder = folder
    }

    /// Nil for what another version of Penumbra wrote.
    init?(json: String) {
        guard let request = try? JSONDecoder().decode(RunRequest.self, from: Data(json.utf8)) else { return nil }
        self = request
    }
}
