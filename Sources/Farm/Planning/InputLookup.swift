package import Catalogs
package import JobModel

/// Finds out whether a path is an input of a job, or would be one if a file existed there. Opens no file.
package struct InputLookup {
    private let job: JobSpec
    private let catalog: Catalog

    package init(_ job: JobSpec, catalog: Catalog) {
        self.job = job
        self.catalog = catalog
    }

    /// The entry of `inputs` that matches a file at this path. Nil if none does.
    package func entry(taking path: String) -> String? {
        var collisions = OutputInputCollision(InputRules(job, pictures: catalog.inputExtensions(of: job)))
        return collisions.pattern(taking: path)?.text
    }

    /// The input that is the same file, under any name. Nil if there is none, or if the inputs cannot be found.
    package func input(being identity: FileStamp.Identity) -> String? {
        // If the inputs cannot be found, only their names can be compared. ``entry(taking:)`` does that.
        guard let plan = try? JobPlan(job, catalog: catalog, date: "", selection: JobPlan.Selection()) else {
            return nil
        }
        return zip(plan.frames, plan.inputStamps()).first { $0.1?.identity == identity }?.0.input.path
    }
}

/// Finds the outputs that would be inputs of the next run. Inspects every folder once.
struct OutputInputCollision {
    private let rules: InputRules
    /// For each folder the rules for its own path and for its real path.
    private var known: [PathKey: [FolderRules]] = [:]

    init(_ rules: InputRules) {
        self.rules = rules
    }

    /// A link at the path itself does not matter, because publishing replaces it.
    mutating func pattern(taking path: String) -> InputPattern? {
        let folder = PathText.folder(of: path)
        let found = known[PathKey(folder)] ?? inspect(folder)
        guard !found.isEmpty else { return nil }
        let name = Array(PathText.name(of: path).utf8)[...]
        return found.lazy.compactMap { $0.pattern(matching: name) }.first
    }

    private mutating func inspect(_ folder: String) -> [FolderRules] {
        let real = realPath(folder)
        let found = (PathKey(real) == PathKey(folder) ? [folder] : [folder, real])
            .map { FolderRules(rules, in: Array($0.utf8)) }.filter { !$0.takesNothing }
        known[PathKey(folder)] = found
        return found
    }
}
