import SafeFiles
package import JobModel
package import Scheduling
package import WorkerProtocol

/// Reads the headers of picture files, and of Deep Zoom folders.
package enum HeaderQuery {
    /// What is known of a picture, or why nothing is.
    package typealias Headers = [DigestTask.File: Result<PictureHeader, FrameFailure>]

    /// Files that a stopped survey did not reach are missing.
    package static func run(
        _ files: [DigestTask.File], job: JobSpec, settings: RunSettings, loop: RunLoop
    ) async -> (found: Headers, stop: StopReason?) {
        var found: Headers = [:]
        for file in files where FileSystem.isOwnFolder(file.path) {
            found[file] = Result { () throws(FrameFailure) in try PictureHeader(ofFolder: file.path) }
        }
        let pictures = files.filter { found[$0] == nil }
        var plain = job
        plain.chain = []
        plain.outputs = [JobOutput(template: OutputTemplate(source: "", pieces: []))]
        let answers = await FileQuery.run(plain, count: pictures.count, settings: settings, loop: loop) { place in
            let file = pictures[place]
            return FrameOrder(
                id: FrameID(place), input: file.path, inputBytes: file.bytes, formats: ["png"], goal: .survey)
        }
        for (frame, outcome) in answers.outcomes {
            switch outcome {
            case .surveyed(let probe):
                found[pictures[frame.number]] = .success(
                    PictureHeader(width: probe.source.width, height: probe.source.height))
            case .failed(let failure): found[pictures[frame.number]] = .failure(failure)
            case .published, .left, .settled: break
            }
        }
        return (found, answers.stop)
    }
}
