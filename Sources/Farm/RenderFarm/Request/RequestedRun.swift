import Catalogs
package import Coordination
import Engines
import FoundationEssentials
package import JobModel
import JobStorage
import Planning
package import Runs
import SafeFiles
import Scheduling
package import Settings
import Synchronization

/// Carries out a request, from the reading of its manifests to the end of its last job.
package struct RequestedRun {
    package var request: RunRequest
    /// The stored form of the request, by which another process can resume the run. A resumed run keeps its first one. With another
    /// one nothing that was done would count.
    private var storedText: String
    package var sharing: RunSharing
    /// The run resumes or repeats an earlier one.
    private var isRepeated = false
    package var heartbeat = Heartbeat()
    /// The name of its one run, which may have been interrupted; nil for new runs.
    package var name: RunName?
    /// A run that a signal or an error of its machine stops gets no end, so that another process can resume it by its name.
    package var isLeftOpen = false
    /// The manifest and name of the one job that is resumed; nil for all jobs.
    package var single: (manifest: String, job: String)?
    /// The inputs that are left out, if the request names a run by ``RunRequest/leftOf``.
    package var concluded: Set<PathKey> = []
    /// The inputs that the run itself has begun, if the request names a run by ``RunRequest/leftOf``; empty for a new run.
    package var begun: Set<PathKey> = []
    /// How many frames of ``RunRequest/limit`` are left; nil for all of them.
    package var remainingLimit: Int?
    /// Settings in place of those that the request names.
    package var settings: Settings?
    /// Messages show paths as they are seen from this folder; nil for the request's folder.
    package var shownFrom: String?
    /// The user's state folder, if the run has another one.
    package var ownState: String?

    /// - Parameter sharing: nil for what the request says.
    package init(_ request: RunRequest, sharing: RunSharing? = nil) {
        self.request = request
        self.sharing = sharing ?? (request.isDetached ? .detached : .none)
        storedText = request.text
    }

    /// - Parameter storedText: the stored form of the run that is resumed.
    package init(resuming request: RunRequest, storedText: String) {
        self.request = request
        self.storedText = storedText
        sharing = .none
        isRepeated = true
    }

    /// Makes it another run, whose request differs from the stored one.
    ///
    /// - Parameter stored: the stored request.
    package mutating func change(_ stored: inout RunRequest, by change: (inout RunRequest) -> Void) {
        change(&stored)
        change(&request)
        storedText = stored.text
    }

    /// Runs the jobs of the request.
    ///
    /// - Parameters:
    ///   - control: stops or pauses the jobs.
    ///   - receiver: gets the events in their order, on a thread of its own.
    ///   - abandoned: returns when a slow receiver shall not be waited for any longer.
    /// - Returns: the worst outcome of the jobs, or why they could not run; and how many events it has not received.
    package func run(
        _ control: RunControl, _ receiver: any RunListener, unless abandoned: (@Sendable () async -> Void)? = nil
    ) async -> (result: Result<RunOutcome, FarmError>, unread: Int) {
        let listener = RunEventQueue(receiver)
        let result: Result<RunOutcome, FarmError>
        do {
            if let narrowing = request.narrowing, request.orphans != .listed {
                listener.report(.orphansStay(because: narrowing))
            }
            var reports = RunReports()
            reports.page = try request.reportPage.map { try ReportFile($0, .page, in: request.folder) }
            reports.metrics = try request.metricsFile.map { try ReportFile($0, .metrics, in: request.folder) }
            try reports.page?.refuseForbidden()
            try reports.metrics?.refuseForbidden()
            let deadline = request.deadline.map { Deadline(start: .now, allowed: .seconds($0)) }
            var farm = Farm(try settings ?? Settings.load(request))
            farm.runName = name
            try refuseWrongEngine(farm.settings)
            let catalog = try await farm.catalogOfFirstWorker()
            listener.warn(of: catalog)
            let files = ManifestFiles(request, catalog: catalog, settings: farm.settings, control: control)
            let memory = request.isWatching ? WatchMemory() : nil
            func read() async throws -> (specs: [JobSpec], runner: JobRunner) {
                let specs = try listener.jobs(await files.checkedForRun(by: farm.worker)).filter { spec in
                    single.map { spec.manifestPath == $0.manifest && spec.name == $0.job } ?? true
                }
                if name != nil, specs.count > 1 {
                    throw FarmError(
                        .usage,
                        "--run names one run, and there are \(specs.count) jobs\n   = give one manifest with one job")
                }
                var preparation = try JobPreparation(
                    request, without: concluded, begun: begun, farm: farm, catalog: catalog, control: control,
                    deadline: deadline,
                    reread: files.rereader())
                preparation.folder = shownFrom ?? request.folder
                preparation.limit = remainingLimit ?? request.limit
                preparation.hasOwnState = ownState != nil
                var context = RunContext(
                    request, preparation, listener, memory: .run(request: storedText), heartbeat: heartbeat)
                (context.sharing, context.reports, context.watch) = (sharing, reports, memory)
                (context.ownState, context.originalCommand) = (ownState, originalCommand)
                context.isLeftOpen = isLeftOpen
                return (specs, JobRunner(context))
            }
            var texts = files.texts()
            let (specs, runner) = try await read()
            if request.isWatching {
                func watched(_ specs: [JobSpec], _ runner: JobRunner) -> WatchedJobs {
                    // A new file may still be written.
                    let resting = specs.map { spec in
                        var spec = spec
                        if spec.minAge == 0 { spec.minAge = 2 }
                        return spec
                    }
                    return WatchedJobs(jobs: resting) { try await runner.run(resting) }
                }
                var loop = WatchLoop(
                    watched: watched(specs, runner), manifests: files.paths, control: control, folder: request.folder,
                    listener: listener
                ) {
                    let now = files.texts()
                    guard now != texts else { return nil }
                    texts = now
                    let (specs, runner) = try await read()
                    return watched(specs, runner)
                }
                result = .success(try await loop())
            } else {
                result = .success(try await runner.run(specs))
            }
        } catch {
            result = .failure(FarmError(error))
        }
        return (result, await listener.finish(unless: abandoned))
    }

    private func refuseWrongEngine(_ settings: Settings) throws(FarmError) {
        // Another process may resume a run with another engine than the one that began it.
        if !isRepeated, sharing == .none || sharing == .detached {
            try settings.check(slurmArguments: request.slurmArguments)
        }
        if sharing == .detached, let refusal = settings.engine.value.detachRefusal { throw FarmError(.usage, refusal) }
    }

    /// The command that takes options, if another one began the run.
    private var originalCommand: String? {
        switch sharing {
        case .resumed: "penumbra prepare"
        case .none, .detached: isRepeated ? "penumbra run" : nil
        case .prepared: nil
        }
    }
}

