package import JobModel
package import JobStorage
package import SafeFiles

/// What was known of a job's outputs when a run began.
package struct LedgerContents: Sendable {
    package var records: [OutputRecord] = []
    package var broken: [BrokenRecord] = []
    /// How the outputs were made.
    package var recipes: [RecipeID: String] = [:]
    /// What the last run found at the job's inputs and outputs.
    package var places = KnownDisks()
    /// Tells who else published outputs; nil for a job without a manifest.
    package var formers: PriorLookup?
    /// The indexes that know more than the database, and are not believed.
    package var doubts: [FileTrouble] = []
    /// Of the job, the latest first.
    package var runs: [RunRecord] = []
    /// The inputs of frames at which runs were busy when their deadlines came: of the latest runs, back to the first one that had
    /// time for all. Perhaps they take longer than there is time for.
    package var tooSlow: Set<PathKey> = []

    package init() {}

    /// Forgets the pictures that failed since a run began. Its coordinator was killed before it told anybody of them, so they are
    /// tried again, and told.
    package mutating func forgetBroken(since run: String) {
        guard let run = runs.first(where: { $0.name == run }) else { return }
        broken.removeAll { Int64($0.since) >= run.started / 1_000_000_000 }
    }

    /// What the database says.
    ///
    /// - Parameter settled: what a run that was killed had published last.
    init(_ reader: StoreReader, _ job: JobID, settled: [OutputRecord]) throws {
        let paths = Set(settled.map { PathKey($0.path) })
        records = try reader.outputs(of: job).filter { !paths.contains(PathKey($0.path)) } + settled
        broken = try reader.broken(of: job)
        recipes = try reader.recipes()
        places = try reader.places(of: job)
        runs = try reader.runs(of: job)
        for run in runs.prefix(Self.mostNights) {
            guard case .ended(let end) = run.state, end.exitCode == Self.workLeft else { break }
            tooSlow.formUnion(try reader.unfinishedInputs(of: run.id).map(PathKey.init))
        }
    }

    private static let mostNights = 10
    /// The exit code of a run that its deadline has ended.
    private static let workLeft = 3

    /// Adds what an index knows, if it is believed.
    mutating func takeIn(_ index: OutputIndex, _ compare: ComparePolicy) throws(FileTrouble) {
        let (found, doubt) = try index.contents()
        guard let doubt else { return takeIn(found, below: index.folder, compare) }
        let known = Dictionary(records.map { (PathKey($0.path), $0) }) { $1 }
        if found.hasNews(beside: known, below: index.folder, by: compare) { doubts.append(doubt) }
    }

    private mutating func takeIn(_ found: IndexContents, below folder: String, _ compare: ComparePolicy) {
        var ids = Dictionary(recipes.map { ($1, $0) }) { $1 }
        var known = Dictionary(records.map { (PathKey($0.path), $0) }) { $1 }
        for text in found.recipes where ids[text] == nil {
            // The database counts from 1; each of these makes one more.
            let id = RecipeID(place: -(recipes.count + 1))
            (ids[text], recipes[id]) = (id, text)
        }
        for output in found.outputs.values {
            guard let id = ids[found.recipes[output.recipe]] else { continue }
            let record = output.record(in: folder, recipe: id, encodings: found.encodings)
            let key = PathKey(record.path)
            if record.isNews(beside: known[key], by: compare) { known[key] = record }
        }
        records = Array(known.values)
    }
}

extension IndexContents {
    /// Whether it knows more of the job's outputs than is known already.
    func hasNews(beside known: [PathKey: OutputRecord], below folder: String, by compare: ComparePolicy) -> Bool {
        outputs.values.contains { output in
            let record = output.record(in: folder, recipe: RecipeID(place: output.recipe), encodings: encodings)
            // The numbers of its recipes are its own.
            return known[PathKey(record.path)].map { $0.file != record.file && record.isInPlace(by: compare) } ?? true
        }
    }
}

extension OutputRecord {
    /// The file that was published, or was about to be, is at its path.
    func isInPlace(by compare: ComparePolicy = .stamp) -> Bool {
        let isFolder = FileSystem.isOwnFolder(path)
        let stamp = FileSystem.outputStamp(path, isFolder: isFolder)
        // A folder's stamp has no inode: it has the number of its files there.
        return stamp?.isUntouched(since: file.stamp, by: isFolder ? .stamp : compare) == true
    }

    /// Where the database and an index say different things of an output, the file itself tells which is right.
    func isNews(beside known: OutputRecord?, by compare: ComparePolicy) -> Bool {
        guard let known else { return true }
        return known != self && isInPlace(by: compare)
    }
}
