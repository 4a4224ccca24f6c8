public import Coordination
import Engines
public import JobModel
import JobStorage
public import Runs
import Scheduling
import Settings

/// What programs that embed the farm use. Everything else of it is for the programs of this package.
///
/// Before its first call, such a program has to ignore SIGPIPE: `signal(SIGPIPE, SIG_IGN)`. The farm talks to worker processes,
/// which may end at any time. Without this, writing to a worker that has ended would end the program.
///
/// Runs belong to the state folder. Any process that uses the same folder sees them, so that the calls that take a run's name
/// work for runs of other processes, too: the `penumbra` command, or another program. The process that carries out a run owns it
/// until the call returns. If the process is killed, the run is `interrupted`, and any process can resume it.
///
/// Calls that take a run's name also take the beginning of the name, or a job's name for its latest run. All errors are ``Failure``s. Their messages are
/// for persons, and the same as those of the `penumbra` command. Their outcomes are its exit codes.
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
    ///   - name: the name of the run, for a request with one job. It has up to 64 letters, digits and `-_.`, and begins with a letter
    ///     or a digit. A run that was interrupted under this name is continued. Nil for a name made of the time.
    ///   - control: pauses, limits or cancels the runs meanwhile.
    ///   - receive: gets the events in their order, on a thread of its own. If it is slow, no event is lost, and the runs wait.
    /// - Returns: the worst outcome of the jobs.
    /// - Throws: why they could not run at all; ``Failure`` with the outcome `usage` if a run of this name has ended, or belongs to
    ///   another job.
    public func run(
        _ request: RunRequest, named name: String? = nil, control: RunControl = RunControl(),
        receive: @escaping @Sendable (Event) -> Void
    ) async throws(FarmError) -> RunOutcome {
        var request = request
        // Whoever resumes the run needs the same.
        setOwn(&request)
        var run = RequestedRun(request)
        if let name {
            guard let known = RunName(name) else { throw FarmError(.usage, "'\(name)': \(RunName.rule)") }
            run.name = known
        }
        return try await carryOut(run, folder: request.folder, control, receive)
    }

    private func carryOut(
        _ requested: RequestedRun, folder: String, _ control: RunControl,
        _ receive: @escaping @Sendable (Event) -> Void,
        _ settings: Settings? = nil
    ) async throws(FarmError) -> RunOutcome {
        var requested = requested
        requested.settings = settings ?? self.settings
        let (run, listener) = (requested, EventListener(folder: folder, receive: receive))
        // A run that is cut off in the middle would leave files behind: its control ends it in good order.
        let runs = Task { await run.run(control, listener).result }
        return try await withTaskCancellationHandler {
            await runs.value
        } onCancel: {
            control.cancel()
        }.get()
    }

    private func setOwn(_ request: inout RunRequest) {
        (request.stateFolder, request.configFile) = (settings.stateFolder.value, settings.configFile)
        (request.engine, request.scratch) = (settings.engine.value, settings.scratch.value)
        request.workers = request.workers ?? settings.workers.value
    }

    /// The runs that the state folder knows, past and present, the latest first. One run of a job goes on at a time, so that its
    /// manifest and job identify a run that has not ended.
    ///
    /// Reads the database and the folders of open runs, and blocks the thread meanwhile.
    public func runs() throws(FarmError) -> [Run] {
        do {
            return try RunArchive(state: settings.stateFolder.value).runs().map(Run.init)
        } catch {
            throw FarmError(error)
        }
    }
}

// MARK: Known runs

