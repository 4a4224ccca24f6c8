package import JobModel
package import JobStorage
package import SafeFiles

/// What is recorded of a job and its outputs.
package struct LedgerContents: Sendable {
    package var records: [OutputRecord] = []
    package var broken: [BrokenRecord] = []
    /// The texts of the outputs' recipes.
    package var recipes: [RecipeID: String] = [:]
    /// What the last run found at the job's inputs and outputs.
    package var places = KnownDisks()
    /// Finds out who else published outputs; nil for a job without a manifest.
    package var priorLookup: PriorLookup?
    /// Why indexes are not trusted that have more than the database.
    package var distrusted: [FileTrouble] = []
    /// The runs of the job, the latest first.
    package var runs: [RunRecord] = []
    /// The inputs that were being rendered when the deadlines of the latest runs came. The runs count back to
    /// the first one that had time for all frames. These inputs may take longer than the time of a run.
    package var tooSlow: Set<PathKey> = []

    package init() {}

    /// Forgets the pictures that failed since a run began. Its coordinator was killed before it reported them,
    /// so they are tried again and reported then.
    package mutating func forgetBroken(since run: String) {
        guard let run = runs.first(where: { $0.name == run }) else { return }
        broken.removeAll { Int64($0.since) >= run.started / 1_000_000_000 }
    }

    /// Reads the contents of the database.
    ///
    /// - Parameter settled: the last outputs that a killed run published.
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
    /// The exit code of a run that ended at its deadline.
    private static let workLeft = 3

    /// Adds the contents of an index, if it is trusted.
    mutating func add(_ index: OutputIndex, _ compare: ComparePolicy) throws(FileTrouble) {
        let (read, distrust) = try index.contents()
        let found = read.settled(below: index.folder, by: compare)
        guard let distrust else { return add(found, below: index.folder, compare) }
        let known = Dictionary(records.map { (PathKey($0.path), $0) }) { $1 }
        if found.hasNews(beside: known, below: index.folder, by: compare) { distrusted.append(distrust) }
    }

    private mutating func add(_ found: IndexContents, below folder: String, _ compare: ComparePolicy) {
        var ids = Dictionary(recipes.map { ($1, $0) }) { $1 }
        var known = Dictionary(records.map { (PathKey($0.path), $0) }) { $1 }
        for text in found.recipes where ids[text] == nil {
            // The numbers of the database begin with 1. These numbers are negative and decrease.
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
    /// Whether the index has outputs of the job that are not known yet.
    func hasNews(beside known: [PathKey: OutputRecord], below folder: String, by compare: ComparePolicy) -> Bool {
        outputs.values.contains { output in
            let record = output.record(in: folder, recipe: RecipeID(place: output.recipe), encodings: encodings)
            // The numbers of its recipes are not compared, because they are its own.
            return known[PathKey(record.path)].map { $0.file != record.file && record.isInPlace(by: compare) } ?? true
        }
    }
}

extension OutputRecord {
    /// Whether the published file, or the one that was about to be published, is at the path.
    func isInPlace(by compare: ComparePolicy = .stamp) -> Bool {
        let isFolder = FileSystem.isOwnFolder(path)
        let stamp = FileSystem.outputStamp(path, isFolder: isFolder)
        // The stamp of a folder has the number of files in place of an inode.
        return stamp?.isUntouched(since: file.stamp, by: isFolder ? .stamp : compare) == true
    }

    /// Whether an index overrides the database. If they say different things about an output, the file itself
    /// decides.
    func isNews(beside known: OutputRecord?, by compare: ComparePolicy) -> Bool {
        guard let known else { return true }
        return known != self && isInPlace(by: compare)
    }
}

/// Updates a database from indexes that have more than the database, because it was lost or is older.
struct IndexImport {
    let store: JobStore
    let job: JobID
    let compare: ComparePolicy
    /// All indexes of the job.
    let indexes: [OutputIndex]

    enum Outcome {
        /// The database and the index have the same outputs.
        case alike
        /// The index lacks outputs of the database: a power failure has cut it, or it comes from a backup. The
        /// database then does not record the index's mark.
        case lacking
        /// The index has more than the database, and is not trusted.
        case distrusted(FileTrouble)
    }

    func add(_ index: OutputIndex) throws -> Outcome {
        guard let mark = index.mark, try store.read({ try $0.indexMark(of: job, at: index.path) }) != mark else {
            return .alike
        }
        let (read, distrust) = try index.contents()
        let found = read.settled(below: index.folder, by: compare)
        let known = try store.read { try $0.outputs(of: job) }.map { (PathKey($0.path), $0) }
        if let distrust {
            return found.hasNews(beside: Dictionary(known) { $1 }, below: index.folder, by: compare)
                ? .distrusted(distrust) : .alike
        }
        return try store.write { writer in
            let ids = try found.recipes.map { try writer.recipe($0) }
            var records = Dictionary(known) { $1 }
            var news: [OutputRecord] = []
            for output in found.outputs.values {
                let record = output.record(in: index.folder, recipe: ids[output.recipe], encodings: found.encodings)
                let key = PathKey(record.path)
                guard record.isNews(beside: records[key], by: compare) else { continue }
                records[key] = record
                news.append(record)
            }
            try writer.publish(news, job: job)
            // A settled intent has no line of its own as an output. The rewritten index will have it.
            let isWhole = !lacks(index, read, records.values, ids)
            if isWhole { try writer.setIndexMark(mark, of: job, at: index.path) }
            return isWhole ? .alike : .lacking
        }
    }

    private func lacks(
        _ index: OutputIndex, _ found: IndexContents, _ records: some Sequence<OutputRecord>, _ ids: [RecipeID]
    ) -> Bool {
        records.contains { record in
            guard indexes.holding(record.path) === index else { return false }
            let path = PathNames.relative(record.path, to: index.folder) ?? record.path
            guard let output = found.outputs[PathKey(path)] else { return true }
            return output.record(in: index.folder, recipe: ids[output.recipe], encodings: found.encodings) != record
        }
    }
}

extension [OutputIndex] {
    /// The innermost index whose folder has a path.
    func holding(_ path: String) -> OutputIndex? {
        filter { PathNames.isBelow(path, $0.folder) }.max { $0.folder.utf8.count < $1.folder.utf8.count }
    }
}
