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
    /// The paths of indexes that lack outputs of the database. They are rewritten at the end of a run. Until
    /// then the database has no marks of them, so that the next run finds what a killed run leaves.
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
    ///   - told: the history that coordinators on all machines write; nil if only this machine sees the run.
    ///   - store: the database, if it is open already.
    package init(
        state: String, job spec: JobSpec, folders: [String], roots: LockedFolders, told: RunLog? = nil,
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
        var distrusted: [FileTrouble] = []
        for index in indexes {
            switch try importer.add(index) {
            case .alike: break
            case .lacking: behind.insert(PathKey(index.path))
            case .distrusted(let reason): distrusted.append(reason)
            }
        }
        self.behind = Mutex(behind)
        // This follows the indexes: an output that they list as published does not count as broken any more.
        if let told { try store.write { writer in for one in told.broken(.known) { try writer.put(one, job: job) } } }
        priorLookup = PriorLookup(state: state, job: spec, folders: folders)
        var contents = try store.read { try LedgerContents($0, job, settled: settled) }
        contents.priorLookup = priorLookup
        contents.distrusted = distrusted
        self.contents = contents
        (self.store, self.job, self.indexes, compare) = (store, job, indexes, spec.compare)
        (self.roots, isShared) = (roots, told != nil)
        recipes = Mutex(contents.recipes)
        try publish(settled)
        try store.write { writer in for intent in intents { try writer.forgetIntent(intent.path, job: job) } }
    }

    /// Reads the contents without changing anything.
    package static func inspect(state: String, job spec: JobSpec, folders: [String]) throws -> LedgerContents {
        let path = JobStore.databasePath(state: state)
        var contents = LedgerContents()
        var indexes = folders.map { OutputIndex(folder: $0, job: spec) }
        if let store = try JobStore.asItIs(at: path) {
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

    /// The present records of all outputs.
    package func records() throws(StoreProblem) -> [OutputRecord] {
        let job = job
        return try store.read { try $0.outputs(of: job) }
    }

    /// The present contents.
    package func currentContents() throws(StoreProblem) -> LedgerContents {
        let job = job
        var contents = try store.read { try LedgerContents($0, job, settled: []) }
        contents.priorLookup = priorLookup
        return contents
    }

    /// The texts of all known recipes.
    package var recipeTexts: [RecipeID: String] { recipes.withLock { $0 } }

    package func id(of recipe: Recipe) throws(StoreProblem) -> RecipeID { try id(ofText: recipe.text) }

    func id(ofText text: String) throws(StoreProblem) -> RecipeID {
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
        _ = try behind.withLock { try append(records, areIntents: true, &$0) }
    }

    /// Records outputs that were renamed to their paths, or were adopted there.
    package func publish(_ records: [OutputRecord]) throws {
        guard !records.isEmpty else { return }
        try change(records) { try $0.publish(records, job: $1) }
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
                    try roots.opening(index.folder, Self.action) { folder throws(FileTrouble) in
                        try index.append(gone: paths, of: publisher, in: folder)
                    }
                }
            }
        }
    }

    /// The digests of the inputs of outputs with these digests, whichever job published them.
    ///
    /// Adopted outputs are left out, because their inputs are not known.
    func sources(of digests: Set<Digest>) throws(StoreProblem) -> [Digest: Set<Digest>] {
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
            let isWhole = try roots.opening(index.folder, Self.action) { folder throws(FileTrouble) in
                try index.append(own, areIntents: areIntents, gone: lost, in: folder) { texts[$0] ?? "" }
            }
            if !isWhole { behind.insert(PathKey(index.path)) }
            guard let mark = index.mark, !behind.contains(PathKey(index.path)) else { return nil }
            return (index, mark)
        }
    }

    func setBroken(_ record: BrokenRecord) throws(StoreProblem) {
        let job = job
        try store.write { try $0.setBroken(record, job: job) }
    }

    package func forgetBroken(_ records: [BrokenRecord]) throws(StoreProblem) {
        let job = job
        try store.write { writer in for record in records { try writer.forgetBroken(record, job: job) } }
    }

    /// Writes the broken pictures to the shared log, for the coordinator that resumes the run on another
    /// machine.
    package func tellBroken(_ kind: RunLog.BrokenPictures, to history: RunLog) throws {
        let job = job
        try history.tell(kind, try store.read { try $0.toldBroken(of: job) })
    }

    /// - Returns: false if the text was reported before.
    package func tellOnce(_ text: String) throws(StoreProblem) -> Bool {
        let job = job
        return try store.write { try $0.tellOnce(text, job: job) }
    }

    /// The notices of one kind that were not reported yet; see ``StoreWriter/tellNew(_:kind:isAll:job:)``.
    package func tellNew(_ texts: [String], kind: String, isAll: Bool) throws(StoreProblem) -> [String] {
        let job = job
        return try store.write { try $0.tellNew(texts, kind: kind, isAll: isAll, job: job) }
    }

    /// Records for the next run what this run found at the job's inputs and outputs.
    package func setPlaces(_ places: KnownDisks) throws(StoreProblem) {
        let job = job
        guard places != contents.places else { return }
        try store.write { try $0.setPlaces(places, of: job) }
    }

    /// Rewrites indexes that are lost, lack outputs, or mostly have outputs that were published again since.
    ///
    /// - Parameter temporary: gives the path of a temporary file in a folder.
    package func tidyIndexes(temporary: (String) throws -> String) throws {
        let records = try store.read { try $0.outputs(of: job) }
        try behind.withLock { behind in
            for index in indexes {
                let own = records.filter { indexes.holding($0.path) === index }
                guard !own.isEmpty, FileSystem.isFolder(index.folder),
                    try behind.contains(PathKey(index.path)) || isLong(index, for: own.count)
                else { continue }
                try roots.check(index.path, Self.action)
                try rewrite(index, own, by: try temporary(index.folder))
                behind.remove(PathKey(index.path))
            }
        }
    }

    private func isLong(_ index: OutputIndex, for count: Int) throws(StoreProblem) -> Bool {
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
