package import JobModel
package import Scheduling
package import WorkerProtocol

/// Reads the headers of picture files.
package enum HeaderSurvey {
    /// By path. Files that are no pictures, and those that a stopped survey did not reach, are missing.
    package static func run(
        _ paths: [String], job: JobSpec, settings: RunSettings, loop: RunLoop
    ) async -> (found: [PathKey: ImageFacts], stop: StopReason?) {
        var plain = job
        plain.chain = []
        plain.outputs = [JobOutput(template: OutputTemplate(source: "", pieces: []))]
        let answers = await Inquiry.run(plain, count: paths.count, settings: settings, loop: loop) { place in
            FrameOrder(id: FrameID(place), input: paths[place], formats: ["png"], goal: .survey)
        }
        var found: [PathKey: ImageFacts] = [:]
        for case (let frame, .surveyed(let probe)) in answers.outcomes {
            found[PathKey(paths[frame.number])] = probe.source
        }
        return (found, answers.stop)
    }
}
