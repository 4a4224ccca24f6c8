import Coordination
import JobModel
import Planning
import Reports

/// Refuses jobs whose inputs or outputs of the last run are gone as if a disk were not mounted (exit code 66).
struct LossRefusal {
    /// Inputs that match nothing are no error.
    let allowsEmpty: Bool
    /// Outputs that are all gone are no error.
    let allowsGone: Bool

    /// - Parameter there: the folders of outputs that were there before the run created what was missing; nil for who creates
    ///   none.
    func refuseLostOutputs(of job: JobSpec, state: String, there: Set<PathKey>? = nil) throws {
        guard !allowsGone, let lost = try LostPlaces.outputs(of: job, state: state, there: there).first else { return }
        let folder = PathText.visible(lost.folder)
        let outputs = Figures.plural(lost.count, "output")
        let what =
            lost.mount.map { "\(PathText.visible($0)) is not mounted, which had the \(outputs) of this job" }
            ?? "\(folder) is empty: the \(outputs) of this job and their index are gone"
        throw CommandError(
            .missingInput,
            "\(manifest(of: job)): error: \(what)\n   = is a disk not mounted? If they were removed or moved on purpose, --allow-gone "
                + "makes them again in \(folder)", isLoss: true)
    }

    /// An entry of `inputs` that matched pictures in the last run and matches none now, while others match some.
    func refuseLostInputs(_ plan: JobPlan, before: [PathKey: Int]) throws(CommandError) {
        guard !allowsEmpty, let lost = LostPlaces.inputs(before, plan.matches).first else { return }
        throw CommandError(
            .missingInput,
            "\(manifest(of: plan.job)): error: nothing matches '\(PathText.shown(lost.pattern, from: currentFolder()))' any more, "
                + "which matched \(Figures.plural(lost.count, "file")) in the last run\n   = is a disk not mounted? If that can "
                + "happen, --allow-empty makes it no error", isLoss: true)
    }

    private func manifest(of job: JobSpec) -> String {
        PathText.visible(PathText.shown(job.manifestPath, from: currentFolder()))
    }
}