extension Farm {
    /// Resumes a run whose process was killed: `interrupted`. Published outputs stay, and rendered tiles are used. A run that another
    /// process has paused is released, and that process continues it.
    ///
    /// The run keeps its name and its request. This farm's own settings count, as in ``run(_:named:control:receive:)``. This process owns
    /// the run until the call returns. Messages name absolute paths.
    ///
    /// - Parameters:
    ///   - name: the run's name, its beginning, or a job.
    ///   - control: pauses, limits or cancels the run meanwhile. So does the task that calls this, if it is cancelled.
    ///   - receive: gets the events, as in ``run(_:named:control:receive:)``.
    /// - Returns: the outcome of the run; nil if another process has it, and continues.
    /// - Throws: ``Failure`` with the outcome `missingInput` if no run has the name, or if the run cannot be repeated, because the
    ///   folder where it was started is gone, say; `busy` if the run is `running`, `detached`, or has ended. For a run that was
    ///   cancelled or stopped, use ``retry(_:_:control:receive:)`` with ``Retried/left``. Otherwise why it could not run at all.
    public func resume(
        _ name: String, control: RunControl = RunControl(), receive: @escaping @Sendable (Event) -> Void
    ) async throws(FarmError) -> RunOutcome? {
        do {
            let archive = try RunArchive(state: settings.stateFolder.value)
            let known = try archive.run(name)
            switch await Resumption(of: known, in: archive, shownFrom: Self.messageFolder) {
            case .unpaused: return nil
            case .refused(let message, _): throw FarmError(.busy, message)
            case .carriedOut(let shared):
                var run = try RepeatedRun(known, in: archive, from: place(of: known)).run
                setOwn(&run.request)
                guard let shared else { return try await carryOut(run, folder: Self.messageFolder, control, receive) }
                run.sharing = .resumed(shared, asJob: false)
                run.ownState = settings.stateFolder.value
                return try await TemporaryState.with(nil) { state in
                    var (run, settings) = (run, settings)
                    run.request.stateFolder = state
                    settings.stateFolder = Setting(state)
                    return try await carryOut(run, folder: Self.messageFolder, control, receive, settings)
                }
            }
        } catch {
            throw FarmError(error)
        }
    }

    /// Which frames of an ended run are done again.
    public enum Retried: Hashable, Sendable {
        /// Frames that failed, including pictures that were known to be broken.
        case failed
        /// Frames that the run left, because it was cancelled, say, or its deadline came.
        case left
        /// These frames, whatever became of them, by their ``Frame/number``s. Outputs that are up to date stay.
        case numbers(Set<Int>)
    }

    /// Does frames of an ended run again, in a new run with the same request. Outputs that are up to date stay.
    ///
    /// Of a job, the latest run is meant that was no retry. The deadline of the request holds again. This farm's own settings count, as in ``run(_:named:control:receive:)``. This
    /// process owns the new run until the call returns. Messages name absolute paths.
    ///
    /// - Parameters:
    ///   - name: the run's name, its beginning, or a job.
    ///   - control: pauses, limits or cancels the new run meanwhile. So does the task that calls this, if it is cancelled.
    ///   - receive: gets the events, as in ``run(_:named:control:receive:)``. Messages about the chosen frames come first, on the caller's
    ///     thread.
    /// - Returns: the outcome of the new run. If no frame failed or was left, there is no new run: a message says so, and the outcome
    ///   is `done`.
    /// - Throws: ``Failure`` with the outcome `missingInput` if no run or none of the numbered frames is known, or if the run cannot
    ///   be repeated; `busy` if the run has not ended. Otherwise why the new run could not run at all.
    public func retry(
        _ name: String, _ frames: Retried = .failed, control: RunControl = RunControl(),
        receive: @escaping @Sendable (Event) -> Void
    ) async throws(FarmError) -> RunOutcome {
        do {
            let archive = try RunArchive(state: settings.stateFolder.value)
            let known = try archive.run(toRepeat: name)
            let retried =
                switch frames {
                case .failed: RetriedFrames(state: .failed, frames: nil)
                case .left: RetriedFrames(state: .left, frames: nil)
                case .numbers(let numbers): RetriedFrames(state: nil, frames: FrameNumbers(numbers))
                }
            switch try retried.retry(known, in: archive, from: place(of: known)) {
            case .nothing(let message, .done):
                receive(.message(Message(RunNotice.Text(.result, message))))
                return .done
            case .nothing(let message, let outcome): throw FarmError(outcome, message)
            case .repeated(var repeated, let notes):
                for note in notes { receive(.message(Message(RunNotice.Text(.remark, note)))) }
                repeated.change(by: setOwn)
                return try await carryOut(repeated.run, folder: Self.messageFolder, control, receive)
            }
        } catch {
            throw FarmError(error)
        }
    }

