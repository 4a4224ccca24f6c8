import Coordination
import JobModel
import JobStorage
import Planning
import Reports
import Runs
import WorkerProtocol

/// Lists outputs whose inputs are gone, or removes them.
package struct OrphanCleanup {
    let prepared: PreparedJob
    let ledger: Ledger
    let context: RunContext

    private var request: RunRequest { context.request }
    private var listener: any RunListener { context.listener }

    private var orphans: [OutputRecord] { prepared.orphans }
    private var name: String { prepared.job.name }

    /// Outputs of pictures that are there, but that the job takes no more: nobody but a person knows what is meant.
    package static func listUnselected(_ prepared: PreparedJob, _ listener: any RunListener) {
        guard !prepared.unselected.isEmpty else { return }
        listener.report(prepared.job.name, .unselectedOutputs(prepared.unselected.map(\.path)))
    }

    /// Outputs of pictures that are gone together with their disk.
    package static func listLost(_ prepared: PreparedJob, _ listener: any RunListener) {
        if let notice = lost(prepared, areToBeRemoved: false) { listener.report(prepared.job.name, notice) }
    }

    private static func lost(_ prepared: PreparedJob, areToBeRemoved: Bool) -> JobNotice? {
        guard let lost = prepared.lost.first, !prepared.lostOutputs.isEmpty else { return nil }
        return .lostOutputs(prepared.lostOutputs.map(\.path), cause: lost.message, areToBeRemoved: areToBeRemoved)
    }

    /// - Parameter findings: reads files.
    func run(findings: ([DigestTask.File]) async throws -> Freshness.Findings) async throws -> RunOutcome {
        let lost = reportLost()
        return prepared.orphans.isEmpty ? lost : max(lost, try await cleanUp(findings))
    }

    /// No option removes them. A watch has reported them when they went missing.
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
                listener.report(name, refusal)
                return .someFailed
            }
        case .allRemoved: break
        }
        let removal = OrphanRemoval(
            orphans, below: OutputFolders.of(prepared.job),
            findings: try await findings(OrphanRemoval.touched(orphans)))
        try ledger.forget(removal.removed)
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
        if !removable.isEmpty { listener.report(name, .orphans(removable)) }
        try listKept(kept, isRemoving: false)
    }

    /// Reports outputs that only a person may remove. With `--quiet`, each is reported once.
    private func listKept(_ kept: [FileReason], isRemoving: Bool) throws {
        let texts = kept.map { "\(Self.keptKind)\($0.path): \($0.reason)" }
        let new = Set(try ledger.reportNew(texts, kind: Self.keptKind, isAll: true).map(PathKey.init))
        let isTold = !context.isSilent
        let told = zip(texts, kept).filter { isTold || new.contains(PathKey($0.0)) }.map(\.1)
        if !told.isEmpty { listener.report(name, .orphansKept(told, isRemoving: isRemoving)) }
    }

    private static let keptKind = "orphan: "

    /// Why the orphans look like a mistake; nil if they look like pictures that somebody has deleted.
    private var refusal: JobNotice? {
        if let pattern = prepared.plan.unmatchedPatterns.first {
            return .orphansDoubted(orphans.count, pattern: pattern)
        }
        let outputs = prepared.publishedCount
        return OrphanRemoval.isTooMuch(orphans.count, of: outputs) ? .orphansTooMany(orphans.count, of: outputs) : nil
    }
}
