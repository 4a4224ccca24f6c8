import FoundationEssentials
package import JobModel
package import JobStorage
import Planning
import SafeFiles
import WorkerProtocol

/// An output at one of the job's paths that is not the job's latest. Another job published it, or this job did under another name,
/// or at another path.
package struct PriorOutput: Hashable, Sendable {
    /// Its record, with its present path.
    package let record: OutputRecord
    /// The path at which it was published, if that was another one.
    package let publishedPath: String?
    /// The text of its recipe. (The number in ``record`` may belong to another database.)
    package let recipe: String
    /// The name of the job that published it.
    package let job: String
    /// The real path of that job's manifest when it published the output.
    package let manifest: String
    package let origin: Origin

    /// What became of the job that published an output, and of the output's path.
    package enum Origin: Hashable, Sendable {
        /// The manifest is gone, or contains another job: the job was moved, renamed or removed.
        case gone
        /// This job's manifest published it when the job had another name.
        case renamed
        /// The job still exists, and this is its output.
        case owned
        /// The job still exists, and published the output at another path. This file is a copy, or was moved
        /// here.
        case elsewhere
        /// This job published it at another path.
        case moved
    }

    package init(
        record: OutputRecord, publishedPath: String? = nil, recipe: String, job: String, manifest: String,
        origin: Origin
    ) {
        self.record = record
        self.publishedPath = publishedPath
        self.recipe = recipe
        self.job = job
        self.manifest = manifest
        self.origin = origin
    }

    /// The same output with another origin.
    func at(_ publishedPath: String?, _ origin: Origin) -> PriorOutput {
        PriorOutput(
            record: record, publishedPath: publishedPath, recipe: recipe, job: job, manifest: manifest, origin: origin)
    }

    var publisher: IndexContents.Publisher { IndexContents.Publisher(name: job, manifest: manifest) }

    /// Why a run keeps the output, and what a person can do.
    package var reason: String {
        // Both may come from an index, which other users may have written.
        let job = PathText.visible(job)
        let publisher = "published by the job '\(job)' of \(PathText.visible(manifest))"
        return switch origin {
        case .gone:
            "\(publisher), which is gone; if it was moved here, 'penumbra adopt --moved' takes its outputs over, --force "
                + "replaces them"
        case .renamed:
            "published by this manifest's job when it was called '\(job)'; 'penumbra adopt --moved' takes its outputs over, "
                + "--force replaces them"
        case .owned:
            "\(publisher), which is still there; write to another folder, or remove that manifest and give 'penumbra adopt "
                + "--moved'"
        case .elsewhere:
            "\(publisher) at another path; 'penumbra adopt --moved' takes it over here, --force replaces it"
        case .moved:
            "published by this job at another path; 'penumbra adopt --moved' takes it over here, --force replaces it"
        }
    }
}

