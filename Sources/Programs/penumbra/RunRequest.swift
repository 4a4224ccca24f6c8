import FoundationEssentials

/// The command that began a run, so that it can be given again.
struct RunRequest: Hashable, Codable, Sendable {
    /// Those of `penumbra run`, without the command.
    var arguments: [String] = []
    /// Where it was given.
    var folder = "/"

    var json: String {
        // Strings alone, which JSON always can.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    init() {}

    init(arguments: [String], folder: String) {
        self.arguments = arguments
        self.folder = folder
    }

    /// Nil for what another version of Penumbra wrote.
    init?(json: String) {
        guard let request = try? JSONDecoder().decode(RunRequest.self, from: Data(json.utf8)) else { return nil }
        self = request
    }
}
