package import JobModel
package import JobStorage
package import Runs
package import SafeFiles
import Synchronization

/// The records of a job's outputs: in the database, and in the indexes beside the outputs.
///
/// A run has it while it holds the lock of the job.
package final class Ledger: Sendable {
    package let contents: LedgerContents
    private let priorLookup: PriorLookup
    /// How the job decides whether a file is unchanged.
    let compare: ComparePolicy
    private let store: JobStore
    private let job: JobID
    private let indexes: [OutputIndex]
    /// The locked output folders. An index outside of them is not written.
    private let roots: LockedFolders
    /// Whether several machines see the run. Then its database is temporary, and its intents are in the indexes, too.
    private let isShared: Bool
    private let recipes: Mutex<[RecipeID: String]>
    /// The paths of indexes that lack outputs of the database, or have intents. They are rewritten at the end of a run.
    /// Until then the database has no marks of them, so that the next run finds what a killed run leaves.
    ///
    /// The mutex is locked while lines are written, so that an index and its mark in the database change in the
    /// same order.
    private let behind: Mutex<Set<PathKey>>

    private static let action = "write the index of the outputs there"

    /// Opens the database and updates it: from what a killed run published, and from indexes that have more
    /// than the database, because it was lost or is older.
    ///
    /// - Parameters:
    ///   - folders: the job's output folders, see ``OutputFolders``.
    ///   - roots: the same folders, as the run has locked them.
    ///   - log: the log that coordinators on all machines write; nil if only this machine sees the run.
    ///   - store: the database, if it is open already.
    package init(
        state: String, job spec: JobSpec, folders: [String], roots: LockedFolders, log: RunLog? = nil,
        store open: JobStore? = nil, calls: FileCalls = .kernel
    ) throws {
        _ = try FileSystem.createFolders(state)
        let store = try open ?? JobStore(path: JobStore.databasePath(state: state))
        let indexes = folders.map { OutputIndex(folder: $0, job: spec, calls: calls) }
        let job = try store.write { try $0.job(manifest: spec.manifestPath, name: spec.name) }
        let intents = try store.read { try $0.intents(of: job) }
        // A killed run may have renamed an output or not. The file at its path shows that.
        let settled = intents.filter { $0.isInPlace(by: spec.compare) }
        let importer = IndexImport(store: store, job: job, compare: spec.compare, indexes: indexes)
        var behind: Set<PathKey> = []
        var distrusted: [FileError] = []
        for index in indexes {
            switch try importer.add(index) {
            case .alike: break
            case .lacking: behind.insert(PathKey(index.path))
            case .distrusted(let reason): distrusted.append(reason)
            }
        }
        self.behind = Mutex(behind)
        // This follows the indexes: an output that they list as published does not count as broken any more.
        if let log { try store.write { writer in for one in log.broken(.known) { try writer.put(one, job: job) } } }
        priorLookup = PriorLookup(state: state, job: spec, folders: folders)
        var contents = try store.read { try LedgerContents($0, job, settled: settled) }
        contents.priorLookup = priorLookup
        contents.distrusted = distrusted
        self.contents = contents
        (self.store, self.job, self.indexes, compare) = (store, job, indexes, spec.compare)
        (self.roots, isShared) = (roots, log != nil)
        recipes = Mutex(contents.recipes)
        try publish(settled)
        try store.write { writer in for intent in intents { try writer.forgetIntent(intent.path, job: job) } }
    }

    /// Reads the contents without changing anything.
    package static func inspect(state: String, job spec: JobSpec, folders: [String]) throws -> LedgerContents {
        let path = JobStore.databasePath(state: state)
        var contents = LedgerContents()
        var indexes = folders.map { OutputIndex(folder: $0, job: spec) }
        if let store = try JobStore.unmigrated(at: path) {
            try store.read { reader in
                guard let job = try reader.job(manifest: spec.manifestPath, name: spec.name) else { return }
                let settled = try reader.intents(of: job).filter { $0.isInPlace(by: spec.compare) }
                contents = try LedgerContents(reader, job, settled: settled)
                indexes = try indexes.filter { try reader.indexMark(of: job, at: $0.path) != $0.mark }
            }
        }
        for index in indexes { try contents.add(index, spec.compare) }
        contents.priorLookup = PriorLookup(state: state, job: spec, folders: folders)
        return contents
    }

    /// Throws if the index of the outputs in a folder cannot be written, because a folder with files has its name.
    package static func refuseForbiddenIndex(in folder: String, of job: JobSpec) throws(FileError) {
        try OutputIndex(folder: folder, job: job).refuseFullFolder()
    }

    /// Closes the database, at the end of the run.
    package func close() { store.close() }

    /// The present records of all outputs.
    package func records() throws(StoreError) -> [OutputRecord] {
        let job = job
        return try store.read { try $0.outputs(of: job) }
    }

    /// The present contents.
    package func currentContents() throws(StoreError) -> LedgerContents {
        let job = job
        var contents = try store.read { try LedgerContents($0, job, settled: []) }
        contents.priorLookup = priorLookup
        return contents
    }

    /// The texts of all known recipes.
    package var recipeTexts: [RecipeID: String] { recipes.withLock { $0 } }

    package func id(of recipe: Recipe) throws(StoreError) -> RecipeID { try id(ofText: recipe.text) }

    func id(ofText text: String) throws(StoreError) -> RecipeID {
        let id = try store.write { try $0.recipe(text) }
        recipes.withLock { $0[id] = text }
        return id
    }

    /// Records outputs that are about to be renamed to their paths. The next run knows them, whatever happens to this
    /// process. These records survive a power failure.
    package func intend(_ records: [OutputRecord]) throws {
        let job = job
        try store.write { try $0.intend(records, job: job) }
        guard isShared else { return }
        try behind.withLock { behind in
            // At the end of the run the intents go. (An index that is not believed is left as it is for its owner to look at.)
            let distrusted = Set(contents.distrusted.map { PathKey($0.path) })
            for record in records {
                guard let index = indexes.holding(record.path), !distrusted.contains(PathKey(index.path)) else {
                    continue
                }
                behind.insert(PathKey(index.path))
            }
            _ = try append(records, areIntents: true, &behind)
        }
    }

    /// Records outputs that were renamed to their paths, or were adopted there.
    package func publish(_ records: [OutputRecord]) throws {
        guard !records.isEmpty else { return }
        let texts = recipeTexts
        try change(records) { writer, job in
            let used = Set(records.map(\.recipe))
            let present = try used.reduce(into: [RecipeID: RecipeID]()) { present, recipe in
                present[recipe] = try texts[recipe].map { try writer.present(recipe, text: $0) }
            }
            let stored = records.map { record in
                var record = record
                record.recipe = present[record.recipe] ?? record.recipe
                return record
            }
            try writer.publish(stored, job: job)
        }
    }

    /// Moves outputs from other jobs to this one.
    ///
    /// - Parameter records: the new record of each output, and what was known of it.
    func takeOver(_ records: [(record: OutputRecord, prior: PriorOutput)]) throws {
        try publish(records.map(\.record))
        // An output that still exists at its old path keeps its old record.
        let left = records.filter { $0.prior.publishedPath.map { !FileSystem.exists($0) } ?? true }
        try forget(left.compactMap { $0.prior.origin == .moved ? $0.prior.publishedPath : nil })
        try store.write { writer in
            for (record, prior) in left where prior.origin != .moved {
                try writer.forget(prior.publishedPath ?? record.path, ofManifest: prior.manifest, name: prior.job)
            }
        }
        // This is the last step. The database does not record these lines, so that the next run reads the
        // indexes again.
        let others = records.filter { $0.prior.origin != .moved }
        for (publisher, lost) in Dictionary(grouping: others, by: \.prior.publisher) {
            for index in indexes {
                let paths = lost.map(\.record.path).filter { indexes.holding($0) === index }
                if !paths.isEmpty {
                    try roots.opening(index.folder, Self.action) { folder throws(FileError) in
                        try index.append(gone: paths, of: publisher, in: folder)
                    }
                }
            }
        }
    }

    /// The digests of the inputs of outputs with these digests, whichever job published them.
    ///
    /// Adopted outputs are left out, because their inputs are not known.
    func sources(of digests: Set<Digest>) throws(StoreError) -> [Digest: Set<Digest>] {
        guard !digests.isEmpty else { return [:] }
        let found = try store.read { reader in try reader.outputs { digests.contains($0.digest) } }
        return found.reduce(into: [:]) { sources, owned in
            if !owned.record.isAdopted {
                sources[owned.record.file.digest, default: []].insert(owned.record.source.digest)
            }
        }
    }

    /// Removes the records of missing outputs.
    package func forget(_ paths: [String]) throws {
        guard !paths.isEmpty else { return }
        try change([], gone: paths) { writer, job in for path in paths { try writer.forget(path, job: job) } }
    }

    private func change(
        _ records: [OutputRecord], gone: [String] = [], _ body: (StoreWriter, JobID) throws -> Void
    ) throws {
        let job = job
        try behind.withLock { behind in
            let marks = try append(records, gone: gone, &behind)
            try store.write { writer in
                try body(writer, job)
                for (index, mark) in marks { try writer.setIndexMark(mark, of: job, at: index.path) }
            }
        }
    }

    /// - Returns: the marks of the indexes that have all outputs of the database.
    private func append(
        _ records: [OutputRecord], areIntents: Bool = false, gone: [String] = [], _ behind: inout Set<PathKey>
    ) throws -> [(OutputIndex, IndexMark)] {
        let texts = recipes.withLock { $0 }
        return try indexes.compactMap { index in
            let own = records.filter { indexes.holding($0.path) === index }
            let lost = gone.filter { indexes.holding($0) === index }
            guard !own.isEmpty || !lost.isEmpty else { return nil }
            let isWhole = try roots.opening(index.folder, Self.action) { folder throws(FileError) in
                try index.append(own, areIntents: areIntents, gone: lost, in: folder) { texts[$0] ?? "" }
            }
            if !isWhole { behind.insert(PathKey(index.path)) }
            guard let mark = index.mark, !behind.contains(PathKey(index.path)) else { return nil }
            return (index, mark)
        }
    }

    func setBroken(_ record: BrokenRecord) throws(StoreError) {
        let job = job
        try store.write { try $0.setBroken(record, job: job) }
    }

    package func forgetBroken(_ records: [BrokenRecord]) throws(StoreError) {
        let job = job
        try store.write { writer in for record in records { try writer.forgetBroken(record, job: job) } }
    }

    /// Writes the broken pictures to the shared log, for the coordinator that resumes the run on another
    /// machine.
    package func shareBroken(_ kind: RunLog.BrokenPictures, to log: RunLog) throws {
        let job = job
        try log.append(try store.read { try $0.brokenTransfers(of: job) }, as: kind)
    }

    /// - Returns: false if the text was reported before.
    package func reportOnce(_ text: String) throws(StoreError) -> Bool {
        let job = job
        return try store.write { try $0.reportOnce(text, job: job) }
    }

    /// The notices of one kind that were not reported yet; see ``StoreWriter/reportNew(_:kind:isAll:job:)``.
    package func reportNew(_ texts: [String], kind: String, isAll: Bool) throws(StoreError) -> [String] {
        let job = job
        return try store.write { try $0.reportNew(texts, kind: kind, isAll: isAll, job: job) }
    }

    /// Records for the next run what this run found at the job's inputs and outputs.
    package func setKnownDisks(_ disks: KnownDisks) throws(StoreError) {
        let job = job
        guard disks != contents.knownDisks else { return }
        try store.write { try $0.setKnownDisks(disks, of: job) }
    }

    /// Rewrites indexes that are lost, lack outputs, have intents, or mostly have outputs that were published again since.
    ///
    /// - Parameter temporary: gives the path of a temporary file in a folder.
    package func tidyIndexes(temporary: (String) throws -> String) throws {
        let records = try settledRecords()
        try behind.withLock { behind in
            for index in indexes {
                let own = records.filter { indexes.holding($0.path) === index }
                // A job without outputs needs no index. But an index that exists may have intents of a killed run.
                guard !own.isEmpty || index.mark != nil, FileSystem.isFolder(index.folder),
                    try behind.contains(PathKey(index.path)) || !own.isEmpty && isLong(index, for: own.count)
                else { continue }
                try roots.check(index.path, Self.action)
                try rewrite(index, own, by: try temporary(index.folder))
                behind.remove(PathKey(index.path))
            }
        }
    }

    /// The records of all outputs. An output that was renamed to its path counts, even if its record could not be written
    /// then: the index has no intent of it any more.
    private func settledRecords() throws(StoreError) -> [OutputRecord] {
        let (job, compare) = (job, compare)
        return try store.read { reader in
            let settled = try reader.intents(of: job).filter { $0.isInPlace(by: compare) }
            let paths = Set(settled.map { PathKey($0.path) })
            return try reader.outputs(of: job).filter { !paths.contains(PathKey($0.path)) } + settled
        }
    }

    private func isLong(_ index: OutputIndex, for count: Int) throws(StoreError) -> Bool {
        // A line has about 500 bytes.
        let lines = try store.read { try $0.outputCount(indexedAt: index.path) }
        return (index.mark?.size ?? .max) > 100_000 + 2 * 600 * max(lines, count)
    }

    private func rewrite(_ index: OutputIndex, _ records: [OutputRecord], by temporary: String) throws {
        let texts = recipes.withLock { $0 }
        try index.rewrite(records, by: temporary) { texts[$0] ?? "" }
        let (job, mark) = (job, index.mark)
        if let mark { try store.write { try $0.setIndexMark(mark, of: job, at: index.path) } }
    }
}

