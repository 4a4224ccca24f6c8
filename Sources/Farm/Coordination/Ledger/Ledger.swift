package import JobModel
package import JobStorage
package import SafeFiles
import Synchronization

/// What Penumbra knows of one job's outputs: in the database, and in the indexes beside them.
///
/// A run has it while it holds the job's lock.
package final class Ledger: Sendable {
    package let contents: LedgerContents
    private let formers: PriorLookup
    /// How the job tells that a file is what it was.
    let compare: ComparePolicy
    private let store: JobStore
    private let job: JobID
    private let indexes: [OutputIndex]
    /// An index is in a folder that the run has locked, or is not written.
    private let roots: LockedFolders
    private let recipes: Mutex<[RecipeID: String]>
    /// Paths of indexes that lack some of what the database knows. They are written anew at the end of a run; the database
    /// does not know them until then, so that what a killed run leaves is found again.
    ///
    /// Locked while lines are written: those of an index, and what the database knows of it, come in one order.
    private let behind: Mutex<Set<PathKey>>

    private static let action = "write the index of the outputs there"

    package static func databasePath(state: String) -> String { "\(state)/penumbra.sqlite" }

    /// Opens the database and brings it up to date: with what a killed run had published, and with indexes that know
    /// more than it does, because it was lost or is older.
    ///
    /// - Parameters:
    ///   - folders: those of the job's outputs, see ``OutputFolders``.
    ///   - roots: the same, as the run has locked them.
    ///   - told: by other machines, of a run that is gone on with.
    ///   - store: the database, where it is open already.
    package init(
        state: String, job spec: JobSpec, folders: [String], roots: LockedFolders, told: SharedHistory? = nil,
        store open: JobStore? = nil, calls: FileCalls = .kernel
    ) throws {
        _ = try FileSystem.createFolders(state)
        let store = try open ?? JobStore(path: Self.databasePath(state: state))
        let indexes = folders.map { OutputIndex(folder: $0, job: spec, calls: calls) }
        let job = try store.write { try $0.job(manifest: spec.manifestPath, name: spec.name) }
        let intents = try store.read { try $0.intents(of: job) }
        // A run that was killed has renamed an output or not: the file at its path tells.
        let settled = intents.filter { $0.isInPlace(by: spec.compare) }
        let taking = IndexImport(store: store, job: job, compare: spec.compare, indexes: indexes)
        var behind: Set<PathKey> = []
        var doubts: [FileTrouble] = []
        for index in indexes {
            switch try taking.takeIn(index) {
            case .alike: break
            case .lacking: behind.insert(PathKey(index.path))
            case .doubted(let doubt): doubts.append(doubt)
            }
        }
        self.behind = Mutex(behind)
        // After the indexes: what these tell of as published is no more taken for broken.
        if let told { try store.write { writer in for one in told.broken(.known) { try writer.put(one, job: job) } } }
        formers = PriorLookup(state: state, job: spec, folders: folders)
        var contents = try store.read { try LedgerContents($0, job, settled: settled) }
        contents.formers = formers
        contents.doubts = doubts
        self.contents = contents
        (self.store, self.job, self.indexes, compare) = (store, job, indexes, spec.compare)
        self.roots = roots
        recipes = Mutex(contents.recipes)
        try publish(settled)
        try store.write { writer in for intent in intents { try writer.forgetIntent(intent.path, job: job) } }
    }

    /// The same without changing anything, for those who only look.
    package static func look(state: String, job spec: JobSpec, folders: [String]) throws -> LedgerContents {
        let path = databasePath(state: state)
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
        for index in indexes { try contents.takeIn(index, spec.compare) }
        contents.formers = PriorLookup(state: state, job: spec, folders: folders)
        return contents
    }

    /// Of all outputs, as they are known now.
    package func records() throws(StoreProblem) -> [OutputRecord] {
        let job = job
        return try store.read { try $0.outputs(of: job) }
    }

    /// All that is known now.
    package func currentContents() throws(StoreProblem) -> LedgerContents {
        let job = job
        var contents = try store.read { try LedgerContents($0, job, settled: []) }
        contents.formers = formers
        return contents
    }

    /// How outputs are made that are known now.
    package var recipeTexts: [RecipeID: String] { recipes.withLock { $0 } }

    package func id(of recipe: Recipe) throws(StoreProblem) -> RecipeID { try id(ofText: recipe.text) }

    func id(ofText text: String) throws(StoreProblem) -> RecipeID {
        let id = try store.write { try $0.recipe(text) }
        recipes.withLock { $0[id] = text }
        return id
    }

    /// Outputs that are about to be renamed to their paths. They are known after a power failure.
    func intend(_ records: [OutputRecord]) throws(StoreProblem) {
        let job = job
        try store.write { try $0.intend(records, job: job) }
    }

    /// Outputs that were renamed to their paths, or are accepted there.
    package func publish(_ records: [OutputRecord]) throws {
        guard !records.isEmpty else { return }
        try change(records) { try $0.publish(records, job: $1) }
    }

    /// Makes outputs this job's that others published, and no more theirs.
    ///
    /// - Parameter records: what this job is to know of them, with what others knew.
    func takeOver(_ records: [(record: OutputRecord, former: PriorOutput)]) throws {
        try publish(records.map(\.record))
        // What is still at the path where it was published stays known there.
        let left = records.filter { $0.former.place.map { !FileSystem.exists($0) } ?? true }
        try forget(left.compactMap { $0.former.origin == .moved ? $0.former.place : nil })
        try store.write { writer in
            for (record, former) in left where former.origin != .moved {
                try writer.forget(former.place ?? record.path, ofManifest: former.manifest, name: former.job)
            }
        }
        // Last of all, and the database does not know these lines: the next run reads the indexes once more.
        let others = records.filter { $0.former.origin != .moved }
        for (publisher, lost) in Dictionary(grouping: others, by: \.former.publisher) {
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

    /// Of which pictures' bytes files were made that Penumbra published, whatever job did: digests by the files' digests.
    ///
    /// Adopted ones are left out: nobody knows what they were made of.
    func sources(of digests: Set<Digest>) throws(StoreProblem) -> [Digest: Set<Digest>] {
        guard !digests.isEmpty else { return [:] }
        let found = try store.read { reader in try reader.outputs { digests.contains($0.digest) } }
        return found.reduce(into: [:]) { sources, owned in
            if !owned.record.isAdopted {
                sources[owned.record.file.digest, default: []].insert(owned.record.source.digest)
            }
        }
    }

    /// Outputs that are there no more.
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

    /// - Returns: where the indexes end now that have all that the database will know.
    private func append(
        _ records: [OutputRecord], gone: [String], _ behind: inout Set<PathKey>
    ) throws -> [(OutputIndex, IndexMark)] {
        let texts = recipes.withLock { $0 }
        return try indexes.compactMap { index in
            let own = records.filter { indexes.holding($0.path) === index }
            let lost = gone.filter { indexes.holding($0) === index }
            guard !own.isEmpty || !lost.isEmpty else { return nil }
            let isWhole = try roots.opening(index.folder, Self.action) { folder throws(FileTrouble) in
                try index.append(own, gone: lost, in: folder) { texts[$0] ?? "" }
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

    /// For those who go on with the run elsewhere, or where it was begun.
    package func tellBroken(_ kind: SharedHistory.BrokenPictures, to history: SharedHistory) throws {
        let job = job
        try history.tell(kind, try store.read { try $0.toldBroken(of: job) })
    }

    /// - Returns: false when it was told before.
    package func tellOnce(_ text: String) throws(StoreProblem) -> Bool {
        let job = job
        return try store.write { try $0.tellOnce(text, job: job) }
    }

    /// Notices of one kind that a person has not been told yet; see ``StoreWriter/tellNew(_:kind:isAll:job:)``.
    package func tellNew(_ texts: [String], kind: String, isAll: Bool) throws(StoreProblem) -> [String] {
        let job = job
        return try store.write { try $0.tellNew(texts, kind: kind, isAll: isAll, job: job) }
    }

    /// What this run found at the job's inputs and outputs, for the next one.
    package func setPlaces(_ places: KnownDisks) throws(StoreProblem) {
        let job = job
        guard places != contents.places else { return }
        try store.write { try $0.setPlaces(places, of: job) }
    }

    /// Writes indexes anew that are lost, or lack something, or are mostly of outputs that were published again since.
    ///
    /// - Parameter temporary: a path in a folder, where a file may be written aside.
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
        // A line has some 500 bytes.
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