/// Finds out who published the outputs at a job's paths that the job does not know. Changes nothing.
///
/// It searches the database and the indexes beside the outputs, because the manifest, the whole tree, or the
/// outputs without their index may have moved.
package struct PriorLookup: Sendable {
    /// Reads the name of the job from a manifest's bytes and path; nil for a manifest with errors.
    package typealias JobName = ([UInt8], String) -> String?

    private let state: String
    private let job: JobSpec
    private let folders: [String]

    init(state: String, job: JobSpec, folders: [String]) {
        self.state = state
        self.job = job
        self.folders = folders
    }

    /// - Parameters:
    ///   - unknown: the outputs that this job does not know, as they are now.
    ///   - findings: what was read of outputs. The others are recognised by size and time.
    package func outputs(
        _ unknown: [FrameFiles.Output], findings: Freshness.Findings = [:], jobName: @escaping JobName
    ) throws -> [PathKey: PriorOutput] {
        guard !unknown.isEmpty else { return [:] }
        let states = ManifestStates(jobName)
        let isGone = states.isGone
        var found: [PathKey: PriorOutput] = [:]
        for folder in folders { try readIndex(in: folder, unknown.map(\.path), isGone, &found) }
        guard let store = try JobStore.unmigrated(at: JobStore.databasePath(state: state)) else { return found }
        try store.read { reader in
            func prior(_ owned: OwnedRecord, at path: String) throws -> PriorOutput {
                var record = owned.record
                record.path = path
                let publishedPath = PathKey(path) == PathKey(owned.record.path) ? nil : owned.record.path
                let recipe = try reader.recipe(record.recipe) ?? ""
                return self.prior(record, publishedPath, recipe, owned.job, owned.manifest, isGone)
            }
            try recogniseCopies(reader, &found)
            for output in unknown where found[PathKey(output.path)] == nil {
                guard let owned = try reader.outputs(at: output.path).first(where: { !isOwn($0.job, $0.manifest) })
                else { continue }
                found[PathKey(output.path)] = try prior(owned, at: output.path)
            }
            let rest = unknown.filter { found[PathKey($0.path)] == nil }
            for (path, owned) in try Self.published(rest, findings, reader) {
                found[PathKey(path)] = try prior(owned, at: path)
            }
        }
        return found
    }

    /// The outputs among these that another job has published since this job did, with other bytes.
    ///
    /// - Parameter rewritten: outputs that this job knows, and that were written since.
    package func outputs(
        rewritten: [FrameFiles.Output], _ freshness: Freshness, jobName: @escaping JobName
    ) throws -> [PathKey: PriorOutput] {
        guard !rewritten.isEmpty else { return [:] }
        let states = ManifestStates(jobName)
        func isLatest(_ record: OutputRecord, _ output: FrameFiles.Output) -> Bool {
            guard let stamp = output.stamp, stamp.isUntouched(since: record.file.stamp, by: freshness.compare) else {
                return false
            }
            return record.file.digest != freshness.record(at: output.path)?.file.digest
        }
        var found: [PathKey: PriorOutput] = [:]
        for folder in folders { try readIndex(in: folder, rewritten.map(\.path), states.isGone, &found) }
        for output in rewritten {
            guard let prior = found[PathKey(output.path)], !isLatest(prior.record, output) else { continue }
            found[PathKey(output.path)] = nil
        }
        guard let store = try JobStore.unmigrated(at: JobStore.databasePath(state: state)) else { return found }
        try store.read { reader in
            for output in rewritten where found[PathKey(output.path)] == nil {
                let owned = try reader.outputs(at: output.path).first {
                    !isOwn($0.job, $0.manifest) && isLatest($0.record, output)
                }
                guard let owned else { continue }
                let recipe = try reader.recipe(owned.record.recipe) ?? ""
                found[PathKey(output.path)] = prior(
                    owned.record, nil, recipe, owned.job, owned.manifest, states.isGone)
            }
        }
        return found
    }

    private func readIndex(
        in folder: String, _ paths: [String], _ isGone: (String, String) -> Bool,
        _ found: inout [PathKey: PriorOutput]
    ) throws {
        let wanted = paths.filter { PathNames.isBelow($0, folder) }
        guard !wanted.isEmpty,
            let lines = try FileSystem.lines(of: PathNames.joined(folder, OutputIndex.name)),
            // The job would take over whatever the index says.
            lines.distrustReason == nil
        else { return }
        let contents = IndexContents(Data(lines.bytes), of: nil).settled(below: folder)
        for path in wanted {
            let key = PathKey(PathNames.relative(path, to: folder) ?? path)
            guard let output = contents.outputs[key], let publisher = contents.jobs[key],
                !isOwn(publisher.name, publisher.manifest)
            else { continue }
            let record = output.record(
                in: folder, recipe: RecipeID(index: output.recipe), encodings: contents.encodings)
            found[PathKey(path)] = prior(
                record, nil, contents.recipes[output.recipe], publisher.name, publisher.manifest, isGone)
        }
    }

    /// Recognises outputs that were copied with their folder and its index. The job in that index still exists
    /// and has its own outputs.
    private func recogniseCopies(_ reader: StoreReader, _ found: inout [PathKey: PriorOutput]) throws {
        var known: [IndexContents.Publisher: [Digest: [OutputRecord]]] = [:]
        // Many outputs may have the same bytes, as blank pictures do. Each digest is inspected once. Nil if one
        // of its outputs is missing.
        var identities: [IndexContents.Publisher: [Digest: Set<FileStamp.Identity>?]] = [:]
        for (key, prior) in found where prior.origin == .owned {
            if known[prior.publisher] == nil {
                let job = try reader.job(manifest: prior.manifest, name: prior.job)
                let records = try job.map(reader.outputs(of:)) ?? []
                known[prior.publisher] = Dictionary(grouping: records, by: \.file.digest)
            }
            let digest = prior.record.file.digest
            guard let alike = known[prior.publisher]?[digest], let first = alike.first else { continue }
            let files = identities[prior.publisher]?[digest] ?? Self.identities(of: alike)
            identities[prior.publisher, default: [:]][digest] = .some(files)
            guard let files, FileSystem.stamp(key.path).map({ !files.contains($0.identity) }) ?? true else { continue }
            found[key] = prior.at(first.path, .elsewhere)
        }
    }

    /// Nil if one of them is missing.
    private static func identities(of records: [OutputRecord]) -> Set<FileStamp.Identity>? {
        var found: Set<FileStamp.Identity> = []
        for record in records {
            guard let stamp = FileSystem.stamp(record.path) else { return nil }
            found.insert(stamp.identity)
        }
        return found
    }

    /// Whether a file is at the first path, and is another file than that at the second.
    private static func isOther(_ other: String, than path: String) -> Bool {
        guard let identity = FileSystem.stamp(other)?.identity else { return false }
        return identity != FileSystem.stamp(path)?.identity
    }

    /// Outputs that were published with the size and time, or with the digest, of an unknown output.
    ///
    /// `mv` keeps size, time and inode. `cp -p` and `rsync -t` keep size and time, and mostly the name.
    private static func published(
        _ unknown: [FrameFiles.Output], _ findings: Freshness.Findings, _ reader: StoreReader
    ) throws -> [(path: String, owned: OwnedRecord)] {
        func mark(_ output: FrameFiles.Output) -> Mark? {
            let isRead = findings[DigestTask.File(path: output.path)] ?? nil
            return isRead.map { .bytes($0.digest) } ?? output.stamp.map(Mark.init)
        }
        let wanted = Set(unknown.compactMap(mark))
        guard !wanted.isEmpty else { return [] }
        let records = try reader.outputs { wanted.contains(Mark($0.stamp)) || wanted.contains(.bytes($0.digest)) }
        let byTime = Dictionary(grouping: records) { Mark($0.record.file.stamp) }
        let byBytes = Dictionary(grouping: records) { Mark.bytes($0.record.file.digest) }
        return unknown.compactMap { output in
            guard let mark = mark(output) else { return nil }
            let alike = (byBytes[mark] ?? byTime[mark] ?? []).filter { PathKey($0.record.path) != PathKey(output.path) }
            let sameName = alike.first {
                PathKey(PathText.name(of: $0.record.path)) == PathKey(PathText.name(of: output.path))
            }
            let sameFile = alike.first { $0.record.file.stamp.inode == output.stamp?.inode }
            let sameBytes = byBytes[mark] == nil ? nil : alike.first
            return (sameFile ?? sameName ?? sameBytes).map { (output.path, $0) }
        }
    }

    /// How an output is recognised at another path.
    private enum Mark: Hashable {
        case time(size: Int, modified: Int64)
        case bytes(Digest)

        init(_ stamp: FileStamp) { self = .time(size: stamp.size, modified: stamp.modified) }
    }

    private func isOwn(_ name: String, _ manifest: String) -> Bool {
        name == job.name && PathKey(manifest) == PathKey(job.manifestPath)
    }

    private func prior(
        _ record: OutputRecord, _ publishedPath: String?, _ recipe: String, _ name: String, _ manifest: String,
        _ isGone: (String, String) -> Bool
    ) -> PriorOutput {
        func origin() -> PriorOutput.Origin {
            if isOwn(name, manifest) { return .moved }
            if PathKey(manifest) == PathKey(job.manifestPath) { return .renamed }
            if isGone(manifest, name) { return .gone }
            guard let publishedPath else { return .owned }
            return FileSystem.exists(publishedPath) && !Self.isOther(publishedPath, than: record.path)
                ? .owned : .elsewhere
        }
        return PriorOutput(
            record: record, publishedPath: publishedPath, recipe: recipe, job: name, manifest: manifest,
            origin: origin())
    }
}

/// What has become of the manifests of other jobs. Each is looked at once.
private final class ManifestStates {
    private struct Key: Hashable {
        let manifest: PathKey
        let name: String
    }

    private var known: [Key: Bool] = [:]
    private let jobName: PriorLookup.JobName

    init(_ jobName: @escaping PriorLookup.JobName) { self.jobName = jobName }

    /// Whether a manifest is gone or has a job of another name. A manifest that cannot be read still exists.
    func isGone(_ manifest: String, _ name: String) -> Bool {
        let key = Key(manifest: PathKey(manifest), name: name)
        if let known = known[key] { return known }
        let isGone = FileSystem.isGone(manifest) || nameNow(in: manifest).map { $0 != name } ?? false
        known[key] = isGone
        return isGone
    }

    private func nameNow(in manifest: String) -> String? {
        // A manifest that cannot be read has no known name.
        guard let file = try? OpenFile(manifest), let bytes = try? file.next(1 << 20) else { return nil }
        return jobName(bytes, manifest)
    }
}
