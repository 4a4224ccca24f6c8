package import JobModel
package import JobStorage
import Synchronization

/// What Penumbra knows of one job's outputs: in the database, and in the indexes beside them.
///
/// A run has it while it holds the job's lock.
package final class Ledger: Sendable {
    package let contents: LedgerContents
    private let store: JobStore
    private let job: JobID
    private let indexes: [OutputIndex]
    private let recipes: Mutex<[RecipeID: String]>
    /// Lines of an index, and what the database knows of it, come in one order.
    private let turn = Mutex(())

    package static func databasePath(state: String) -> String { "\(state)/penumbra.sqlite" }

    /// Opens the database and brings it up to date: with what a killed run had published, and with indexes that know
    /// more than it does, because it was lost or is older.
    ///
    /// - Parameter folders: those of the job's outputs, see ``OutputFolders``.
    package init(state: String, job spec: JobSpec, folders: [String]) throws {
        _ = try FileSystem.createFolders(state)
        let store = try JobStore(path: Self.databasePath(state: state))
        let indexes = folders.map { OutputIndex(folder: $0, job: spec) }
        let job = try store.write { try $0.job(manifest: spec.manifestPath, name: spec.name) }
        let intents = try store.read { try $0.intents(of: job) }
        for index in indexes { try Self.takeIn(index, store, job) }
        contents = try store.read { try LedgerContents($0, job) }
        (self.store, self.job, self.indexes) = (store, job, indexes)
        recipes = Mutex(contents.recipes)
        // A run that was killed has renamed an output or not: the file at its path tells.
        try publish(intents.filter { $0.isInPlace })
        try store.write { writer in
            for intent in intents where !intent.isInPlace { try writer.forgetIntent(intent.path, job: job) }
        }
    }

    private static func takeIn(_ index: OutputIndex, _ store: JobStore, _ job: JobID) throws {
        guard let mark = index.mark, try store.read({ try $0.indexMark(of: job, at: index.path) }) != mark else {
            return
        }
        let found = try index.contents()
        let known = Dictionary(try store.read { try $0.outputs(of: job) }.map { ($0.path, $0) }) { $1 }
        try store.write { writer in
            let ids = try found.recipes.map { try writer.recipe($0) }
            let records = found.outputs.values.map { $0.record(in: index.folder, recipe: ids[$0.recipe]) }
            try writer.publish(records.filter { $0.isNews(beside: known[$0.path]) }, job: job)
            try writer.setIndexMark(mark, of: job, at: index.path)
        }
    }

    /// The same without changing anything, for those who only look.
    package static func look(state: String, job spec: JobSpec, folders: [String]) throws -> LedgerContents {
        let path = databasePath(state: state)
        var contents = LedgerContents()
        var indexes = folders.map { OutputIndex(folder: $0, job: spec) }
        if FileSystem.exists(path) {
            try JobStore(lookingAt: path).read { reader in
                guard let job = try reader.job(manifest: spec.manifestPath, name: spec.name) else { return }
                contents = try LedgerContents(reader, job)
                indexes = try indexes.filter { try reader.indexMark(of: job, at: $0.path) != $0.mark }
            }
        }
        for index in indexes { contents.takeIn(try index.contents(), below: index.folder) }
        return contents
    }

    /// Of all outputs, as they are known now.
    package func records() throws(StoreProblem) -> [OutputRecord] {
        let job = job
        return try store.read { try $0.outputs(of: job) }
    }

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

    /// Outputs that are there no more.
    package func forget(_ paths: [String]) throws {
        guard !paths.isEmpty else { return }
        try change([], gone: paths) { writer, job in for path in paths { try writer.forget(path, job: job) } }
    }

    private func change(
        _ records: [OutputRecord], gone: [String] = [], _ body: (StoreWriter, JobID) throws -> Void
    ) throws {
        try turn.withLock { _ in try write(records, gone: gone, body) }
    }

    private func write(
        _ records: [OutputRecord], gone: [String], _ body: (StoreWriter, JobID) throws -> Void
    ) throws {
        let texts = recipes.withLock { $0 }
        let marks = try indexes.compactMap { index -> (OutputIndex, IndexMark?)? in
            let own = records.filter { folder(of: $0.path) == index.folder }
            let lost = gone.filter { folder(of: $0) == index.folder }
            guard !own.isEmpty || !lost.isEmpty else { return nil }
            try index.append(own, gone: lost) { texts[$0] ?? "" }
            return (index, index.mark)
        }
        let job = job
        try store.write { writer in
            try body(writer, job)
            for case (let index, let mark?) in marks { try writer.setIndexMark(mark, of: job, at: index.path) }
        }
    }

    /// Of several that hold it the innermost.
    private func folder(of path: String) -> String? {
        indexes.map(\.folder).filter { $0 == "/" || path.hasPrefix($0 + "/") }.max { $0.utf8.count < $1.utf8.count }
    }

    func setBroken(_ record: BrokenRecord) throws(StoreProblem) {
        let job = job
        try store.write { try $0.setBroken(record, job: job) }
    }

    package func forgetBroken(_ records: [BrokenRecord]) throws(StoreProblem) {
        let job = job
        try store.write { writer in for record in records { try writer.forgetBroken(record, job: job) } }
    }

    /// - Returns: false when it was told before.
    package func tellOnce(_ text: String) throws(StoreProblem) -> Bool {
        let job = job
        return try store.write { try $0.tellOnce(text, job: job) }
    }

    /// Writes indexes anew that are lost, or mostly of outputs that were published again since.
    ///
    /// - Parameter temporary: a path in a folder, where a file may be written aside.
    package func tidyIndexes(temporary: (String) throws -> String) throws {
        let records = try store.read { try $0.outputs(of: job) }
        let texts = recipes.withLock { $0 }
        for index in indexes {
            let own = records.filter { folder(of: $0.path) == index.folder }
            guard !own.isEmpty, FileSystem.isFolder(index.folder) else { continue }
            // A line has some 500 bytes.
            let lines = try store.read { try $0.outputCount(indexedAt: index.path) }
            guard (index.mark?.size ?? .max) > 100_000 + 2 * 600 * max(lines, own.count) else { continue }
            try index.rewrite(own, by: try temporary(index.folder)) { texts[$0] ?? "" }
            let (job, mark) = (job, index.mark)
            if let mark { try store.write { try $0.setIndexMark(mark, of: job, at: index.path) } }
        }
    }
}
