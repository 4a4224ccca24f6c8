import Runs
import Coordination
import FoundationEssentials
import JobModel
import Scheduling

/// Carries out a prepared job: by an engine, through the run loop, to its end or to its handing over.
struct Execution {
    let context: RunContext
    private let site: ExecutionSite
    private let finishing: Finishing
    private let handover: Handover

    init(_ context: RunContext) {
        self.context = context
        site = ExecutionSite(context)
        finishing = Finishing(context)
        handover = Handover(context)
    }

    /// - Parameter stage: becomes the job's last one.
    func run(_ stage: inout JobStage) async throws -> RunOutcome {
        guard case .prepared(let job) = stage else { return .done }
        do {
            return try await run(job, &stage)
        } catch {
            // There is no end that others could read of.
            if context.isContinued(job.folder) {
                stage = .handedOver(job)
                await handover.leaveUnbegun(job, (error as? FarmError)?.message ?? "\(error)")
            }
            throw error
        }
    }

    private func run(_ job: ClaimedJob, _ stage: inout JobStage) async throws -> RunOutcome {
        let prepared = job.prepared
        let started = Date()
        let settings = site.runSettings(for: prepared)
        let engine = try await site.engine(for: job)
        let isAsBefore = try handover.share(job, settings)
        let recorder = try await recorder(of: job, settings)
        // Nothing fails in a run before the run has begun.
        let tracker = OutputTracker(
            ledger: job.ledger, freshness: prepared.freshness,
            hasPictures: !prepared.job.picturePaths.isEmpty, now: Int(currentTime() / 1_000_000_000))
        stage = .running(job)
        var recovered = recorder?.recovered ?? RecoveredWork()
        if context.isShared, isAsBefore { recovered.add(journalOf: job.folder) }
        for broken in prepared.brokenFiles { tracker.remember(broken.failure, of: broken.files) }
        let observer = context.listener.observer(of: job.name)
        let collector = context.reports.areWanted ? FrameCollector(observer) : nil
        let run = JobRun(
            prepared.plan, targets: prepared.targets, ended: prepared.ended,
            roots: job.lock?.roots ?? LockedFolders(of: prepared.job), directory: job.folder,
            settings: settings, tracker: tracker, recorder: recorder,
            recovered: recovered,
            receipts: ReceiptMaker(
                prepared.job, run: job.folder, catalog: context.preparation.catalog, now: currentTime),
            observer: collector ?? observer)
        let loop = RunLoop(
            engine: engine, control: context.control.child(), deadline: context.deadline,
            continuesElsewhere: context.isContinued(job.folder))
        let summary = await run.run(loop)
        if let stop = summary.stop, handover.isWanted(job, after: stop) {
            // Whatever goes wrong from here on, nothing of the run is removed.
            stage = .handedOver(job)
            await handover.handOver(job, summary, stop)
            return RunOutcome(summary)
        }
        var result = JobResult(
            job: job, summary: summary, reports: collector?.reports ?? [],
            status: RunOutcome(summary, isStrict: context.request.isStrict), started: started, workers: settings.workers
        )
        try await finishing.finish(&result, recorder)
        stage = .ended(result)
        return result.status
    }

    private func recorder(of job: ClaimedJob, _ settings: RunSettings) async throws -> RunRecorder? {
        guard let request = context.storedRequest else { return nil }
        let prepared = job.prepared
        var counts = RunCounts()
        counts.frames = prepared.targets.count + prepared.ended.count
        counts.rerun = prepared.rerun
        let (state, folder, isShared) = (context.state, job.folder, context.isShared)
        return try await Blocking.run { [counts] in
            try RunRecorder(
                state: state, job: prepared.job, directory: folder, workers: settings.workers,
                request: request, isShared: isShared,
                counts: { concluded in
                    var counts = counts
                    counts.work = prepared.workCount + concluded.subtracting(prepared.workFrames).count
                    return counts
                }, now: currentTime)
        }
    }
}
