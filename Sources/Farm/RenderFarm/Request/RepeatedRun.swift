import Coordination
import Glibc
import JobModel
import JobStorage
package import Runs

/// A stored run whose request is carried out again.
package struct RepeatedRun {
    package var run: RequestedRun
    /// The stored request, without changes for this process.
    private var stored: RunRequest

    /// What the process that repeats a run brings along.
    package struct Place {
        /// Messages show paths as they are seen from this folder.
        package var folder: String
        /// Replaces the config file of the request.
        package var configFile: String?
        /// Reads requests of version 1, which are command lines. It returns later versions unchanged.
        package var adapt: (RunRequest) throws -> RunRequest

        package init(
            folder: String, configFile: String?, adapt: @escaping (RunRequest) throws -> RunRequest
        ) {
            self.folder = folder
            self.configFile = configFile
            self.adapt = adapt
        }
    }

    /// - Throws: ``FarmError`` of a missing input if the run cannot be repeated; errors of the database and of `place`.
    package init(_ known: RunStatus, in archive: RunArchive, from place: Place) throws {
        func refusal(_ reason: String) -> FarmError { FarmError(.missingInput, "\(known.stored.name): \(reason)") }
        let text = known.stored.request
        guard let found = RunRequest(text: text), access(found.folder, X_OK) == 0 else {
            throw refusal("the folder in which it was started is gone; run its manifest again")
        }
        guard found.isKnown else {
            throw refusal(
                "a later version of Penumbra has begun it; resume it by that version, or run its manifest again")
        }
        stored = try place.adapt(found)
        var request = stored
        guard request.filesFrom != "-" else {
            throw refusal("its list of files came from the standard input; run it again with the same list")
        }
        request.isWatching = false
        if !archive.isShared { request.stateFolder = archive.state }
        request.configFile = place.configFile ?? request.configFile
        run = RequestedRun(resuming: request, storedText: text)
        // This process may have another folder than the run's.
        run.shownFrom = place.folder
        // Finished frames do not count any more.
        if let limit = request.limit, !known.condition.isEnded {
            run.remainingLimit = max(1, min(limit, known.counts.work - (try archive.concluded(of: known))))
        }
        if let left = request.leftOf {
            run.concluded = try archive.concludedInputs(ofRun: left)
            run.begun = Set(try archive.frames(of: known).map { PathKey($0.input) })
        }
        run.single = (known.stored.manifest, known.stored.job)
    }

    /// Makes it another run, with another request.
    package mutating func change(by change: (inout RunRequest) -> Void) { run.change(&stored, by: change) }
}

/// What becomes of a known run that is to be resumed.
package enum Resumption {
    /// Its request is carried out again.
    ///
    /// - Parameter shared: the run's folder, if other machines see it.
    case carriedOut(shared: RunFolder?)
    /// It was paused. The process that has it continues.
    case unpaused(String)
    /// There is nothing to resume. The run's outcome counts only if the run is shared.
    case refused(String, exitCode: Int = 0)

    /// - Parameter folder: messages show paths as they are seen from this folder.
    package init(of run: RunStatus, in archive: RunArchive, shownFrom folder: String) async {
        let name = run.stored.name
        if archive.isShared, let code = run.exitCode {
            // Its coordinator may have been killed before it removed the folder.
            await Blocking.run { RunFolder.sweep(state: archive.state) }
            let job = VisibleText.line(run.stored.job)
            let end = "\(name): the run of job '\(job)' has ended with exit code \(code)"
            self = .refused(
                code == 0
                    ? "\(end); nothing is left to do\n"
                        + "   = to render pictures that changed since: 'penumbra prepare' again, or the submit.sh of an export"
                    : end, exitCode: code)
            return
        }
        switch run.condition {
        case .paused:
            run.folder.takeBack(.pause)
            self = .unpaused("\(name): resumed")
        case _ where archive.isShared: self = .carriedOut(shared: RunFolder(state: archive.state, name: name))
        case .interrupted:
            let isLocal = run.folder.state == archive.state
            self = .carriedOut(shared: isLocal ? nil : RunFolder(state: run.folder.state, name: name))
        case .detached:
            self = .refused(
                "\(name): is with the cluster; 'penumbra resume --run-dir \(run.folder.state)' takes it over")
        case .running: self = .refused("\(name): is running; there is nothing to resume")
        case .done, .failed, .stopped:
            self = .refused(
                run.leftFrames(shownFrom: folder) ?? "\(name): has ended; there is nothing to resume")
        }
    }
}
