import JobModel
package import JobStorage

/// What was known of a job's outputs when a run began.
package struct LedgerContents: Sendable {
    package var records: [OutputRecord] = []
    package var broken: [BrokenRecord] = []
    /// How the outputs were made.
    package var recipes: [RecipeID: String] = [:]

    package init() {}

    /// What the database says; with what a run that was killed had published last.
    init(_ reader: StoreReader, _ job: JobID) throws {
        let settled = try reader.intents(of: job).filter(\.isInPlace)
        let paths = Set(settled.map(\.path))
        records = try reader.outputs(of: job).filter { !paths.contains($0.path) } + settled
        broken = try reader.broken(of: job)
        recipes = try reader.recipes()
    }
}

extension OutputRecord {
    /// The file that was published, or was about to be, is at its path.
    var isInPlace: Bool {
        let stamp = FileSystem.outputStamp(path, isFolder: FileSystem.isOwnFolder(path))
        return stamp?.isUntouched(since: file.stamp) == true
    }
}
