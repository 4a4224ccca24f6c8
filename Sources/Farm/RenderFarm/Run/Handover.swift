import Runs
import Coordination
import Engines
import Shards
import FoundationEssentials
import JobModel
import Planning
import Reports
import SafeFiles
import Scheduling

/// Hands a run over to another coordinator, and writes what that coordinator needs.
struct Handover {
    let context: RunContext
    private var site: ExecutionSite { ExecutionSite(context: context) }
    private var listener: any RunListener { context.listener }

    /// Writes the run's record for other coordinators.
    ///
    /// - Returns: whether the request is the same as under earlier coordinators.
    func share(_ job: ClaimedJob, _ settings: RunSettings) throws -> Bool {
        guard context.isShared else { return true }
        let (prepared, known) = (job.prepared, job.folder.folder.record)
        // A later `prepare` may have another request.
        if known != nil, case .resumed = context.sharing { return true }
        var counts = RunCounts()
        counts.frames = prepared.targets.count + prepared.ended.count
        counts.work = prepared.workCount
        var record = RunRecord(
            name: job.folder.name, job: prepared.job.name, manifest: prepared.job.manifestPath,
            started: known?.started ?? currentTime(), workers: settings.workers, memory: settings.memory,
            request: context.storedRequest ?? "{}", counts: counts, command: context.command)
        record.disks = RecordedDisks(of: prepared.job)
        try job.folder.folder.write(record)
        return known?.request == context.storedRequest
    }

    /// Whether another coordinator continues a run that has stopped.
    func isWanted(_ job: ClaimedJob, after stop: StopReason) -> Bool {
        switch stop {
        case .detached, .superseded: true
        case .interrupted, .storage, .engine, .resourceLimit, .cluster, .lastSlot: context.isContinued(job.folder)
        case .cancelled, .pluginFault, .deadline, .failures: false
        }
    }

    func handOver(_ job: ClaimedJob, _ summary: RunSummary, _ stop: StopReason) async {
        job.folder.keepFolders()
        listener.receive(.handedOver(job: job.name, summary))
        if stop != .detached {
            listener.report(job.name, .stopped(stop, left: summary.left))
        }
        if stop == .superseded { return }
        do {
            try await leaveToOthers(job, summary, stop)
        } catch {
            listener.report(job.name, .failed((error as? FileError)?.message ?? "\(error)"))
        }
        reportSuccessor(job, summary, stop)
    }

    private func leaveToOthers(_ job: ClaimedJob, _ summary: RunSummary, _ stop: StopReason) async throws {
        let run = job.folder.folder
        run.note(left: summary.left)
        if case .detached = context.sharing {
            try run.remember(in: context.state)
        }
        if stop == .detached { return try run.ask(.detached) }
        // If the disk is full, the reason is not written. Another coordinator continues the run nevertheless.
        let noting = Result { try run.note(lastStop: stop.message(left: summary.left)) }
        defer {
            if case .failure(let error as FileError) = noting {
                listener.report(.failed(FarmError(.storage, error.message)))
            }
        }
        guard await isKept(job, after: stop) else { return }
        try run.ask(.detached)
    }

    /// Hands over a run that this process could not start. A run that came from a cluster's job returns there.
    func handOverUnstarted(_ job: ClaimedJob, _ reason: String) async {
        // The run can be continued without this note, and its caller reports the reason.
        try? job.folder.folder.note(lastStop: reason)
        if context.sharing.isTakenFromJob, await site.returnToCluster(job, after: .engine("")) {
            let run = job.folder.folder
            try? run.ask(.detached)
        }
    }

    /// Whether a job on the cluster continues the run.
    private func isKept(_ job: ClaimedJob, after stop: StopReason) async -> Bool {
        switch context.sharing {
        case .resumed(_, asJob: true): await site.keepSuccessor(of: job, after: stop)
        case .resumed(_, asJob: false): await site.returnToCluster(job, after: stop)
        case .none, .detached, .prepared: false
        }
    }

    private func reportSuccessor(_ job: ClaimedJob, _ summary: RunSummary, _ stop: StopReason) {
        let (run, name, left) = (job.folder.folder, job.name, summary.left)
        switch context.sharing {
        case .detached:
            if let stored = run.record { listener.receive(.detached(stored, run)) }
            listener.report(name, .handedToCluster(left: left, run: run.name, folder: run.path))
        // An interrupted `prepare` has left the shards as they were.
        case .prepared(let shards, let folder) where stop == .detached:
            listener.report(name, .shardsWritten(shards, left: left, folder: folder))
        case .resumed where run.isAsked(.detached):
            listener.report(name, .continuedByJob(left: left))
        case .resumed: listener.report(name, .continuedByNobody(left: left, folder: run.path))
        case .prepared, .none: break
        }
    }

    /// Writes the run's end into its folder, for all machines.
    func end(_ job: ClaimedJob, _ summary: RunSummary, _ status: RunOutcome) throws {
        let run = job.folder.folder
        if case .prepared = context.sharing, summary.stop == nil {
            listener.report(job.name, .noShardsWritten)
        }
        // Nobody else knows of a run that could not be handed over.
        guard context.isShared, context.sharing != .detached, var record = run.record else { return }
        context.passOn(.found, of: job.ledger, to: run)
        ShardFolder.removeIfEmpty(logs: "\(run.state)/logs/\(run.name)")
        let work = record.counts.work
        var counts = summary.counts
        (counts.work, counts.notes) = (max(work, job.prepared.workCount), summary.notes)
        // This coordinator counts outputs of earlier ones as skipped.
        let published = job.folder.epoch > 2 ? (try? run.log.publishedCount()) ?? 0 : 0
        let earlier = max(0, published - counts.published)
        (counts.published, counts.skipped) = (counts.published + earlier, max(0, counts.skipped - earlier))
        (record.counts, record.epoch) = (counts, job.folder.epoch)
        var end = RunRecord.End(
            time: currentTime(), exitCode: Int(status.rawValue),
            reason: summary.stopMessage)
        end.hasMoreFailures = summary.failures.count > Self.mostFailures
        end.failures = summary.failures.prefix(Self.mostFailures).compactMap { report in
            guard case .failed(let cause, let message) = report.state else { return nil }
            return RunRecord.Failure(input: report.input, outputs: report.outputs, cause: cause, message: message)
        }
        record.state = .ended(end)
        try run.write(record)
    }

    /// The most failures that the record stores. Each takes some hundred bytes.
    private static let mostFailures = 5000
}
