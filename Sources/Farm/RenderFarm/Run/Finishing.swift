import Catalogs
import Coordination
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Reports
import Runs
import SafeFiles
import Scheduling
import Synchronization
import WorkerProtocol

/// Finishes a job after its last frame: orphans, indexes, receipts, the run's end in the database, thumbnails.
struct Finishing {
    let context: RunContext
    private var listener: any RunListener { context.listener }

    /// - Parameter result: gets the worst outcome, the time of the end, and the thumbnails.
    func finish(_ result: inout JobResult, _ recorder: RunRecorder?) async throws {
        let errors = ErrorCollector(context.listener)
        try await Finishing(context: context.reporting(to: errors)).finish(&result, recorder, errors)
    }

    private func finish(
        _ result: inout JobResult, _ recorder: RunRecorder?, _ errors: ErrorCollector
    ) async throws {
        let (job, summary) = (result.job, result.summary)
        let newlyKept = await Blocking.run { self.newlyKept(job, summary) }
        listener.receive(
            .ended(
                RunEnd(
                    job: job.prepared.job, run: job.folder.name, summary: summary, newlyKept: newlyKept,
                    isRecorded: recorder != nil)))
        let orphans = max(try await cleanUpOrphans(job, summary), try await removeFailedOutputs(job, summary))
        let indexed = await Blocking.run {
            max(updateIndexes(job), summary.stop == nil ? repairReceipts(job, summary.counts.sandbox) : .done)
        }
        result.status = max(result.status, orphans, indexed)
        result.ended = Date()
        result.summary.counts.trouble = trouble(of: summary, errors)
        var counts = result.summary.counts
        (counts.work, counts.notes) = (job.prepared.workCount, summary.notes)
        counts.rerun = job.prepared.rerun
        let (exitCode, reason) = (Int(result.status.rawValue), summary.stopMessage)
        try await Blocking.run { [counts] in try recorder?.end(exitCode: exitCode, reason: reason, counts: counts) }
        if context.reports.page != nil, summary.stop == nil {
            let farm = context.farm
            result.thumbnails = await Thumbnails.make(
                of: result, folder: job.folder.scratch, settings: farm.runSettings(for: job.prepared),
                loop: RunLoop(engine: farm.working(for: job.folder).engine(), control: context.control))
        }
        // This comes last, because a process that waits for the end may start the job's next run at once.
        try await Blocking.run { [status = result.status, summary = result.summary] in
            try Handover(context: context).end(job, summary, status)
        }
        listener.receive(.finished(job: job.name, result.status, counts.trouble))
    }

    private func trouble(of summary: RunSummary, _ errors: ErrorCollector) -> RunTrouble? {
        var reasons = errors.messages
        if context.request.isStrict, let reason = summary.strictReason { reasons.append(reason) }
        return RunTrouble(
            reasons: reasons, kept: summary.keptOutputs.map { FileReason(path: $0.path, reason: $0.reason) },
            broken: summary.stillBroken.compactMap { report in
                guard case .stillBroken(_, let message) = report.state else { return nil }
                return FileReason(path: report.input, reason: message)
            })
    }

    /// Writes the report files. If another coordinator continues one of the runs, that coordinator writes them.
    func writeReports(_ stages: [JobStage]) throws {
        guard let folder = stages.last?.job?.folder, !stages.contains(where: \.isHandedOver) else { return }
        try context.reports.write(
            stages.compactMap(\.result), versions: context.preparation.catalog.versions, folder)
    }

    /// Reports an error that came after the frames. The other jobs continue.
    private func report(_ error: any Error, _ job: ClaimedJob) -> RunOutcome {
        let message = (error as? StoreError)?.message ?? (error as? FileError)?.message ?? "\(error)"
        listener.report(job.name, .failed(message))
        return .storage
    }

