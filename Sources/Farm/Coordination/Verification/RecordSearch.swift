package import JobModel
package import JobStorage
import SafeFiles

/// Finds what is known of outputs: in the database, in the indexes beside them and in their receipts. Changes nothing.
///
/// What the database knows of a path counts more than an index, and that more than a receipt.
package struct RecordSearch: Sendable {
    private let state: String
    /// Nil where nothing ever ran.
    private let store: JobStore?
    private let indexes = ReadIndexes()

    package init(state: String) throws(StoreProblem) {
        self.state = state
        store = try JobStore.asItIs(at: JobStore.databasePath(state: state))
    }

    /// All outputs of a job, sorted by their paths.
    package func outputs(of job: JobSpec, folders: [String]) throws -> [RecordedOutput] {
        let contents = try Ledger.look(state: state, job: job, folders: folders)
        return contents.records.map { RecordedOutput($0, job: job.name, recipe: contents.recipes[$0.recipe]) }
            .sorted { PathKey($0.record.path) < PathKey($1.record.path) }
    }

    /// The output at a path, or else all outputs below it, sorted by their paths. Empty when nothing is known.
    package func outputs(at path: String) throws -> [RecordedOutput] {
        if let output = try output(at: path) { return [output] }
        var found: [PathKey: RecordedOutput] = [:]
        let files = FileSystem.files(below: path)
        for output in try indexed(files, below: path) { found[PathKey(output.record.path)] = output }
        for output in try stored({ try $0.outputs(below: path) }) { found[PathKey(output.record.path)] = output }
        // Receipts are read only where nothing else is known: there may be as many as outputs.
        for file in files {
            guard let output = ReceiptName.output(of: file).map({ PathNames.joined(path, $0) }),
                found[PathKey(output)] == nil
            else { continue }
            found[PathKey(output)] = ReceiptFile.output(at: output)
        }
        return found.sorted { $0.key < $1.key }.map(\.value)
    }

    private func output(at path: String) throws -> RecordedOutput? {
        if let output = try stored({ try $0.outputs(at: path) }).first { return output }
        for folder in Self.folders(above: path) {
            if let output = try indexes.outputs(in: folder)[PathKey(path)] { return output }
        }
        return ReceiptFile.output(at: path)
    }

    /// All that is known of these paths at one moment, what is about to be put there too.
    func look(at paths: [String]) throws -> [PathKey: [RecordedOutput]] {
        indexes.forget()
        let known = try stored { reader in
            try paths.flatMap { try reader.outputs(at: $0) + reader.intents(at: $0) }
        }
        var result = Dictionary(grouping: known) { PathKey($0.record.path) }
        for path in paths where result[PathKey(path)] == nil {
            result[PathKey(path)] = try output(at: path).map { [$0] }
        }
        return result
    }

    /// The paths of outputs that were published with these bytes.
    func paths(of digests: Set<Digest>) throws -> [Digest: [String]] {
        try store?.read { try $0.paths(of: digests) } ?? [:]
    }

    private func stored(_ body: (StoreReader) throws -> [OwnedRecord]) throws -> [RecordedOutput] {
        guard let store else { return [] }
        return try store.read { reader in
            let found = try body(reader)
            let recipes = found.isEmpty ? [:] : try reader.recipes()
            return found.map { RecordedOutput($0.record, job: $0.job, recipe: recipes[$0.record.recipe]) }
        }
    }

    /// What indexes say of outputs below a folder; the innermost ones last.
    private func indexed(_ files: [String], below path: String) throws -> [RecordedOutput] {
        let inner = files.filter { PathNames.last(of: $0) == OutputIndex.name }
            .map { PathNames.folder(of: PathNames.joined(path, $0)) ?? "" }
        return try (Self.folders(above: path).reversed() + inner).flatMap { folder in
            try indexes.outputs(in: folder).values.filter { PathNames.isBelow($0.record.path, path) }
        }
    }

    /// From the inside out, without the root.
    private static func folders(above path: String) -> [String] {
        Array(
            sequence(first: path) { PathNames.folder(of: $0) }.dropFirst().prefix { !$0.isEmpty })
    }
}
