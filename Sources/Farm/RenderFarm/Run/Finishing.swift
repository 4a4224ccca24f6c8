import Runs
import Catalogs
import Coordination
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Reports
import SafeFiles

/// What follows the last frame of a job: orphans, indexes, receipts, the run's end in the database, report files.
struct Finishing {
    let context: RunContext
    private var listener: any RunListener { context.listener }

    init(_ context: RunContext) { self.context = context }

    /// - Parameter result: gets the worst outcome, the end and the thumbnails.
    func finish(_ result: inout JobResult, _ recorder: RunRecorder?) async throws {
        let (job, summary) = (result.job, result.summary)
        listener.receive(
            .ended(
                RunEnd(
                    job: job.prepared.job, summary: summary, newlyKept: newlyKept(job, summary),
                    isRecorded: recorder != nil)))
        let orphans = try await cleanUpOrphans(job, summary)
        let indexed = max(updateIndexes(job), summary.stop == nil ? repairReceipts(job) : .done)
        result.status = max(result.status, orphans, indexed)
        result.ended = Date()
        var counts = summary.counts
        (counts.work, counts.notes) = (job.prepared.workCount, StopWords.notes(summary))
        counts.rerun = job.prepared.rerun
        try recorder?.end(
            exitCode: Int(result.status.rawValue),
            reason: summary.stop.map { StopWords.describe($0, left: summary.left) }, counts: counts)
        if context.reports.page != nil, summary.stop == nil {
            let farm = context.farm
            result.thumbnails = await Thumbnails.make(
                of: result, folder: job.folder.scratch, settings: farm.runSettings(for: job.prepared),
                loop: RunLoop(engine: farm.working(for: job.folder).engine(), control: context.control))
        }
        // Last of all: whoever waits for this end may begin the job's next run at once.
        try Handover(context).end(job, summary, result.status)
    }

    /// Writes the report files, if nobody continues any of the runs: whoever does so reports.
    func writeReports(_ stages: [JobStage]) throws {
        guard let folder = stages.last?.job?.folder, !stages.contains(where: \.isHandedOver) else { return }
        try context.reports.write(
            stages.compactMap(\.result), versions: context.preparation.catalog.versions, folder)
    }

    /// What goes wrong after the frames is reported, and costs the other jobs nothing.
    private func report(_ error: any Error, _ job: ClaimedJob) -> RunOutcome {
        let message = (error as? StoreProblem)?.message ?? (error as? FileTrouble)?.message ?? "\(error)"
        listener.report(job.name, .failed(message))
        return .storage
    }

    private func updateIndexes(_ job: ClaimedJob) -> RunOutcome {
        do {
            try job.ledger?.tidyIndexes { try job.folder.temporaryPath(in: $0, for: "index") }
            try reportUpgrades(job)
            if let index = job.index, let records = try job.ledger?.records() {
                try job.lock?.roots.check(index.file.path, "write there")
                try index.write(records, job.folder)
            }
            return .done
        } catch let error as FarmError {
            listener.report(.failed(error))
            return error.outcome
        } catch {
            return report(error, job)
        }
    }

    private func cleanUpOrphans(_ job: ClaimedJob, _ summary: RunSummary) async throws -> RunOutcome {
        guard let ledger = job.ledger, summary.stop == nil else { return .done }
        let request = context.request
        if !request.isWatching || summary.didSomething { OrphanCleanup.listUnselected(job.prepared, listener) }
        guard !(job.prepared.orphans + job.prepared.lostOutputs).isEmpty else { return .done }
        if request.isWatching, request.orphans == .listed, !summary.didSomething { return .done }
        let cleanup = OrphanCleanup(prepared: job.prepared, ledger: ledger, context: context)
        let preparation = context.preparation.working(for: job.folder)
        return try await cleanup.run { try await preparation.findings(of: $0, job.prepared.job) }
    }

    /// The kept outputs that no run has reported yet. With `--quiet`, silence means that all is well.
    private func newlyKept(_ job: ClaimedJob, _ summary: RunSummary) -> [KeptOutput] {
        let texts = summary.keptOutputs.map { "\(Self.keptKind)\($0.path): \($0.reason)" }
        guard let ledger = job.ledger else { return summary.keptOutputs }
        let isAll = job.prepared.isWhole && summary.stop == nil
        // If the database cannot be read, all are reported once more.
        guard let new = try? ledger.reportNew(texts, kind: Self.keptKind, isAll: isAll) else {
            return summary.keptOutputs
        }
        let paths = Set(new.map(PathKey.init))
        return zip(texts, summary.keptOutputs).filter { paths.contains(PathKey($0.0)) }.map(\.1)
    }

    private static let keptKind = "kept: "

    /// Reports each change once. It concerns many outputs.
    private func reportUpgrades(_ job: ClaimedJob) throws {
        for (upgrade, count) in job.prepared.keptUpgrades.sorted(by: { $0.key < $1.key }) {
            guard try job.ledger?.reportOnce("upgrade: \(upgrade)") == true else { continue }
            listener.report(job.name, .outputsKeepOldPixels(count, change: upgrade))
        }
    }
}

/// Receipts beside the outputs.
extension Finishing {
    /// Writes receipts that are missing or describe other bytes.
    private func repairReceipts(_ job: ClaimedJob) -> RunOutcome {
        let spec = job.prepared.job
        let maker = ReceiptMaker(spec, run: job.folder, catalog: context.preparation.catalog, now: currentTime)
        guard let ledger = job.ledger, let maker else { return .done }
        do {
            let repair = try ReceiptRepair(
                try ledger.records(), recipes: ledger.recipeTexts, by: maker, directory: job.folder)
            try report(repair, spec, ledger)
            return .done
        } catch {
            return report(error, job)
        }
    }

    private func report(_ repair: ReceiptRepair, _ job: JobSpec, _ ledger: Ledger) throws {
        if repair.written > 0 { listener.report(job.name, .receiptsWritten(repair.written)) }
        if !repair.blocked.isEmpty { listener.report(job.name, .receiptsBlocked(repair.blocked)) }
        if let first = repair.refused.first {
            listener.report(
                job.name, .receiptsRefused(repair.refused.map(\.output), reason: first.trouble.message))
        }
        guard !repair.unknown.isEmpty, try ledger.reportOnce("receipts: unknown") else { return }
        listener.report(job.name, .receiptsImpossible(repair.unknown.count))
    }
}
