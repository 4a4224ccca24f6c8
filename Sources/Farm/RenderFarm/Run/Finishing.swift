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
    func finish(_ result: inout JobResult, _ history: RunHistory?) async throws {
        let (job, summary) = (result.job, result.summary)
        listener.receive(
            .ended(
                RunEnd(
                    job: job.prepared.job, summary: summary, newlyKept: newlyKept(job, summary),
                    isRecorded: history != nil)))
        let orphans = try await lookAfterOrphans(job, summary)
        let tidied = max(tidyUp(job), summary.stop == nil ? keepReceipts(job) : .done)
        result.status = max(result.status, orphans, tidied)
        result.ended = Date()
        var counts = RunCounts(summary, work: job.prepared.workCount, notes: StopWords.notes(summary))
        counts.rerun = job.prepared.rerun
        try history?.end(
            exitCode: Int(result.status.rawValue),
            reason: summary.stop.map { StopWords.describe($0, left: summary.left) }, counts: counts.json)
        if context.reports.page != nil, summary.stop == nil {
            let farm = context.farm
            result.thumbnails = await Thumbnails.make(
                of: result, folder: job.folder.scratch, settings: farm.runSettings(for: job.prepared),
                loop: RunLoop(engine: farm.working(for: job.folder).engine(), control: context.control))
        }
        // Last of all: who has waited for it may begin the job's next run at once.
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

    private func tidyUp(_ job: ClaimedJob) -> RunOutcome {
        do {
            try job.ledger?.tidyIndexes { try job.folder.temporaryPath(in: $0, for: "index") }
            try tellUpgrades(job)
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

    private func lookAfterOrphans(_ job: ClaimedJob, _ summary: RunSummary) async throws -> RunOutcome {
        guard let ledger = job.ledger, summary.stop == nil else { return .done }
        let request = context.request
        if !request.isWatching || summary.didSomething { OrphanCleanup.listUnselected(job.prepared, listener) }
        guard !(job.prepared.orphans + job.prepared.lostOutputs).isEmpty else { return .done }
        if request.isWatching, request.orphans == .listed, !summary.didSomething { return .done }
        let cleanup = OrphanCleanup(prepared: job.prepared, ledger: ledger, context: context)
        let preparation = context.preparation.working(for: job.folder)
        return try await cleanup.run { try await preparation.findings(of: $0, job.prepared.job) }
    }

    /// The kept outputs of which no person was told yet: where silence is asked for, silence means that all is well.
    private func newlyKept(_ job: ClaimedJob, _ summary: RunSummary) -> [KeptOutput] {
        let texts = summary.keptOutputs.map { "\(Self.keptKind)\($0.path): \($0.reason)" }
        guard let ledger = job.ledger else { return summary.keptOutputs }
        let isAll = job.prepared.isWhole && summary.stop == nil
        // What cannot be looked up is told once more.
        guard let new = try? ledger.tellNew(texts, kind: Self.keptKind, isAll: isAll) else {
            return summary.keptOutputs
        }
        let paths = Set(new.map(PathKey.init))
        return zip(texts, summary.keptOutputs).filter { paths.contains(PathKey($0.0)) }.map(\.1)
    }

    private static let keptKind = "kept: "

    /// Once for each: outputs are many, and a person has read it.
    private func tellUpgrades(_ job: ClaimedJob) throws {
        for (upgrade, count) in job.prepared.keptUpgrades.sorted(by: { $0.key < $1.key }) {
            guard try job.ledger?.tellOnce("upgrade: \(upgrade)") == true else { continue }
            listener.report(job.name, .outputsKeepOldPixels(count, change: upgrade))
        }
    }
}

/// Receipts beside the outputs.
extension Finishing {
    /// Writes receipts that are missing or tell of other bytes.
    private func keepReceipts(_ job: ClaimedJob) -> RunOutcome {
        let spec = job.prepared.job
        let maker = ReceiptMaker(spec, run: job.folder, catalog: context.preparation.catalog, now: currentTime)
        guard let ledger = job.ledger, let maker else { return .done }
        do {
            let keeper = try ReceiptRepair(
                try ledger.records(), recipes: ledger.recipeTexts, by: maker, directory: job.folder)
            try tell(keeper, spec, ledger)
            return .done
        } catch {
            return report(error, job)
        }
    }

    private func tell(_ keeper: ReceiptRepair, _ job: JobSpec, _ ledger: Ledger) throws {
        if keeper.written > 0 { listener.report(job.name, .receiptsWritten(keeper.written)) }
        if !keeper.blocked.isEmpty { listener.report(job.name, .receiptsBlocked(keeper.blocked)) }
        if let first = keeper.refused.first {
            listener.report(
                job.name, .receiptsRefused(keeper.refused.map(\.output), reason: first.trouble.message))
        }
        guard !keeper.unknown.isEmpty, try ledger.tellOnce("receipts: unknown") else { return }
        listener.report(job.name, .receiptsImpossible(keeper.unknown.count))
    }
}