    private func updateIndexes(_ job: ClaimedJob) -> RunOutcome {
        // The next coordinator writes them.
        guard !job.folder.isSuperseded else { return .done }
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
        // A watch reports them once.
        func areNews(_ outputs: [OutputRecord], _ kind: String) -> Bool {
            context.watch?.areNews(outputs, kind: kind, of: job.prepared.job) ?? true
        }
        if areNews(job.prepared.unselected, "unselected") { OrphanCleanup.listUnselected(job.prepared, listener) }
        let areNews = areNews(job.prepared.orphans, "orphans")
        guard !(job.prepared.orphans + job.prepared.lostOutputs).isEmpty else { return .done }
        if request.orphans == .listed, !areNews { return .done }
        let cleanup = OrphanCleanup(prepared: job.prepared, ledger: ledger, context: context, areNews: areNews)
        let preparation = context.preparation.working(for: job.folder)
        return try await cleanup.run { try await preparation.findings(of: $0, job.prepared.job) }
    }

    /// Removes earlier outputs of pictures that are broken now, or that a value does not suit, if the job asks for it. A repair removes
    /// none: they may be the last that is left of a picture.
    private func removeFailedOutputs(_ job: ClaimedJob, _ summary: RunSummary) async throws -> RunOutcome {
        let spec = job.prepared.job
        guard spec.onFailure == .remove, context.request.repair == nil, let ledger = job.ledger, summary.stop == nil
        else { return .done }
        let outputs = FailedOutputs.of(
            job.prepared.contents.records, failures: summary.failures,
            others: summary.stillBroken.map { FailedOutputs.Frame(input: PathKey($0.input), page: $0.page) })
        guard !outputs.isEmpty else { return .done }
        let all = job.prepared.publishedCount
        guard !FailedOutputs.isTooMuch(outputs.count, of: all) else {
            listener.report(job.name, .failedOutputsTooMany(outputs.count, of: all))
            return .someFailed
        }
        let preparation = context.preparation.working(for: job.folder)
        let findings = try await preparation.findings(of: OrphanRemoval.touched(outputs), spec)
        let removal = try await Blocking.run {
            let removal = OrphanRemoval(outputs, below: OutputFolders.of(spec), findings: findings)
            try ledger.forget(removal.removed)
            return removal
        }
        if !removal.removed.isEmpty { listener.report(job.name, .failedOutputsRemoved(removal.removed)) }
        let texts = removal.kept.map { "\(FailedOutputs.kind)\($0.path): \($0.reason)" }
        let new = Set(
            try ledger.reportNew(texts, kind: FailedOutputs.kind, isAll: job.prepared.isWhole).map(PathKey.init))
        let kept = zip(texts, removal.kept).filter { new.contains(PathKey($0.0)) }
            .map { FileReason(path: $0.1.path, reason: $0.1.reason) }
        if !kept.isEmpty { listener.report(job.name, .failedOutputsKept(kept)) }
        return .done
    }

    /// The kept outputs that no run has reported yet. With `--quiet`, silence means that all is well.
    private func newlyKept(_ job: ClaimedJob, _ summary: RunSummary) -> [KeptOutput] {
        let texts = summary.keptOutputs.map { KeptNotice.text($0.path, reason: $0.reason) }
        guard let ledger = job.ledger else { return summary.keptOutputs }
        let isAll = job.prepared.isWhole && summary.stop == nil
        // If the database cannot be read, all are reported once more.
        guard let new = try? ledger.reportNew(texts, kind: KeptNotice.kind, isAll: isAll) else {
            return summary.keptOutputs
        }
        let paths = Set(new.map(PathKey.init))
        return zip(texts, summary.keptOutputs).filter { paths.contains(PathKey($0.0)) }.map(\.1)
    }

    /// Reports each change once. It concerns many outputs.
    private func reportUpgrades(_ job: ClaimedJob) throws {
        for case .outputsKeepOldPixels(let count, let upgrade) in job.prepared.keptUpgrades {
            guard try job.ledger?.reportOnce("upgrade: \(upgrade.pixels)") == true else { continue }
            listener.report(job.name, .outputsKeepOldPixels(count, upgrade))
        }
    }
}

/// Earlier outputs of pictures that failed by their own fault.
enum FailedOutputs {
    /// The ledger remembers which outputs were reported as staying. Their entries begin with this.
    static let kind = "failed: "

