package import Coordination
import Engines
import FoundationEssentials
package import JobModel
import JobStorage
import Planning
package import Runs
import Scheduling
package import Settings

/// Carries out a request, from the reading of its manifests to the end of its last job.
package struct RequestedRun {
    package var request: RunRequest
    /// What is stored of the request, so that another process can resume the run. A resumed run keeps its first one: if that were
    /// another, nothing of what was done would count.
    private(set) var storedText: String
    package var sharing: RunSharing
    /// An earlier process has begun the run, or one that it repeats.
    var isRepeated = false
    /// Of several jobs the one that is resumed, by its manifest and name; nil for all.
    package var single: (manifest: String, job: String)?
    /// The inputs that are passed by, if the request names a run by ``RunRequest/leftOf``.
    package var concluded: Set<PathKey> = []
    /// How many frames of ``RunRequest/limit`` are left; nil for all of them.
    package var remainingLimit: Int?
    /// In place of those that the request names.
    package var settings: Settings?
    /// Messages show paths as they are seen from there; nil for the request's folder.
    package var shownFrom: String?
    /// The user's state folder, if the run has another one.
    package var ownState: String?

    /// - Parameter sharing: nil for what the request says.
    package init(_ request: RunRequest, sharing: RunSharing? = nil) {
        self.request = request
        self.sharing = sharing ?? (request.isDetached ? .detached : .none)
        storedText = request.text
    }

    /// - Parameter storedText: of a run that is resumed.
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

    /// - Parameters:
    ///   - control: may stop or pause it meanwhile.
    ///   - reporting: is told what happens.
    /// - Returns: the worst outcome of its jobs.
    package func callAsFunction(
        _ control: RunControl, _ reporting: any RunListener
    ) async throws(FarmError) -> RunOutcome {
        do {
            return try await run(control, reporting)
        } catch {
            throw FarmError(error)
        }
    }

    private func run(_ control: RunControl, _ reporting: any RunListener) async throws -> RunOutcome {
        if let narrowing = request.narrowing, request.orphans != .listed {
            reporting.report(.orphansStay(because: narrowing))
        }
        var reports = RunReports()
        reports.page = try request.reportPage.map { try ReportFile($0, .page, in: request.folder) }
        reports.metrics = try request.metricsFile.map { try ReportFile($0, .metrics, in: request.folder) }
        let deadline = request.deadline.map { Deadline(start: .now, allowed: .seconds($0)) }
        let installation = Farm(try settings ?? Settings.load(request))
        // Another process may resume a run with another engine than the one that began it.
        if !isRepeated, sharing == .none || sharing == .detached {
            try installation.settings.check(slurmArguments: request.slurmArguments)
        }
        if sharing == .detached {
            switch installation.settings.engine.value {
            case .local: throw FarmError(.usage, "--detach needs a cluster: give --engine slurm, too")
            case .commands:
                throw FarmError(
                    .usage,
                    "--detach needs Slurm: by 'commands' no job can go on with a run; leave it out, or give --engine slurm"
                )
            case .slurm: break
            }
        }
        let catalog = try await installation.introducedCatalog()
        reporting.warn(ofPluginsIn: catalog)
        let files = ManifestFiles(request, catalog: catalog, settings: installation.settings, control: control)
        let memory = request.isWatching ? WatchMemory() : nil
        func read() async throws -> (specs: [JobSpec], runner: JobRunner) {
            let read = await files.withExaminedPictures(by: installation.worker)
            let specs = try reporting.jobs(read).filter { spec in
                single.map { spec.manifestPath == $0.manifest && spec.name == $0.job } ?? true
            }
            var preparation = JobPreparation(
                installation: installation, catalog: catalog, folder: shownFrom ?? request.folder, selection: selection,
                limit: remainingLimit ?? request.limit, firstLimit: request.limit,
                list: try ListedFiles.list(request.filesFrom, in: request.folder, control: control),
                isForced: request.isForced,
                control: control, deadline: deadline, reread: files.rereader())
            preparation.allowsMissing = request.allowsEmpty || request.isWatching || request.allowsGone
            preparation.allowsNothing = request.allowsEmpty || request.allowsGone
            preparation.allowsGone = request.allowsGone
            var context = RunContext(request, preparation, reporting, memory: .run(request: storedText))
            (context.sharing, context.reports, context.watch) = (sharing, reports, memory)
            (context.ownState, context.originalCommand) = (ownState, originalCommand)
            return (specs, JobRunner(context))
        }
        var texts = files.texts()
        let (specs, runner) = try await read()
        guard request.isWatching else { return try await runner.runReportingMetrics(specs) }
        func watched(_ specs: [JobSpec], _ runner: JobRunner) -> WatchedJobs {
            let resting = specs.map(Self.resting)
            return WatchedJobs(jobs: resting) { try await runner.runReportingMetrics(resting) }
        }
        var loop = WatchLoop(
            watched(specs, runner), manifests: files.paths, control: control, folder: request.folder,
            reporting: reporting
        ) {
            let now = files.texts()
            guard now != texts else { return nil }
            texts = now
            let (specs, runner) = try await read()
            return watched(specs, runner)
        }
        return try await loop()
    }

    /// A file that has just appeared may still be written.
    private static func resting(_ job: JobSpec) -> JobSpec {
        var job = job
        if job.minAge == 0 { job.minAge = 2 }
        return job
    }

    private var selection: JobPlan.Selection {
        JobPlan.Selection(
            only: request.only, from: request.folder, inputs: request.inputs.map { Set($0.map(PathKey.init)) },
            done: concluded)
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
    fileprivate var narrowing: String? {
        let options =
            (only.isEmpty ? [] : ["--only"]) + (limit == nil ? [] : ["--limit"])
            + (filesFrom == nil ? [] : ["--files-from"])
        return options.isEmpty ? nil : options.joined(separator: " and ")
    }
}

/// What all parts of a run share: its request, and what carries it out.
package struct RunContext {
    package let preparation: JobPreparation
    package let listener: any RunListener
    package let request: RunRequest
    package let memory: Memory
    var sharing = RunSharing.none
    var reports = RunReports()
    /// Nil unless the jobs are watched.
    var watch: WatchMemory?
    /// The command that takes options, if another one began the run.
    var originalCommand: String?
    /// Where earlier runs are remembered, if this one is not: what they published is not lost unseen.
    var ownState: String?
    /// Of this command and no other.
    let command = RunName.new()

    /// What stays of a run.
    package enum Memory: Hashable, Sendable {
        /// Outputs alone: the job has no manifest, and several runs of it may go on at once.
        case none
        /// The job's outputs are remembered. One run of a job goes on at a time.
        case outputs
        /// The run is stored, too, with its request as JSON. Another process can resume it.
        case run(request: String)
    }

    package init(
        _ request: RunRequest, _ preparation: JobPreparation, _ listener: any RunListener, memory: Memory
    ) {
        self.request = request
        self.preparation = preparation
        self.listener = listener
        self.memory = memory
    }

    var farm: Farm { preparation.installation }
    var control: RunControl { preparation.control }
    var deadline: Deadline? { preparation.deadline }
    /// The folder that holds the database and the runs.
    var state: String { farm.settings.stateFolder.value }
    var folder: String { preparation.folder }

    var remembersOutputs: Bool { memory != .none }
    var isRecorded: Bool { storedRequest != nil }
    var storedRequest: String? { if case .run(let request) = memory { request } else { nil } }
    var isShared: Bool { sharing != .none }

    /// A watch goes on if its inputs are gone for a moment.
    var allowsEmpty: Bool { request.allowsEmpty || request.isWatching }
    /// Only what somebody has to know is reported. What is to be reported once is then remembered as reported.
    var isSilent: Bool { request.isQuiet && !request.printsJSON }

    var missingDiskCheck: MissingDiskCheck {
        MissingDiskCheck(
            allowsEmpty: allowsEmpty, allowsGone: request.allowsGone, folder: folder, originalCommand: originalCommand)
    }

    /// Whether another coordinator continues the run if this process ends.
    func isContinued(_ directory: RunClaim) -> Bool {
        switch sharing {
        case .none, .detached: false
        // There is something to lose where it was prepared before.
        case .prepared: !directory.isNew
        case .resumed: true
        }
    }

    /// If pictures that are known to be broken cannot be passed on, the next coordinator tries them again.
    func passOn(_ kind: RunLog.BrokenPictures, of ledger: Ledger?, to run: RunFolder) {
        if isShared { try? ledger?.tellBroken(kind, to: run.log) }
    }
}

/// How a run goes on without the process that began it.
package enum RunSharing: Hashable, Sendable {
    /// Not at all.
    case none
    /// It is handed to a cluster.
    case detached
    /// It is written down as so many shards, in this folder, for whoever does them.
    case prepared(shards: Int, place: String)
    /// It was begun before. The cluster's job of the run resumes it, or a person.
    case resumed(RunFolder, asJob: Bool)

    var isResumed: Bool { if case .resumed = self { true } else { false } }
    /// A person took it from a cluster's job.
    var isTakenFromJob: Bool { if case .resumed(_, asJob: false) = self { true } else { false } }
    /// It is a cluster's job that resumes it.
    var isResumedByJob: Bool { if case .resumed(_, asJob: true) = self { true } else { false } }
}

extension RunClaim {
    /// No earlier coordinator had the run.
    var isNew: Bool { epoch == 1 }
}

/// Runs jobs, one after another: all are prepared before the first one starts.
package struct JobRunner {
    let context: RunContext

    package init(_ context: RunContext) { self.context = context }

    /// - Returns: the worst of their ends.
    package func run(_ jobs: [JobSpec]) async throws -> RunOutcome {
        let execution = Execution(context)
        return try await Admission(context).admit(jobs) { stages in
            var worst = RunOutcome.done
            for index in stages.indices {
                let outcome = try await execution.run(&stages[index])
                worst = max(worst, outcome)
                if outcome == .storage || outcome > .busy { break }
            }
            try Finishing(context).writeReports(stages)
            return worst
        }
    }

    /// Accepts the outputs of jobs that are there.
    ///
    /// - Parameter moved: only those of jobs, or of pictures, that had another name or place.
    package func adopt(_ jobs: [JobSpec], moved: Bool) async throws -> RunOutcome {
        try await Admission(context).admit(jobs) { stages in
            var worst = RunOutcome.done
            for job in stages.compactMap(\.job) {
                worst = max(worst, try await JobAdoption(context: context).adopt(job, moved: moved))
            }
            return worst
        }
    }

    /// Runs jobs. The metrics report those that could not start, too.
    func runReportingMetrics(_ jobs: [JobSpec]) async throws -> RunOutcome {
        let start = Date()
        do {
            let outcome = try await run(jobs)
            reportUnstarted(jobs, outcome, since: start)
            return outcome
        } catch {
            reportUnstarted(jobs, FarmError(error).outcome, since: start)
            throw error
        }
    }

    private func reportUnstarted(_ jobs: [JobSpec], _ outcome: RunOutcome, since start: Date) {
        do {
            try context.reports.writeUnstartedMetrics(
                jobs.map(\.name), outcome, since: start.timeIntervalSince1970, now: Date().timeIntervalSince1970)
        } catch {
            // The run's own end is worse news than that.
            context.listener.report(.failed(FarmError(error)))
        }
    }
}

/// How far a job has come in a run, with what exists then.
enum JobStage {
    /// The run has a folder. Locks and plan are missing, or were refused.
    case claimed(RunClaim)
    /// It is locked and planned. Nothing of it has begun.
    case prepared(ClaimedJob)
    /// Its work has begun.
    case running(ClaimedJob)
    /// Another coordinator continues it.
    case handedOver(ClaimedJob)
    /// Its run has ended here, and its end was reported.
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

    /// Leaves the run's folder as its stage demands, at the end of the command.
    func leave(_ context: RunContext) {
        switch self {
        case .claimed(let folder):
            if folder.isNew { Self.remove(folder, context) } else { Self.release(folder, context) }
        case .prepared(let job):
            // An interrupted run that was not resumed stays what it is.
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

/// A prepared job with what keeps others away from it.
struct ClaimedJob {
    var prepared: PreparedJob
    let folder: RunClaim
    /// Nil for jobs without a manifest, of which several may run.
    let lock: JobLock?
    let ledger: Ledger?
    /// Nil where the manifest asks for none.
    let index: IndexFile?

    var name: String { prepared.job.name }
}
