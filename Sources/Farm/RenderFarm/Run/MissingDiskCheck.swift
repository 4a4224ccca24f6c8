package import Coordination
package import JobModel
import JobStorage
import Planning
import Reports
package import Runs

/// Refuses jobs whose inputs or outputs of the last run are gone as if a disk were not mounted (exit code 66).
package struct MissingDiskCheck {
    /// Inputs that match nothing are no error, and pictures whose disk is missing are left for another run.
    package let allowsEmpty: Bool
    /// Pictures and outputs that are gone were removed, whatever it looks like.
    package let allowsGone: Bool
    /// Messages show paths as they are seen from there.
    package let folder: String
    /// The command that takes the options; nil where it is this one.
    var originalCommand: String?

    package init(allowsEmpty: Bool, allowsGone: Bool, folder: String, originalCommand: String? = nil) {
        (self.allowsEmpty, self.allowsGone) = (allowsEmpty, allowsGone)
        (self.folder, self.originalCommand) = (folder, originalCommand)
    }

    /// The same without a lock: refuses outputs whose disk is missing, before a run makes any folder.
    package func refuseLostDisks(of job: JobSpec, state: String) throws {
        if !allowsGone { try refuse(MissingDisks.outputsOfDisks(of: job, state: state).first, job) }
    }

    /// Refuses to work on a run whose outputs' disk was mounted when it was prepared, and is not now.
    package static func refuseLostDisks(of run: RunFolder) throws(FarmError) {
        guard let cause = run.record?.disks?.loss() else { return }
        throw FarmError(
            .missingInput,
            "\(run.name): \(cause.message(of: "the folder of this run's outputs"))\n   = mount the disk, and give the command "
                + "again; or prepare the run again", isLoss: true)
    }

    /// - Parameter there: the folders of outputs that were there before the run created what was missing; nil for who creates
    ///   none.
    package func refuseLostOutputs(of job: JobSpec, state: String, there: Set<PathKey>? = nil) throws {
        if !allowsGone { try refuse(MissingDisks.outputs(of: job, state: state, existing: there).first, job) }
    }

    private func refuse(_ lost: MissingDisks.Outputs?, _ job: JobSpec) throws {
        guard let lost else { return }
        let outputs = Figures.plural(lost.count, "output")
        throw FarmError(
            .missingInput,
            "\(manifest(of: job)): error: \(lost.cause.message(of: "the \(outputs) of this job"))\n   = \(lost.cause.remedy) If "
                + "the outputs were removed or moved on purpose, \(option("--allow-gone")) makes them again in "
                + PathText.visible(lost.folder), isLoss: true)
    }

    /// Pictures whose disk is missing; and an entry of `inputs` that matched pictures in the last run and matches none now, while
    /// others match some.
    package func refuseLostInputs(_ prepared: PreparedJob) throws(FarmError) {
        guard !allowsEmpty, !allowsGone else { return }
        let manifest = manifest(of: prepared.job)
        if let lost = prepared.lost.first {
            throw FarmError(
                .missingInput,
                "\(manifest): error: \(lost.message)\n   = \(lost.cause.remedy) If the pictures were removed or moved on purpose, "
                    + "\(option("--allow-gone")) goes on without them; their outputs then have no input", isLoss: true)
        }
        if let lost = MissingDisks.inputs(prepared.contents.knownDisks.inputs, prepared.plan.matches).first {
            throw FarmError(
                .missingInput,
                "\(manifest): error: nothing matches '\(PathText.shown(lost.pattern, from: folder))' any more, "
                    + "which matched \(Figures.plural(lost.count, "file")) in the last run\n   = is a disk not mounted? If that can "
                    + "happen, \(option("--allow-empty")) makes it no error", isLoss: true)
        }
    }

    private func option(_ name: String) -> String { originalCommand.map { "'\($0) \(name)'" } ?? name }

    private func manifest(of job: JobSpec) -> String {
        PathText.visible(PathText.shown(job.manifestPath, from: folder))
    }
}

extension MissingDisks.Cause {
    /// - Parameter things: those that are lost: `the 3 outputs of this job`.
    package func message(of things: String) -> String {
        switch self {
        case .notMounted(let mount): "\(PathText.visible(mount)) is not mounted, which had \(things)"
        case .otherDisk(let mount):
            "another disk than in the last run is mounted at \(PathText.visible(mount)), without \(things)"
        case .emptyDisk(let mount): "the disk at \(PathText.visible(mount)) is empty, which had \(things)"
        case .emptyFolder(let folder): "\(PathText.visible(folder)) has none of \(things) any more"
        case .missing(_, let link?): "\(link.message), and had \(things)"
        case .missing(let folder, nil): "\(PathText.visible(folder)) is missing, which had \(things)"
        }
    }

    package var remedy: String {
        switch self {
        case .notMounted: "mount the disk, and run the job again."
        case .otherDisk, .emptyDisk: "is that the right disk?"
        case .emptyFolder, .missing: "is a disk not mounted?"
        }
    }
}

extension MissingDisks.Pictures {
    package var message: String { cause.message(of: "\(Figures.plural(count, "picture")) of this job") }
}