    /// So many may always go: all pictures of a small job may be broken.
    private static let always = 20

    static func isTooMuch(_ count: Int, of outputs: Int) -> Bool {
        count > always && OrphanRemoval.isTooMuch(count, of: outputs)
    }

    /// Those that exist.
    ///
    /// - Parameter others: frames that failed before, by their own fault, too.
    static func of(_ records: [OutputRecord], failures: [FrameReport], others: [Frame]) -> [OutputRecord] {
        let own = [FrameFailure.Cause.data, .value].map(\.rawValue)
        let failed = failures.filter { report in
            guard case .failed(let cause, _) = report.state else { return false }
            return own.contains(cause)
        }
        let frames = Set(failed.map { Frame(input: PathKey($0.input), page: $0.page) } + others)
        return records.filter {
            frames.contains(Frame(input: PathKey($0.input), page: $0.page)) && FileSystem.exists($0.path)
        }
    }

    struct Frame: Hashable {
        let input: PathKey
        let page: Int
    }
}

extension PreparedJob {
    /// How many outputs belong to pictures that cannot be rendered, so that `on_failure: remove` concerns them, and whether they are too
    /// many to be removed.
    package var failedOutputCount: (count: Int, isTooMuch: Bool) {
        guard job.onFailure == .remove else { return (0, false) }
        let broken = targets.filter { if case .stillBroken = $0.verdict { true } else { false } }
        let frames = broken.map { FailedOutputs.Frame(input: PathKey($0.files.input), page: $0.frame.page) }
        let count = FailedOutputs.of(contents.records, failures: ended, others: frames).count
        return (count, FailedOutputs.isTooMuch(count, of: publishedCount))
    }
}

extension RunSummary {
    /// Why a strict run fails although no frame failed; nil if it does not.
    fileprivate var strictReason: String? {
        guard stop == nil, failures.isEmpty else { return nil }
        let parts = [
            keptOutputs.isEmpty ? nil : Figures.plural(keptOutputs.count, "kept output"),
            stillBroken.isEmpty ? nil : Figures.plural(stillBroken.count, "still broken picture"),
        ].compactMap { $0 }
        return parts.isEmpty ? nil : "--strict counts \(parts.joined(separator: " and ")) as failures"
    }
}

/// Passes events on, and remembers the errors among them.
private final class ErrorCollector: RunListener {
    private let listener: any RunListener
    private let found = Mutex<[String]>([])

    init(_ listener: any RunListener) { self.listener = listener }

    /// Without the job's name.
    var messages: [String] { found.withLock { $0 } }

    var isBehind: Bool { listener.isBehind }

    func receive(_ event: RunEvent) {
        if case .notice(let notice) = event, let message = notice.errorMessage {
            found.withLock { $0.append(message) }
        }
        listener.receive(event)
    }
}