/// What is recorded of a job and its outputs.
package struct LedgerContents: Sendable {
    package var records: [OutputRecord] = []
    package var broken: [BrokenRecord] = []
    /// The texts of the outputs' recipes.
    package var recipes: [RecipeID: String] = [:]
    /// What the last run found at the job's inputs and outputs.
    package var knownDisks = KnownDisks()
    /// Finds out who else published outputs; nil for a job without a manifest.
    package var priorLookup: PriorLookup?
    /// Why indexes are not trusted that have more than the database.
    package var distrusted: [FileError] = []
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
        recipes = try reader.recipes(of: job)
        knownDisks = try reader.knownDisks(of: job)
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
    mutating func add(_ index: OutputIndex, _ compare: ComparePolicy) throws(FileError) {
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
            let id = RecipeID(index: -(recipes.count + 1))
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
            let record = output.record(in: folder, recipe: RecipeID(index: output.recipe), encodings: encodings)
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
        /// The index lacks outputs of the database: a power failure has cut it, or it comes from a backup. Or it has
        /// intents of a killed run. The database then does not record the index's mark.
        case lacking
        /// The index has more than the database, and is not trusted.
        case distrusted(FileError)
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
            var new: [OutputRecord] = []
            for output in found.outputs.values {
                let record = output.record(in: index.folder, recipe: ids[output.recipe], encodings: found.encodings)
                let key = PathKey(record.path)
                guard record.isNews(beside: records[key], by: compare) else { continue }
                records[key] = record
                new.append(record)
            }
            try writer.publish(new, job: job)
            // The rewritten index will have outputs in place of the intents.
            let isWhole = !read.hasIntents && !lacks(index, read, records.values, ids)
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
