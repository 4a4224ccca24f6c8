import FoundationEssentials
package import JobModel
package import JobStorage
import Planning

/// An output that another job published: perhaps this one, when it had another name or place.
package struct FormerOutput: Hashable, Sendable {
    /// What is known of it, at the path where it is now.
    package let record: OutputRecord
    /// How it was made, as text. (``record`` may have the number of another database.)
    package let recipe: String
    /// The job's name.
    package let job: String
    /// The real path of the job's manifest, when it published this.
    package let manifest: String
    package let origin: Origin

    /// What became of the job that published it.
    package enum Origin: Hashable, Sendable {
        /// Its manifest is gone: it was moved, renamed or removed.
        case gone
        /// Its manifest is this one, and gave the job another name.
        case renamed
        /// Its manifest is still there: the output is that job's.
        case there
    }

    package init(record: OutputRecord, recipe: String, job: String, manifest: String, origin: Origin) {
        self.record = record
        self.recipe = recipe
        self.job = job
        self.manifest = manifest
        self.origin = origin
    }

    var publisher: IndexContents.Publisher { IndexContents.Publisher(name: job, manifest: manifest) }

    /// Why a run leaves it as it is, and what to do.
    package var reason: String {
        // Both may come from an index, which lies where others may write.
        let job = PathText.visible(job)
        let publisher = "published by the job '\(job)' of \(PathText.visible(manifest))"
        return switch origin {
        case .gone:
            "\(publisher), which is gone; if it was moved here, 'penumbra adopt --moved' takes its outputs over, --force "
                + "replaces them"
        case .renamed:
            "published by this manifest's job when it was called '\(job)'; 'penumbra adopt --moved' takes its outputs over, "
                + "--force replaces them"
        case .there:
            "\(publisher), which is still there; write to another folder, or remove that manifest and give 'penumbra adopt "
                + "--moved'"
        }
    }
}

/// Looks up which other job published the outputs that a job finds at its paths and does not know. Changes nothing.
///
/// Both the database and the indexes beside the outputs tell: a manifest alone may have moved, or all of a tree.
package struct FormerSearch: Sendable {
    private let state: String
    private let job: JobSpec
    private let folders: [String]

    init(state: String, job: JobSpec, folders: [String]) {
        self.state = state
        self.job = job
        self.folders = folders
    }

    /// - Parameter paths: of outputs that this job knows nothing of.
    package func outputs(at paths: [String]) throws -> [PathKey: FormerOutput] {
        guard !paths.isEmpty else { return [:] }
        var found: [PathKey: FormerOutput] = [:]
        for folder in folders { try readIndex(in: folder, paths, &found) }
        let unknown = paths.filter { found[PathKey($0)] == nil }
        let database = Ledger.databasePath(state: state)
        guard !unknown.isEmpty, let store = try JobStore.asItIs(at: database) else { return found }
        try store.read { reader in
            let recipes = try reader.recipes()
            for path in unknown {
                guard let owned = try reader.outputs(at: path).first(where: { !isOwn($0.job, $0.manifest) }) else {
                    continue
                }
                found[PathKey(path)] = former(
                    owned.record, recipes[owned.record.recipe] ?? "", owned.job, owned.manifest)
            }
        }
        return found
    }

    private func readIndex(
        in folder: String, _ paths: [String], _ found: inout [PathKey: FormerOutput]
    ) throws {
        let wanted = paths.filter { PathNames.isBelow($0, folder) }
        guard !wanted.isEmpty,
            let bytes = try FileSystem.lines(of: PathNames.joined(folder, OutputIndex.name))
        else { return }
        let contents = IndexContents(Data(bytes), of: nil)
        for path in wanted {
            let key = PathKey(PathNames.relative(path, to: folder) ?? path)
            guard let output = contents.outputs[key], let publisher = contents.jobs[key],
                !isOwn(publisher.name, publisher.manifest)
            else { continue }
            let record = output.record(
                in: folder, recipe: RecipeID(place: output.recipe), encodings: contents.encodings)
            found[PathKey(path)] = former(
                record, contents.recipes[output.recipe], publisher.name, publisher.manifest)
        }
    }

    private func isOwn(_ name: String, _ manifest: String) -> Bool {
        name == job.name && PathKey(manifest) == PathKey(job.manifestPath)
    }

    private func former(
        _ record: OutputRecord, _ recipe: String, _ name: String, _ manifest: String
    ) -> FormerOutput {
        let isSame = PathKey(manifest) == PathKey(job.manifestPath)
        return FormerOutput(
            record: record, recipe: recipe, job: name, manifest: manifest,
            origin: isSame ? .renamed : FileSystem.isGone(manifest) ? .gone : .there)
    }
}