extension RunRequest {
    /// The options that choose some of the frames; nil if all are wanted.
    var narrowing: String? {
        let options =
            (only.isEmpty ? [] : ["--only"]) + (limit == nil ? [] : ["--limit"])
            + (filesFrom == nil ? [] : ["--files-from"])
        return options.isEmpty ? nil : options.joined(separator: " and ")
    }

    var wantsSomeFrames: Bool { isRetry || narrowing != nil }
}

/// What all parts of a run share: its request, its preparation, and its listener.
package struct RunContext: Sendable {
    package let preparation: JobPreparation
    package private(set) var listener: any RunListener
    package let request: RunRequest
    package let memory: Memory
    var sharing = RunSharing.none
    var reports = RunReports()
    /// Nil unless the jobs are watched.
    var watch: WatchMemory?
    /// The command that takes options, if another one began the run.
    var originalCommand: String?
    /// Another process resumes a run that a signal or an error of the machine stops.
    var isLeftOpen = false
    /// The state folder of earlier runs, if this run has another one. It tells whether outputs are missing.
    var ownState: String?
    /// Gives signs of life for the runs of the request.
    let heartbeat: Heartbeat
    /// Identifies this command.
    let command = RunName.new().text

    /// What keeps the workers of a job from the rest of this machine. Nil if other machines may do a part of the work.
    func sandbox(of plan: JobPlan) -> SandboxReport? {
        guard !isShared, !farm.settings.engine.value.isCluster else { return nil }
        let report = preparation.catalog.sandbox
        return plan.makesFolders ? report.withFolders : report
    }

    /// What is remembered of a run.
    package enum Memory: Hashable, Sendable {
        /// Nothing: the job has no manifest, and several runs of it may go on at once.
        case none
        /// The job's outputs. One run of a job is active at a time.
        case outputs
        /// The outputs and the run, with its request as JSON. Another process can resume it.
        case run(request: String)
    }

    package init(
        _ request: RunRequest, _ preparation: JobPreparation, _ listener: any RunListener, memory: Memory,
        heartbeat: Heartbeat = Heartbeat()
    ) {
        self.heartbeat = heartbeat
        self.request = request
        self.preparation = preparation
        self.listener = listener
        self.memory = memory
    }

    /// The same with another listener.
    func reporting(to listener: any RunListener) -> RunContext {
        var context = self
        context.listener = listener
        return context
    }

    var farm: Farm { preparation.farm }
    var control: RunControl { preparation.control }
    var deadline: Deadline? { preparation.deadline }
    /// The folder that holds the database and the runs.
    var state: String { farm.settings.stateFolder.value }
    var folder: String { preparation.folder }

    var remembersOutputs: Bool { memory != .none }
    var isRecorded: Bool { storedRequest != nil }
    var storedRequest: String? { if case .run(let request) = memory { request } else { nil } }
    var isShared: Bool { sharing != .none }

    /// A watch continues if its inputs are gone for a moment.
    var allowsEmpty: Bool { request.allowsEmpty || request.isWatching }
    /// Only news that somebody must know is reported. One-time reports count as reported only then.
    var isSilent: Bool { request.isQuiet && !request.printsJSON }

    var missingDiskCheck: MissingDiskCheck {
        MissingDiskCheck(
            allowsEmpty: allowsEmpty, allowsGone: request.allowsGone, folder: folder, originalCommand: originalCommand)
    }

    /// Whether another coordinator continues the run if this process ends.
    func isContinued(_ run: RunClaim) -> Bool {
        switch sharing {
        case .none: isLeftOpen && isRecorded
        case .detached: false
        // An earlier preparation must not be lost.
        case .prepared: !run.isNew
        case .resumed: true
        }
    }

    /// Tells the next coordinator which pictures are broken. If that fails, it tries them again.
    func passOn(_ kind: RunLog.BrokenPictures, of ledger: Ledger?, to run: RunFolder) {
        if isShared { try? ledger?.shareBroken(kind, to: run.log) }
    }
}

