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
