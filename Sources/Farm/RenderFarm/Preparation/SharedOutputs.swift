import Coordination
package import JobModel
import Planning
package import Scheduling

/// Finds the outputs that several jobs of one command would write.
///
/// Nobody knows which job is meant. So these frames fail in each of the jobs, as frames of one job do, and all others are rendered.
package enum SharedOutputs {
    /// What is wrong with frames, for each job.
    ///
    /// - Parameter folder: paths are shown as they are seen from there.
    /// - Throws: where no frame of any job is left.
    package static func problems(of jobs: [PreparedJob], folder: String) throws(FarmError) -> [[FrameID: String]] {
        var owners: [PathKey: (job: Int, target: FrameTarget)] = [:]
        var problems = jobs.map { _ in [FrameID: String]() }
        guard jobs.count > 1 else { return problems }
        var first: (output: String, jobs: [String])?
        for (place, prepared) in jobs.enumerated() {
            for target in prepared.targets {
                for output in target.outputs {
                    guard let owner = owners[PathKey(output)] else {
                        owners[PathKey(output)] = (place, target)
                        continue
                    }
                    guard owner.job != place else { continue }
                    let (job, other) = (prepared.job, jobs[owner.job].job)
                    if first == nil { first = (output, [other.name, job.name]) }
                    problems[place][target.frame.id] =
                        problems[place][target.frame.id] ?? message(target, output, as: owner.target, of: other, folder)
                    problems[owner.job][owner.target.frame.id] =
                        problems[owner.job][owner.target.frame.id]
                        ?? message(owner.target, output, as: target, of: job, folder)
                }
            }
        }
        if let first, zip(jobs, problems).allSatisfy({ $0.targets.count == $1.count }) {
            throw FarmError(
                .badManifest,
                "\(PathText.visible(first.output)): both '\(first.jobs[0])' and '\(first.jobs[1])' would write this output\n"
                    + "   = \(remedy)")
        }
        return problems
    }

    private static func message(
        _ target: FrameTarget, _ output: String, as other: FrameTarget, of job: JobSpec, _ folder: String
    )
        -> String
    {
        let manifest = PathText.shown(job.manifestPath, from: folder)
        return "\(PathText.visible(target.files.input)): would be written to \(PathText.visible(output)), as would "
            + "\(PathText.visible(other.files.input)) of the job '\(job.name)' in \(manifest); \(remedy)"
    }

    private static let remedy = "give the jobs different output folders, or names with {job}"
}