/// How a run continues without the process that began it.
package enum RunSharing: Hashable, Sendable {
    /// It does not.
    case none
    /// It is handed to a cluster.
    case detached
    /// Shards of it are written into a folder, for any scheduler.
    case prepared(shards: Int, folder: String)
    /// An earlier coordinator began it. A job on the cluster resumes it, or a person.
    case resumed(RunFolder, asJob: Bool)

    var isResumed: Bool { if case .resumed = self { true } else { false } }
    /// A person took it from the cluster's job.
    var isTakenFromJob: Bool { if case .resumed(_, asJob: false) = self { true } else { false } }
    /// A job on the cluster resumes it.
    var isResumedByJob: Bool { if case .resumed(_, asJob: true) = self { true } else { false } }
}

extension RunClaim {
    /// No earlier coordinator had the run.
    var isNew: Bool { epoch == 1 }
}

/// Runs the jobs of a request, or adopts their outputs. It admits all jobs before the first one starts.
package struct JobRunner: Sendable {
    let context: RunContext

    package init(_ context: RunContext) { self.context = context }

    package enum Work {
        case render
        /// Accept existing outputs as current.
        ///
        /// - Parameter moved: only outputs of jobs or pictures that had another name or folder.
        case adopt(moved: Bool)
    }

    /// Admits jobs, does the work on each of them, and releases what they hold.
    ///
    /// - Returns: the worst outcome of the jobs.
    package func run(_ jobs: [JobSpec], _ work: Work = .render) async throws -> RunOutcome {
        let start = Date()
        // A job may wait for hours until the jobs before it end, and may take minutes for its plan and for its end.
        async let _ = context.heartbeat.run()
        var stages: [JobStage] = []
        let result: Result<RunOutcome, any Error>
        do {
            var admission = Admission(context: context)
            let refused = try await admission.admit(jobs, &stages)
            result = .success(max(try await carryOut(work, &stages), refused))
        } catch let error as FileError {
            result = .failure(FarmError(.storage, Admission(context: context).message(for: error)))
        } catch {
            result = .failure(error)
        }
        for stage in stages where stage.isHandedOver { await stage.leave(context) }
        for stage in stages where !stage.isHandedOver { await stage.leave(context) }
        await Blocking.run { reportUnstarted(jobs, result, since: start) }
        return try result.get()
    }

    private func carryOut(_ work: Work, _ stages: inout [JobStage]) async throws -> RunOutcome {
        var worst = RunOutcome.done
        switch work {
        case .adopt(let moved):
            for job in stages.compactMap(\.job) {
                worst = max(worst, try await JobAdoption(context: context).adopt(job, moved: moved))
            }
        case .render:
            let execution = Execution(context: context)
            for index in stages.indices {
                let outcome = try await execution.run(&stages[index])
                worst = max(worst, outcome)
                if outcome == .storage || outcome > .busy { break }
            }
            try await Blocking.run { [stages] in try Finishing(context: context).writeReports(stages) }
        }
        return worst
    }

    /// The metrics report jobs that could not start, too.
    private func reportUnstarted(_ jobs: [JobSpec], _ result: Result<RunOutcome, any Error>, since start: Date) {
        let (outcome, told): (RunOutcome, String?) =
            switch result {
            case .success(let outcome): (outcome, nil)
            case .failure(let error): (FarmError(error).outcome, FarmError(error).message)
            }
        do {
            try context.reports.writeUnstartedMetrics(
                jobs.map(\.name), outcome, since: start.timeIntervalSince1970, now: Date().timeIntervalSince1970)
        } catch {
            // The run's own outcome is more important. If the same file was the reason, it is told once.
            if FarmError(error).message != told { context.listener.report(.failed(FarmError(error))) }
        }
    }
}

