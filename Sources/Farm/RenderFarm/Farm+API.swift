public import Coordination
import Engines
public import JobModel
import JobStorage
public import Runs
import Scheduling
import Settings

/// What programs that embed the farm use. Everything else of it is for the programs of this package.
///
/// Such a program ignores SIGPIPE: the farm talks to worker processes, which may end at any time.
extension Farm {
    /// Reads the settings: defaults, the config file, `PENUMBRA_…` variables, and these values, of which the last one counts.
    ///
    /// - Parameters:
    ///   - worker: the path of `penumbra-worker`. Without it the settings name it, or it is beside the running program.
    ///   - stateFolder: where runs are remembered. `penumbra status --state-dir` reads it, too.
    ///   - workers: how many worker processes a run has at once.
    ///   - folder: the folder where relative paths start.
    public init(
        worker: String? = nil, stateFolder: String? = nil, workers: Int? = nil, configFile: String? = nil,
        folder: String
    ) throws(FarmError) {
        var flags = Settings.Flags()
        (flags.worker, flags.stateFolder, flags.workers) = (worker, stateFolder, workers)
        flags.configFile = configFile
        let settings = try Settings.load(flags, folder: folder)
        try settings.refuseNetworkState()
        self.init(settings)
    }

    /// Runs the jobs of a request to their end. Several requests may run at once. To cancel the task that calls this is to cancel the
    /// runs by their control.
    ///
    /// The farm's own settings count: its state folder, config file, engine and scratch folder, not those of the request.
    ///
    /// - Parameters:
    ///   - control: pauses, limits or cancels the runs meanwhile.
    ///   - receive: gets the events in their order, on a thread of its own. If it is slow, no event is lost, and the runs wait.
    /// - Returns: the worst outcome of the jobs.
    /// - Throws: why they could not run at all.
    public func run(
        _ request: RunRequest, control: RunControl = RunControl(), receive: @escaping @Sendable (Event) -> Void
    ) async throws(FarmError) -> RunOutcome {
        var request = request
        // Whoever resumes the run needs the same.
        (request.stateFolder, request.configFile) = (settings.stateFolder.value, settings.configFile)
        (request.engine, request.scratch) = (settings.engine.value, settings.scratch.value)
        request.workers = request.workers ?? settings.workers.value
        var requested = RequestedRun(request)
        requested.settings = settings
        let (run, listener) = (requested, EventListener(folder: request.folder, receive: receive))
        // A run that is cut off in the middle would leave files behind: its control ends it in good order.
        let runs = Task { await run.run(control, listener).result }
        return try await withTaskCancellationHandler {
            await runs.value
        } onCancel: {
            control.cancel()
        }.get()
    }

    /// The runs that the state folder knows, past and present, the latest first.
    public func runs() throws(FarmError) -> [Run] {
        do {
            return try RunArchive(state: settings.stateFolder.value).runs().map(Run.init)
        } catch {
            throw FarmError(error)
        }
    }
}

/// The types of other modules that programs need, so that they import this module alone.
extension Farm {
    public typealias Request = RunRequest
    public typealias Control = RunControl
    public typealias Outcome = RunOutcome
    public typealias Failure = FarmError
}

extension Farm {
    /// What happens while a request is carried out.
    public enum Event: Sendable {
        case began(job: String, frames: Int)
        case progress(job: String, Progress)
        /// A frame has ended.
        case frame(job: String, Frame)
        case message(Message)
        /// A job has ended, or others continue it.
        case ended(job: String)
    }

    public struct Progress: Hashable, Sendable {
        /// Frames that have ended, including those that failed.
        public let done: Int
        public let failed: Int
        public let total: Int
    }

    /// One picture of a job.
    public struct Frame: Hashable, Sendable {
        public enum State: Hashable, Sendable {
            case published
            /// The outputs were up to date.
            case skipped
            /// The existing outputs were kept.
            case kept
            case failed(String)
            /// The run was stopped before.
            case left
        }

        public let input: String
        public let outputs: [String]
        public let state: State
    }

    /// A message for a person.
    public struct Message: Hashable, Sendable {
        /// A part of the request was not done, or somebody has to act.
        public let isError: Bool
        public let text: String
        public let paths: [String]
    }

    /// A run that the state folder knows.
    public struct Run: Hashable, Sendable {
        public let name: String
        public let job: String
        public let manifest: String
        /// `running`, `paused`, `interrupted`, `detached`, `done`, `failed` or `stopped`.
        public let state: String
        /// Why it stopped, if it did.
        public let reason: String?
        public let frames: Int
        public let published: Int
        public let failed: Int

        init(_ run: RunStatus) {
            (name, job, manifest) = (run.stored.name, run.stored.job, run.stored.manifest)
            (state, reason) = (run.condition.rawValue, run.reason)
            (frames, published, failed) = (run.counts.frames, run.counts.published, run.counts.failed)
        }
    }
}

/// Passes events on in the form that embedding programs know.
private struct EventListener: RunListener {
    /// Messages show paths as they are seen from this folder.
    let folder: String
    let receive: @Sendable (Farm.Event) -> Void

    func receive(_ event: RunEvent) {
        switch event {
        case .manifests(let outcome):
            for problem in outcome.problems {
                let named = problem.manifest.isEmpty ? "" : "\(problem.manifest): "
                receive(.message(Farm.Message(isError: problem.isError, text: named + problem.message, paths: [])))
            }
        case .began(let job, let frames): receive(.began(job: job, frames: frames))
        case .progress(let job, let progress):
            receive(
                .progress(
                    job: job, Farm.Progress(done: progress.done, failed: progress.failed, total: progress.total)))
        case .frame(let job, let report): receive(.frame(job: job, Farm.Frame(report)))
        case .notice(let notice): receive(.message(Farm.Message(notice.text(from: folder))))
        case .ended(let end): receive(.ended(job: end.job.name))
        case .handedOver(let job, _): receive(.ended(job: job))
        case .detached: break
        }
    }
}

extension Farm.Frame {
    fileprivate init(_ report: FrameReport) {
        (input, outputs) = (report.input, report.outputs)
        state =
            switch report.state {
            case .published: .published
            case .skipped: .skipped
            case .kept: .kept
            case .failed(_, let message): .failed(message)
            case .stillBroken(_, let message): .failed(message)
            case .left, .open: .left
            }
    }
}

extension Farm.Message {
    fileprivate init(_ words: RunNotice.Text) {
        let isError =
            switch words.kind {
            case .error, .problemFiles: true
            case .result, .remark, .warning, .manifestWarning, .files: false
            }
        self.init(isError: isError, text: words.message, paths: words.paths)
    }
}