/// Receipts beside the outputs.
extension Finishing {
    /// Writes receipts that are missing or describe other bytes.
    ///
    /// - Parameter sandbox: what kept all workers of the run from the rest of this machine. Nil if that is not known.
    private func repairReceipts(_ job: ClaimedJob, _ sandbox: SandboxReport?) -> RunOutcome {
        let spec = job.prepared.job
        let maker = ReceiptMaker(
            spec, run: job.folder, catalog: context.preparation.catalog, sandbox: sandbox, now: currentTime)
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

/// Lists outputs whose inputs are gone, or removes them.
package struct OrphanCleanup: Sendable {
    let prepared: PreparedJob
    let ledger: Ledger
    let context: RunContext
    /// False if a watch has reported all orphans before.
    var areNews = true

    private var request: RunRequest { context.request }
    private var listener: any RunListener { context.listener }

    private var orphans: [OutputRecord] { prepared.orphans }
    private var name: String { prepared.job.name }

    /// Lists outputs of pictures that exist, but that the job does not select any more. Only a person can decide about them.
    package static func listUnselected(_ prepared: PreparedJob, _ listener: any RunListener) {
        guard !prepared.unselected.isEmpty else { return }
        listener.report(prepared.job.name, .unselectedOutputs(prepared.unselected.map(\.path)))
    }

    /// Lists outputs of pictures on a missing disk.
    package static func listLost(_ prepared: PreparedJob, _ listener: any RunListener) {
        if let notice = lost(prepared, areToBeRemoved: false) { listener.report(prepared.job.name, notice) }
    }

    private static func lost(_ prepared: PreparedJob, areToBeRemoved: Bool) -> JobNotice? {
        guard let lost = prepared.lost.first, !prepared.lostOutputs.isEmpty else { return nil }
        return .lostOutputs(prepared.lostOutputs.map(\.path), cause: lost.message, areToBeRemoved: areToBeRemoved)
    }

    /// - Parameter findings: reads the digests of files.
    func run(findings: ([DigestTask.File]) async throws -> Freshness.Findings) async throws -> RunOutcome {
        let lost = reportLost()
        return prepared.orphans.isEmpty ? lost : max(lost, try await cleanUp(findings))
    }

    /// Reports outputs of lost pictures. No option removes them. A watch reports them when they disappear.
    private func reportLost() -> RunOutcome {
        let areToBeRemoved = request.orphans != .listed
        guard !request.isWatching, let notice = Self.lost(prepared, areToBeRemoved: areToBeRemoved) else {
            return .done
        }
        listener.report(name, notice)
        return areToBeRemoved ? .someFailed : .done
    }

    private func cleanUp(
        _ findings: ([DigestTask.File]) async throws -> Freshness.Findings
    ) async throws -> RunOutcome {
        switch request.orphans {
        case .listed:
            try list(try await findings(OrphanRemoval.touched(orphans)))
            return .done
        case .removed:
            if let refusal {
                if areNews { listener.report(name, refusal) }
                return .someFailed
            }
        case .allRemoved: break
        }
        let found = try await findings(OrphanRemoval.touched(orphans))
        let removal = try await Blocking.run {
            let removal = OrphanRemoval(orphans, below: OutputFolders.of(prepared.job), findings: found)
            try ledger.forget(removal.removed)
            return removal
        }
        if !removal.removed.isEmpty { listener.report(name, .orphansRemoved(removal.removed)) }
        try listKept(removal.kept.map { FileReason(path: $0.path, reason: $0.reason) }, isRemoving: true)
        return .done
    }

    private func list(_ findings: Freshness.Findings) throws {
        let objections = orphans.map { OrphanRemoval.objection(to: $0, findings) }
        let removable = zip(orphans, objections).filter { $1 == nil }.map(\.0.path)
        let kept = zip(orphans, objections).compactMap { orphan, reason in
            reason.map { FileReason(path: orphan.path, reason: $0) }
        }
        if !removable.isEmpty { listener.report(name, .orphans(removable, needsAll: refusal != nil)) }
        try listKept(kept, isRemoving: false)
    }

    /// Reports outputs that only a person may remove. With `--quiet`, each is reported once.
    private func listKept(_ kept: [FileReason], isRemoving: Bool) throws {
        let texts = kept.map { "\(Self.keptKind)\($0.path): \($0.reason)" }
        let new = Set(try ledger.reportNew(texts, kind: Self.keptKind, isAll: true).map(PathKey.init))
        let isReported = !context.isSilent
        let reported = zip(texts, kept).filter { isReported || new.contains(PathKey($0.0)) }.map(\.1)
        if !reported.isEmpty, areNews { listener.report(name, .orphansKept(reported, isRemoving: isRemoving)) }
    }

    private static let keptKind = "orphan: "

    /// Why the orphans look like a mistake; nil if somebody seems to have deleted their pictures.
    private var refusal: JobNotice? {
        if let pattern = prepared.plan.unmatchedPatterns.first {
            return .orphansSuspicious(orphans.count, pattern: pattern)
        }
        let outputs = prepared.publishedCount
        return OrphanRemoval.isTooMuch(orphans.count, of: outputs) ? .orphansTooMany(orphans.count, of: outputs) : nil
    }
}