/// Gives signs of life for the claims of a request, for machines that cannot see the claims' locks.
package final class Heartbeat: Sendable {
    private struct Claim {
        let path: String
        let epoch: Int
    }

    private let claims = Mutex<[Claim]>([])
    private let sleep: @Sendable (Duration) async throws -> Void

    package init(sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }) {
        self.sleep = sleep
    }

    /// The claim is not kept: its locks are released when the run lets go of it. A later sign of life finds no file, or the file of
    /// a coordinator that is not the latest one.
    func add(_ claim: RunClaim) { claims.withLock { $0.append(Claim(path: claim.path, epoch: claim.epoch)) } }

    /// Returns when its task is cancelled.
    func run() async {
        while (try? await sleep(CoordinatorClaim.heartbeat)) != nil {
            let claims = claims.withLock(\.self)
            // A network disk may not answer.
            await Blocking.run { for claim in claims { CoordinatorClaim.beat(epoch: claim.epoch, in: claim.path) } }
        }
    }
}

/// How far a job of a request has come, with what exists at that point.
enum JobStage {
    /// The run has a folder, but no locks or no plan.
    case claimed(RunClaim)
    /// The job is locked and planned. Its work has not begun.
    case prepared(ClaimedJob)
    /// The work has begun.
    case running(ClaimedJob)
    /// Another coordinator continues it.
    case handedOver(ClaimedJob)
    /// The run has ended here, and its end was reported.
    case ended(JobResult)

    var job: ClaimedJob? {
        switch self {
        case .claimed: nil
        case .prepared(let job), .running(let job), .handedOver(let job): job
        case .ended(let result): result.job
        }
    }

    /// Nil unless it has ended here.
    var result: JobResult? { if case .ended(let result) = self { result } else { nil } }
    var isHandedOver: Bool { if case .handedOver = self { true } else { false } }

    /// Closes the database, and removes or releases the run's folder at the end of the command, as the stage demands.
    func leave(_ context: RunContext) async { await Blocking.run { leaveNow(context) } }

    private func leaveNow(_ context: RunContext) {
        job?.ledger?.close()
        switch self {
        case .claimed(let folder):
            if folder.isNew { Self.remove(folder, context) } else { Self.release(folder, context) }
        case .prepared(let job):
            // An interrupted run that was not resumed stays interrupted.
            if job.folder.isNew { remove(job, context) } else { Self.release(job.folder, context) }
        case .running(let job): remove(job, context)
        case .ended(let result): remove(result.job, context)
        case .handedOver(let job): Self.release(job.folder, context)
        }
    }

    private static func release(_ folder: RunClaim, _ context: RunContext) {
        if context.isShared { folder.release() }
    }

    private static func remove(_ folder: RunClaim, _ context: RunContext) {
        // A folder that comes and goes with every run would wake a watch for ever.
        if context.request.isWatching { folder.keepFolders() }
        folder.remove()
    }

    private func remove(_ job: ClaimedJob, _ context: RunContext) {
        guard job.lock?.roots.areInPlace ?? true else {
            if context.request.isWatching { job.folder.keepFolders() }
            return job.folder.leaveToNextRun()
        }
        Self.remove(job.folder, context)
    }
}

/// A prepared job with its locks and its run folder.
struct ClaimedJob {
    var prepared: PreparedJob
    let folder: RunClaim
    /// Nil for jobs without a manifest, because several runs of them may go on.
    let lock: JobLock?
    let ledger: Ledger?
    /// Nil if the manifest asks for none.
    let index: IndexFile?

    var name: String { prepared.job.name }

    func tracker() -> OutputTracker {
        OutputTracker(
            ledger: ledger, freshness: prepared.freshness, hasPictures: prepared.job.readsPictures,
            now: Int(currentTime() / 1_000_000_000))
    }
}
