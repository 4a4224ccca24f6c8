/// Why a library is not used as a plugin; a sentence that follows the file's name and says what to do.
struct PluginProblem: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// What a plugin did that no plugin may do; follows the filter's name.
struct PluginFault: Error, Hashable, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
