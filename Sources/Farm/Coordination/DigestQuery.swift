package import JobModel
package import Scheduling
package import WorkerProtocol

/// Reads files from end to end, on all workers.
package enum DigestQuery {
    /// Files that could not be read, and those that a stopped comparison did not reach, are missing.
    package static func run(
        _ files: [DigestTask.File], job: JobSpec, settings: RunSettings, loop: RunLoop
    ) async -> (findings: Freshness.Findings, stop: StopReason?) {
        let answers = await FileQuery.run(job, count: files.count, settings: settings, loop: loop) { place in
            FrameOrder(
                id: FrameID(place), input: files[place].path, compared: [files[place]], formats: [],
                goal: .comparison)
        }
        var findings: Freshness.Findings = [:]
        for (frame, facts) in answers.facts { findings[files[frame.number]] = facts.first }
        return (findings, answers.stop)
    }
}
