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

    /// Adds what an index knows.
    mutating func takeIn(_ found: IndexContents, below folder: String) {
        var ids = Dictionary(recipes.map { ($1, $0) }) { $1 }
        var known = Dictionary(records.map { ($0.path, $0) }) { $1 }
        for (place, text) in found.recipes.enumerated() where ids[text] == nil {
            // The database counts from 1.
            let id = RecipeID(place: -(recipes.count + place + 1))
            (ids[text], recipes[id]) = (id, text)
        }
        for output in found.outputs.values {
            guard let id = ids[found.recipes[output.recipe]] else { continue }
            let record = output.record(in: folder, recipe: id)
            if record.isNews(beside: known[record.path]) { known[record.path] = record }
        }
        records = Array(known.values)
    }
}

extension OutputRecord {
    /// The file that was published, or was about to be, is at its path.
    var isInPlace: Bool {
        let stamp = FileSystem.outputStamp(path, isFolder: FileSystem.isOwnFolder(path))
        return stamp?.isUntouched(since: file.stamp) == true
    }

    /// Where the database and an index say different things of an output, the file itself tells which is right.
    func isNews(beside known: OutputRecord?) -> Bool {
        guard let known else { return true }
        return known != self && isInPlace
    }
}
