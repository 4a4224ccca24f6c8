import Coordination
import JobModel
import JobStorage
import Planning
import Reports
import WorkerProtocol

/// Lists outputs whose inputs are gone, or removes them.
package struct OrphanCleanup {
    let prepared: PreparedJob
    let ledger: Ledger
    let context: RunContext

    private var request: RunRequest { context.request }
    private var reporting: any RunListener { context.listener }

    private var orphans: [OutputRecord] { prepared.orphans }
    private var name: String { prepared.job.name }

    /// Outputs of pictures that are there, but that the job takes no more: nobody but a person knows what is meant.
    package static func listUnselected(_ prepared: PreparedJob, _ reporting: any RunListener) {
        guard !prepared.unselected.isEmpty else { return }
        reporting.list(
            "\(prepared.job.name): \(Figures.plural(prepared.unselected.count, "output")) of pictures that are no inputs of "
                + "this job any more, and never removed by it", prepared.unselected.map(\.path),
            all: RunNotice.plan)
    }

    /// Outputs of pictures that are gone together with their disk.
    package static func listLost(_ prepared: PreparedJob, _ reporting: any RunListener) {
        guard let title = lostTitle(prepared) else { return }
        reporting.list(title, prepared.lostOutputs.map(\.path), all: RunNotice.plan)
    }

    private static func lostTitle(_ prepared: PreparedJob) -> String? {
        guard let lost = prepared.lost.first, !prepared.lostOutputs.isEmpty else { return nil }
        let count = prepared.lostOutputs.count
        return "\(prepared.job.name): \(Figures.plural(count, "output")) \(count == 1 ? "stays" : "stay"), because "
            + "\(lost.message); if the pictures were removed or moved on purpose, say so with --allow-gone"
    }

    /// - Parameter findings: reads files.
    func run(findings: ([DigestTask.File]) async throws -> Freshness.Findings) async throws -> RunOutcome {
        let lost = tellLost()
        return prepared.orphans.isEmpty ? lost : max(lost, try await lookAfterOrphans(findings))
    }

    /// Nothing removes them, be it `=all`. A watch has told of them.
    private func tellLost() -> RunOutcome {
        guard let title = Self.lostTitle(prepared), !request.isWatching else { return .done }
        if case .listed = request.orphans {
            Self.listLost(prepared, reporting)
            return .done
        }
        reporting.complain(title)
        return .someFailed
    }

    private func lookAfterOrphans(
        _ findings: ([DigestTask.File]) async throws -> Freshness.Findings
    ) async throws -> RunOutcome {
        switch request.orphans {
        case .listed:
            try list(try await findings(OrphanRemoval.touched(orphans)))
            return .done
        case .removed:
            if let refusal {
                reporting.complain(refusal)
                return .someFailed
            }
        case .allRemoved: break
        }
        let removal = OrphanRemoval(
            orphans, below: OutputFolders.of(prepared.job),
            findings: try await findings(OrphanRemoval.touched(orphans)))
        try ledger.forget(removal.removed)
        if !removal.removed.isEmpty {
            reporting.list(
                "\(name): removed \(Figures.plural(removal.removed.count, "output")) whose inputs are gone",
                removal.removed)
        }
        try listKept(removal.kept) { "without an input \($0 == 1 ? "stays as it is" : "stay as they are")" }
        return .done
    }

    private func list(_ findings: Freshness.Findings) throws {
        let objections = orphans.map { OrphanRemoval.objection(to: $0, findings) }
        let removable = zip(orphans, objections).filter { $1 == nil }.map(\.0.path)
        let kept = zip(orphans, objections).compactMap { orphan, reason in
            reason.map { (path: orphan.path, reason: $0) }
        }
        if !removable.isEmpty {
            reporting.list(
                "\(name): \(Figures.plural(removable.count, "output")) without an input any more; --delete-orphans removes them",
                removable, all: RunNotice.plan)
        }
        try listKept(kept) { _ in "without an input any more, which a person has to remove" }
    }

    /// Outputs that only a person may remove. Where silence is asked for, each is told once.
    private func listKept(_ kept: [(path: String, reason: String)], _ words: (Int) -> String) throws {
        let texts = kept.map { "\(Self.keptKind)\($0.path): \($0.reason)" }
        let new = Set(try ledger.tellNew(texts, kind: Self.keptKind, isAll: true).map(PathKey.init))
        let isTold = !context.isSilent
        let told = zip(texts, kept).filter { isTold || new.contains(PathKey($0.0)) }.map(\.1)
        guard !told.isEmpty else { return }
        reporting.complain(
            "\(name): \(Figures.plural(told.count, "output")) \(words(told.count))", told.map(\.path),
            reasons: told.map(\.reason), all: RunNotice.plan)
    }

    private static let keptKind = "orphan: "

    /// What looks more like a mistake than like pictures that somebody has deleted.
    private var refusal: String? {
        let outputs = prepared.publishedCount
        if let pattern = prepared.plan.unmatchedPatterns.first {
            return "\(name): nothing matches '\(PathText.shown(pattern, from: context.folder))', so that "
                + "\(Figures.plural(orphans.count, "output")) without an input stay; if the pictures were removed on purpose, "
                + "--delete-orphans=all removes their outputs"
        }
        guard OrphanRemoval.isTooMuch(orphans.count, of: outputs) else { return nil }
        return
            "\(name): \(Figures.count(orphans.count)) of \(Figures.plural(outputs, "output")) have no input any more, over "
            + "\(OrphanRemoval.mostPercent) %, and stay; --delete-orphans=all removes them nevertheless"
    }
}
