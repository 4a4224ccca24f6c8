import FoundationEssentials
package import JobModel
import JobStorage
import Planning
import SafeFiles
import WorkerProtocol

/// Looks up who published the outputs that a job finds at its paths and does not know. Changes nothing.
///
/// Both the database and the indexes beside the outputs tell: a manifest alone may have moved, or all of a tree, or the
/// outputs without their index.
package struct PriorLookup: Sendable {
    /// The name of the job in a manifest, by the manifest's bytes and path; nil for one with errors.
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
    ///   - unknown: outputs that this job knows nothing of, as they are now.
    ///   - findings: of those that were read; the others are known by their sizes and times.
    package func outputs(
        _ unknown: [FrameFiles.Output], findings: Freshness.Findings = [:], jobName: JobName
    ) throws -> [PathKey: PriorOutput] {
        guard !unknown.isEmpty else { return [:] }
        var manifests: [PathKey: Bool] = [:]
        /// A manifest is gone, or its job has another name now. One that cannot be read is still there.
        func isGone(_ manifest: String, _ name: String) -> Bool {
            if let known = manifests[PathKey("\(name)/\(manifest)")] { return known }
            let answer = FileSystem.isGone(manifest) || Self.name(in: manifest, jobName).map { $0 != name } ?? false
            manifests[PathKey("\(name)/\(manifest)")] = answer
            return answer
        }
        var found: [PathKey: PriorOutput] = [:]
        for folder in folders { try readIndex(in: folder, unknown.map(\.path), isGone, &found) }
        guard let store = try JobStore.asItIs(at: JobStore.databasePath(state: state)) else { return found }
        try store.read { reader in
            let recipes = try reader.recipes()
            func former(_ owned: OwnedRecord, at path: String) -> PriorOutput {
                var record = owned.record
                record.path = path
                let place = PathKey(path) == PathKey(owned.record.path) ? nil : owned.record.path
                let recipe = recipes[record.recipe] ?? ""
                return self.former(record, place, recipe, owned.job, owned.manifest, isGone)
            }
            try recogniseCopies(reader, &found)
            for output in unknown where found[PathKey(output.path)] == nil {
                guard let owned = try reader.outputs(at: output.path).first(where: { !isOwn($0.job, $0.manifest) })
                else { continue }
                found[PathKey(output.path)] = former(owned, at: output.path)
            }
            let rest = unknown.filter { found[PathKey($0.path)] == nil }
            for (path, owned) in try Self.published(rest, findings, reader) {
                found[PathKey(path)] = former(owned, at: path)
            }
        }
        return found
    }

    private static func name(in manifest: String, _ jobName: JobName) -> String? {
        // What cannot be read tells no name.
        guard let file = try? OpenFile(manifest), let bytes = try? file.next(1 << 20) else { return nil }
        return jobName(bytes, manifest)
    }

    private func readIndex(
        in folder: String, _ paths: [String], _ isGone: (String, String) -> Bool,
        _ found: inout [PathKey: PriorOutput]
    ) throws {
        let wanted = paths.filter { PathNames.isBelow($0, folder) }
        guard !wanted.isEmpty,
            let lines = try FileSystem.lines(of: PathNames.joined(folder, OutputIndex.name)),
            // What it says would be taken over.
            lines.doubt == nil
        else { return }
        let contents = IndexContents(Data(lines.bytes), of: nil)
        for path in wanted {
            let key = PathKey(PathNames.relative(path, to: folder) ?? path)
            guard let output = contents.outputs[key], let publisher = contents.jobs[key],
                !isOwn(publisher.name, publisher.manifest)
            else { continue }
            let record = output.record(
                in: folder, recipe: RecipeID(place: output.recipe), encodings: contents.encodings)
            found[PathKey(path)] = former(
                record, nil, contents.recipes[output.recipe], publisher.name, publisher.manifest, isGone)
        }
    }

    /// An index that was copied with its folder names a job that is still there, and has its own outputs.
    private func recogniseCopies(_ reader: StoreReader, _ found: inout [PathKey: PriorOutput]) throws {
        var known: [IndexContents.Publisher: [Digest: [OutputRecord]]] = [:]
        // Of many outputs with the same bytes, as of blank frames, each is looked at once. Nil where one of them is not there.
        var looks: [IndexContents.Publisher: [Digest: Set<FileStamp.Identity>?]] = [:]
        for (key, former) in found where former.origin == .there {
            if known[former.publisher] == nil {
                let job = try reader.job(manifest: former.manifest, name: former.job)
                let records = try job.map(reader.outputs(of:)) ?? []
                known[former.publisher] = Dictionary(grouping: records, by: \.file.digest)
            }
            let digest = former.record.file.digest
            guard let alike = known[former.publisher]?[digest], let first = alike.first else { continue }
            let files = looks[former.publisher]?[digest] ?? Self.identities(of: alike)
            looks[former.publisher, default: [:]][digest] = .some(files)
            guard let files, FileSystem.stamp(key.path).map({ !files.contains($0.identity) }) ?? true else { continue }
            found[key] = former.at(first.path, .elsewhere)
        }
    }

    /// Nil where one of them is not there.
    private static func identities(of records: [OutputRecord]) -> Set<FileStamp.Identity>? {
        var found: Set<FileStamp.Identity> = []
        for record in records {
            guard let stamp = FileSystem.stamp(record.path) else { return nil }
            found.insert(stamp.identity)
        }
        return found
    }

    /// It is there, and they are not two names of one file.
    private static func isOther(_ place: String, than path: String) -> Bool {
        guard let there = FileSystem.stamp(place)?.identity else { return false }
        return there != FileSystem.stamp(path)?.identity
    }

    /// What was published with the size and time of an output, or with its bytes where they are known.
    ///
    /// `mv` keeps size, time and inode; `cp -p` and `rsync -t` keep size and time, and mostly the name.
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

    /// By what an output is known again that has another path now.
    private enum Mark: Hashable {
        case time(size: Int, modified: Int64)
        case bytes(Digest)

        init(_ stamp: FileStamp) { self = .time(size: stamp.size, modified: stamp.modified) }
    }

    private func isOwn(_ name: String, _ manifest: String) -> Bool {
        name == job.name && PathKey(manifest) == PathKey(job.manifestPath)
    }

    private func former(
        _ record: OutputRecord, _ place: String?, _ recipe: String, _ name: String, _ manifest: String,
        _ isGone: (String, String) -> Bool
    ) -> PriorOutput {
        func origin() -> PriorOutput.Origin {
            if isOwn(name, manifest) { return .moved }
            if PathKey(manifest) == PathKey(job.manifestPath) { return .renamed }
            if isGone(manifest, name) { return .gone }
            guard let place else { return .there }
            return FileSystem.exists(place) && !Self.isOther(place, than: record.path) ? .there : .elsewhere
        }
        return PriorOutput(
            record: record, place: place, recipe: recipe, job: name, manifest: manifest, origin: origin())
    }
}
