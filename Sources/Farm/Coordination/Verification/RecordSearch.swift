import FoundationEssentials
package import JobModel
package import JobStorage
import Planning
import SafeFiles
import Synchronization

/// Finds the records of outputs in the database, in the indexes and in the receipts. Changes nothing.
///
/// The database overrides an index, and an index overrides a receipt.
package struct RecordSearch: Sendable {
    private let state: String
    /// Nil if no job ever ran.
    private let store: JobStore?
    private let indexes = IndexCache()

    package init(state: String) throws(StoreError) {
        self.state = state
        store = try JobStore.unmigrated(at: JobStore.databasePath(state: state))
    }

    /// All outputs of a job, sorted by path.
    package func outputs(of job: JobSpec, folders: [String]) throws -> [RecordedOutput] {
        let contents = try Ledger.inspect(state: state, job: job, folders: folders)
        return contents.records.map {
            RecordedOutput(
                record: $0, job: job.name, manifest: job.manifestPath, recipe: contents.recipes[$0.recipe],
                isOfJob: true)
        }
        .sorted { PathKey($0.record.path) < PathKey($1.record.path) }
    }

    /// The output at a path, or all outputs below it, sorted by path. Empty if none is known.
    package func outputs(at path: String) throws -> [RecordedOutput] {
        if let output = try output(at: path) { return [output] }
        var found: [PathKey: RecordedOutput] = [:]
        let files = FileSystem.files(below: path)
        for output in try indexed(files, below: path) { found[PathKey(output.record.path)] = output }
        for output in try stored({ try $0.outputs(below: path) }) { found[PathKey(output.record.path)] = output }
        // A receipt is read only for an output that has no other record: there may be as many receipts as
        // outputs.
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
        return try indexed(at: path) ?? ReceiptFile.output(at: path)
    }

    /// The output at a path according to the innermost index that has it.
    func indexed(at path: String) throws -> RecordedOutput? {
        for folder in Self.folders(above: path) {
            if let output = try indexes.outputs(in: folder)[PathKey(path)] { return output }
        }
        return nil
    }

    /// All records of these paths at one moment, including those of outputs that are about to be published.
    func records(at paths: [String]) throws -> [PathKey: [RecordedOutput]] {
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

    /// Why outputs are missing, as far as their disks are the reason.
    ///
    /// - Parameter paths: the paths of missing outputs.
    package func missingDisks(
        of paths: [String], mount: (String) -> KnownDisks.Mount = MountLookup.make()
    ) throws -> [MissingDisks.Outputs] {
        guard let store, !paths.isEmpty else { return [] }
        let folders = Dictionary(grouping: paths) { PathKey(PathText.folder(of: $0)) }.sorted { $0.key < $1.key }
        return try store.read { reader in
            var known: [JobID: KnownDisks] = [:]
            var found: [(cause: MissingDisks.Cause, count: Int, folder: String)] = []
            for (folder, paths) in folders {
                guard let owned = try paths.first.flatMap({ try reader.outputs(at: $0).first }),
                    let job = try reader.job(manifest: owned.manifest, name: owned.job)
                else { continue }
                let disks = try known[job] ?? reader.knownDisks(of: job)
                known[job] = disks
                guard let key = disks.disk(of: folder.path),
                    let cause = disks.mounts[key]?.suspicion(folder.path, mount)
                else { continue }
                if let index = found.firstIndex(where: { $0.cause == cause }) {
                    found[index].count += paths.count
                } else {
                    found.append((cause, paths.count, folder.path))
                }
            }
            return found.map { MissingDisks.Outputs($0.cause, count: $0.count, folder: $0.folder) }
        }
    }

    /// The paths of the outputs that were published with these digests.
    func paths(of digests: Set<Digest>) throws -> [Digest: [String]] {
        try store?.read { try $0.paths(of: digests) } ?? [:]
    }

    private func stored(_ body: (StoreReader) throws -> [OwnedRecord]) throws -> [RecordedOutput] {
        guard let store else { return [] }
        return try store.read { reader in
            let found = try body(reader)
            return try found.map {
                RecordedOutput(
                    record: $0.record, job: $0.job, manifest: $0.manifest, recipe: try reader.recipe($0.record.recipe))
            }
        }
    }

    /// The outputs of the indexes that concern a folder. The innermost index comes last.
    private func indexed(_ files: [String], below path: String) throws -> [RecordedOutput] {
        let inner = files.filter { PathNames.last(of: $0) == OutputIndex.name }
            .map { PathNames.folder(of: PathNames.joined(path, $0)) ?? "" }
        return try (Self.folders(above: path).reversed() + inner).flatMap { folder in
            try indexes.outputs(in: folder).values.filter { PathNames.isBelow($0.record.path, path) }
        }
    }

    /// The folders above a path, innermost first, without the root.
    private static func folders(above path: String) -> [String] {
        Array(
            sequence(first: path) { PathNames.folder(of: $0) }.dropFirst().prefix { !$0.isEmpty })
    }
}

/// A published output and all that is known about it.
package struct RecordedOutput: Hashable, Sendable {
    package let record: OutputRecord
    /// The name of the job that published it.
    package let job: String
    /// The real path of that job's manifest; nil if only a receipt is known.
    package let manifest: String?
    /// The text of its recipe; nil if only a receipt is known.
    package let recipe: String?
    /// Whether the outputs of this job were asked for, and not whatever is at a path.
    package internal(set) var isOfJob: Bool

    init(record: OutputRecord, job: String, manifest: String?, recipe: String?, isOfJob: Bool = false) {
        (self.record, self.job, self.manifest, self.recipe) = (record, job, manifest, recipe)
        self.isOfJob = isOfJob
    }

    /// Whether another record of this path answers the question for this one.
    func mayBe(_ other: RecordedOutput) -> Bool {
        guard isOfJob, let manifest, let others = other.manifest else { return !isOfJob || job == other.job }
        return job == other.job && PathKey(manifest) == PathKey(others)
    }
}

/// A cache of the indexes that were read, for the outputs of all jobs: many outputs are looked up in one index.
private final class IndexCache: Sendable {
    private let known = Mutex<[PathKey: [PathKey: RecordedOutput]]>([:])

    /// The outputs of the index in a folder, by path; empty if there is no index.
    func outputs(in folder: String) throws -> [PathKey: RecordedOutput] {
        if let outputs = known.withLock({ $0[PathKey(folder)] }) { return outputs }
        let outputs = try Self.read(folder)
        known.withLock { $0[PathKey(folder)] = outputs }
        return outputs
    }

    /// Empties the cache, because the indexes may have changed.
    func forget() { known.withLock { $0 = [:] } }

    private static func read(_ folder: String) throws(FileError) -> [PathKey: RecordedOutput] {
        // Other users' indexes are used, too: outputs are only compared with them, and none is changed.
        guard let lines = try FileSystem.lines(of: PathNames.joined(folder, OutputIndex.name)) else { return [:] }
        let contents = IndexContents(Data(lines.bytes), of: nil).settled(below: folder)
        let outputs = contents.outputs.map { key, output in
            let record = output.record(
                in: folder, recipe: RecipeID(index: output.recipe), encodings: contents.encodings)
            return RecordedOutput(
                record: record, job: contents.jobs[key]?.name ?? "", manifest: contents.jobs[key]?.manifest,
                recipe: contents.recipes[output.recipe])
        }
        return Dictionary(outputs.map { (PathKey($0.record.path), $0) }) { $1 }
    }
}