    /// Asks the process that has a run to end it, this one or another. It reads the request within a second, and ends the run in good
    /// order: ``runs()`` says when. An `interrupted` or `detached` run ends at once: its jobs on a cluster are cancelled, and its
    /// files are removed. Published outputs stay.
    ///
    /// - Parameter name: the run's name, its beginning, or a job.
    /// - Returns: what was done, for persons. A run that has ended already is no error.
    /// - Throws: ``Failure`` with the outcome `missingInput` if no run has the name; `busy` if a process has just taken the run over;
    ///   `unavailable` if a cluster does not cancel the run's jobs; `storage` if files or the database cannot be written.
    public func cancel(_ name: String) async throws(FarmError) -> [Message] {
        do {
            let archive = try RunArchive(state: settings.stateFolder.value)
            let messages = try await archive.cancel(try archive.run(name)) { try settings.batchSystem(for: $0) }
            return messages.map(Message.init)
        } catch {
            throw FarmError(error)
        }
    }

    /// The frames of a known run, as far as they are recorded. Pictures that were known to be broken follow them, without numbers.
    /// Frames whose outputs were up to date are not listed, nor are frames that had not begun.
    ///
    /// Reads all of the run's frames from the database into memory, and blocks the thread meanwhile. A run that goes on records its
    /// frames with a short delay.
    ///
    /// - Parameter name: the run's name, its beginning, or a job.
    /// - Throws: ``Failure`` with the outcome `missingInput` if no run has the name; `storage` if the database cannot be read.
    public func frames(ofRun name: String) throws(FarmError) -> [Frame] {
        do {
            let archive = try RunArchive(state: settings.stateFolder.value)
            let run = try archive.run(name)
            let details = try archive.details(of: run)
            return details.frames.map(Frame.init) + (try archive.stillBroken(in: run, details)).map(Frame.init)
        } catch {
            throw FarmError(error)
        }
    }

    /// An embedding program has no folder of its own: paths in messages stay absolute.
    private static let messageFolder = "/"

    private func place(of run: RunStatus) -> RepeatedRun.Place {
        RepeatedRun.Place(folder: Self.messageFolder, configFile: settings.configFile) { request in
            guard request.arguments == nil else {
                throw FarmError(
                    .missingInput,
                    "\(run.stored.name): an early version of Penumbra has begun it; only the penumbra command can repeat it"
                )
            }
            return request
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
        /// The run is among ``Farm/runs()`` from now on, the latest of its job.
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
            /// It has begun and not ended. Only ``Farm/frames(ofRun:)`` has this state.
            case open
        }

        /// Its number in the run, from 1; nil for a picture that was known to be broken. The pages of a file may share a number.
        public let number: Int?

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
        /// In nanoseconds since 1970.
        public let started: Int64
        /// Nil if it has not ended.
        public let ended: Int64?
        /// Nil if it has not ended.
        public let outcome: RunOutcome?

        init(_ run: RunStatus) {
            (started, ended) = (run.stored.started, run.ended)
            outcome = run.exitCode.flatMap { RunOutcome(number: $0) }
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
        case .finished, .detached: break
        }
    }
}

extension Farm.Frame {
    fileprivate init(_ report: FrameReport) {
        (number, input, outputs) = (report.index, report.input, report.outputs)
        // A report is made when a frame has ended.
        state = report.state == .open ? .left : State(report.state)
    }

    fileprivate init(_ stored: StoredFrame) {
        // An output that is kept has an empty path.
        (number, input, outputs) = (stored.number, stored.input, stored.outputs.filter { !$0.isEmpty })
        state = State(stored.state)
    }

    fileprivate init(_ broken: BrokenRecord) {
        (number, input, outputs) = (nil, broken.input, [])
        state = .failed(broken.message)
    }
}

extension Farm.Frame.State {
    fileprivate init(_ result: FrameResult) {
        self =
            switch result {
            case .published: .published
            case .skipped: .skipped
            case .kept: .kept
            case .failed(_, let message), .stillBroken(_, let message): .failed(message)
            case .left: .left
            case .open: .open
            }
    }
}

extension Farm.Message {
    fileprivate init(_ words: RunNotice.Text) {
        let isError =
            switch words.kind {
            case .error, .problemFiles: true
            case .result, .remark, .warning, .manifestWarning, .files, .removedFiles: false
            }
        self.init(isError: isError, text: words.message, paths: words.paths)
    }
}
