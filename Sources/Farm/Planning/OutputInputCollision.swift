import JobModel

/// Tells which outputs the next run would take for inputs. Looks at every folder once.
struct OutputInputCollision {
    private let rules: InputRules
    /// For each folder what may be taken from it, by its own path and by its real one.
    private var known: [PathKey: [FolderRules]] = [:]

    init(_ rules: InputRules) {
        self.rules = rules
    }

    /// A link at the path itself is of no account: publishing replaces it.
    mutating func pattern(taking path: String) -> InputPattern? {
        let folder = PathText.folder(of: path)
        let found = known[PathKey(folder)] ?? look(at: folder)
        guard !found.isEmpty else { return nil }
        let name = Array(PathText.name(of: path).utf8)[...]
        return found.lazy.compactMap { $0.pattern(matching: name) }.first
    }

    private mutating func look(at folder: String) -> [FolderRules] {
        let real = realPath(folder)
        let found = (PathKey(real) == PathKey(folder) ? [folder] : [folder, real])
            .map { FolderRules(rules, in: Array($0.utf8)) }.filter { !$0.takesNothing }
        known[PathKey(folder)] = found
        return found
    }
}
