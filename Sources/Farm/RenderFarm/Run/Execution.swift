import Coordination
import Engines
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Reports
import Runs
import Scheduling

/// Runs a prepared job with an engine until it ends or is handed over.
struct Execution {
    let context: RunContext
    private var site: ExecutionSite { ExecutionSite(context: context) }
    private var handover: Handover { Handover(context: context) }

    /// - Parameter stage: a prepared job; becomes its last stage.
    func run(_ stage: inout JobStage) async throws -> RunOutcome {
        guard case .prepared(let job) = stage else { return .done }
        do {
            let started = Date()
            let settings = site.runSettings(for: job.prepared)
            let engine = try await site.engine(for: job)
            let isSameRequest = try handover.share(job, settings)
            let recorder = try await recorder(of: job, settings)
            let result: Result<RunOutcome, any Error>
            do {
                result = .success(
                    try await run(
                        job, &stage, recorder, engine, settings, started: started, isSameRequest: isSameRequest))
            } catch {
                result = .failure(error)
            }
            await Blocking.run { recorder?.close() }
            return try result.get()
        } catch {
            // The run has no end that others could read.
            if context.isContinued(job.folder) {
                stage = .handedOver(job)
                await handover.handOverUnstarted(job, (error as? FarmError)?.message ?? "\(error)")
            }
            throw error
        }
    }

    /// - Parameter isSameRequest: whether earlier coordinators of the run had the same request.
    private func run(
        _ job: ClaimedJob, _ stage: inout JobStage, _ recorder: RunRecorder?, _ engine: any Engine,
        _ settings: RunSettings, started: Date, isSameRequest: Bool
    ) async throws -> RunOutcome {
        let prepared = job.prepared
        // No frame ends before the run has begun.
        let tracker = job.tracker()
        stage = .running(job)
        var recovered = recorder?.recovered ?? RecoveredWork()
        if context.request.wantsSomeFrames, let earlier = recovered.request.flatMap(RunRequest.init(text:)),
            !earlier.wantsSomeFrames
        {
            context.listener.report(job.name, .replacesWholeRun(manifest: prepared.job.manifestPath))
        }
        if context.isShared, isSameRequest { recovered.add(journalOf: job.folder) }
        let sandbox = recovered.sandbox(with: context.sandbox(of: prepared.plan))
        for broken in prepared.brokenFiles { tracker.remember(broken.failure, of: broken.files) }
        let observer = context.listener.observer(of: job.name)
        let collector = context.reports.areWanted ? FrameCollector(observer) : nil
        let run = JobRun(
            prepared.plan, targets: prepared.targets, ended: prepared.ended,
            roots: job.lock?.roots ?? LockedFolders(of: prepared.job), directory: job.folder,
            settings: settings, tracker: tracker, recorder: recorder,
            recovered: recovered,
            receipts: ReceiptMaker(
                prepared.job, run: job.folder, catalog: context.preparation.catalog,
                sandbox: sandbox, now: currentTime),
            observer: collector ?? observer, now: currentTime)
        let loop = RunLoop(
            engine: engine, control: context.control.child(), deadline: context.deadline,
            continuesElsewhere: context.isContinued(job.folder))
        var summary = await run.run(loop)
        summary.counts.sandbox = sandbox
        if let stop = summary.stop, handover.isWanted(job, after: stop) {
            // Nothing of the run may be removed, even if the next step fails.
            stage = .handedOver(job)
            await handover.handOver(job, summary, stop)
            return RunOutcome(summary)
        }
        var result = JobResult(
            job: job, summary: summary, reports: collector?.reports ?? [],
            status: RunOutcome(summary, isStrict: context.request.isStrict), started: started,
            workers: settings.workers)
        try await Finishing(context: context).finish(&result, recorder)
        stage = .ended(result)
        return result.status
    }

    private func recorder(of job: ClaimedJob, _ settings: RunSettings) async throws -> RunRecorder? {
        guard let request = context.storedRequest else { return nil }
        let prepared = job.prepared
        var counts = RunCounts()
        counts.frames = prepared.targets.count + prepared.ended.count
        counts.rerun = prepared.rerun
        let sandbox = context.sandbox(of: prepared.plan)
        let (state, folder, isShared) = (context.state, job.folder, context.isShared)
        return try await Blocking.run { [counts] in
            try RunRecorder(
                state: state, job: prepared.job, directory: folder, workers: settings.workers,
                request: request, isShared: isShared,
                counts: { recovered, concluded in
                    var counts = counts
                    counts.sandbox = recovered.sandbox(with: sandbox)
                    // A new run has concluded nothing. The set of all frames is large.
                    let others = concluded.isEmpty ? 0 : concluded.subtracting(prepared.workFrames).count
                    counts.work = prepared.workCount + others
                    return counts
                }, now: currentTime)
        }
    }
}

/// Accepts the existing outputs of a job as current.
struct JobAdoption {
    let context: RunContext
    private var listener: any RunListener { context.listener }

    /// - Parameter moved: only outputs of jobs or pictures that had another name or folder.
    func adopt(_ job: ClaimedJob, moved: Bool) async throws -> RunOutcome {
        moved ? try await takeOver(job) : try await adopt(job)
    }

    private func takeOver(_ job: ClaimedJob) async throws -> RunOutcome {
        guard let ledger = job.ledger else { return .done }
        let name = job.prepared.job.name
        let preparation = context.preparation.working(for: job.folder)
        let freshness = try await preparation.freshnessByBytes(job.prepared)
        let moved = try await Blocking.run { try OutputTakeover(job.prepared.targets, freshness, ledger) }
        if !moved.owned.isEmpty {
            listener.report(
                name,
                .notTakenOver(
                    moved.owned.map {
                        FileReason(
                            path: $0.record.path,
                            reason:
                                "the job '\(PathText.visible($0.job))' of \(PathText.visible($0.manifest)) is still there"
                        )
                    }))
        }
        // The comparison of pictures with their records shows which outputs are out of date.
        var prepared = try await preparation.prepare(job.prepared.job, contents: try ledger.currentContents())
        try await preparation.compare(&prepared)
        try await Blocking.run { try ledger.tidyIndexes { try job.folder.temporaryPath(in: $0, for: "index") } }
        let taken = Set(moved.taken.map(PathKey.init))
        let targets = prepared.targets.filter { $0.outputs.contains { taken.contains(PathKey($0)) } }
        let stale = targets.filter(\.isWork).count
        listener.report(name, .takenOver(taken.count, stale: stale))
        return moved.owned.isEmpty ? .done : .someFailed
    }

    private func adopt(_ job: ClaimedJob) async throws -> RunOutcome {
        let (prepared, spec) = (job.prepared, job.prepared.job)
        let candidates = Adoption.candidates(prepared.targets)
        let files = Adoption.files(of: candidates)
        let findings = try await context.preparation.findings(of: files, spec)
        let headers = try await context.preparation.headers(of: files, spec)
        let priors = try await context.preparation.priorOutputs(prepared)
        let adoption = try await Blocking.run {
            let adoption = try Adoption(
                prepared.targets, findings: findings, headers: headers, tracker: job.tracker(), priorOutputs: priors)
            try job.ledger?.tidyIndexes { try job.folder.temporaryPath(in: $0, for: "index") }
            return adoption
        }
        if !adoption.failures.isEmpty {
            listener.report(
                spec.name, .notAdopted(adoption.failures.map { FileReason(path: $0.path, reason: $0.reason) }))
        }
        listener.report(spec.name, .adopted(adoption.adopted.count, missing: adoption.missing.count))
        return adoption.failures.isEmpty ? .done : .someFailed
    }
}
