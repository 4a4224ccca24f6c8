package import Catalogs
package import JobModel

/// Tells whether a path is that of one of a job's inputs, or would be one if a file were there. Opens no file.
package struct InputLookup {
    private let job: JobSpec
    private let catalog: Catalog

    package init(_ job: JobSpec, catalog: Catalog) {
        self.job = job
        self.catalog = catalog
    }

    /// The entry of `inputs` that takes a file at this path; nil when none does.
    package func entry(taking path: String) -> String? {
        var collisions = OutputInputCollision(InputRules(job, pictures: catalog.readableExtensions))
        return collisions.pattern(taking: path)?.text
    }

    /// The input that is this very file, by whatever name; nil when none is, or the inputs cannot be found.
    package func input(being identity: FileStamp.Identity) -> String? {
        // What cannot be found cannot be told apart by more than its name, which ``entry(taking:)`` does.
        guard let plan = try? JobPlan(job, catalog: catalog, date: "", selection: JobPlan.Selection()) else {
            return nil
        }
        return zip(plan.frames, plan.inputStamps()).first { $0.1?.identity == identity }?.0.input.path
    }
}

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
