import Coordination
package import JobModel
package import Planning
package import Scheduling

/// How much there is to do of a job, by the headers of some of its pictures.
package struct WorkSample {
    package let plan: JobPlan
    package let estimate: WorkEstimate
    /// Pictures whose headers were read.
    package let lookedAt: Int

    /// As many give the size of a job to some percent, and take a few seconds.
    private static let mostLooks = 256

    /// - Throws: ``FarmError`` as a run would where there is nothing to do.
    package init(of job: JobSpec, _ preparation: JobPreparation) async throws {
        plan = try preparation.planned(try await preparation.readingPictures(of: job))
        let frames = Self.sample(plan.frames)
        let settings = preparation.installation.runSettings
        let count = min(plan.frames.count, preparation.limit ?? .max)
        let findings = try await preparation.probes(of: frames, plan)
        // Broken pictures are told when the job runs.
        let probes = frames.compactMap { try? findings[$0.id]?.get() }
        lookedAt = probes.count
        estimate = WorkEstimate(
            of: probes, frames: count, policy: settings.shardPolicy(plan.job, frames: count))
    }

    /// From all over the plan: pictures of one folder are often alike.
    private static func sample(_ frames: [PlannedFrame]) -> [PlannedFrame] {
        guard frames.count > mostLooks else { return frames }
        return (0..<mostLooks).map { frames[$0 * frames.count / mostLooks] }
    }
}
