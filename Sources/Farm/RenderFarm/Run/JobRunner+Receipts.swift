import Coordination
import JobModel
import JobStorage
import Reports
import SafeFiles

extension JobRunner {
    /// Writes receipts that are missing or tell of other bytes.
    func keepReceipts(_ job: StartedJob) -> RunOutcome {
        let spec = job.prepared.job
        let maker = ReceiptMaker(spec, run: job.directory, catalog: preparation.catalog, now: currentTime)
        guard let ledger = job.ledger, let maker else { return .done }
        do {
            let keeper = try ReceiptRepair(
                try ledger.records(), recipes: ledger.recipeTexts, by: maker, directory: job.directory)
            try tell(keeper, spec, ledger)
            return .done
        } catch {
            let message = (error as? StoreProblem)?.message ?? (error as? FileTrouble)?.message ?? "\(error)"
            reporting.complain("\(spec.name): \(message)")
            return .storage
        }
    }

    private func tell(_ keeper: ReceiptRepair, _ job: JobSpec, _ ledger: Ledger) throws {
        if keeper.written > 0 {
            reporting.say(
                "\(job.name): \(Figures.plural(keeper.written, "receipt")) written of outputs that were published before"
            )
        }
        if !keeper.blocked.isEmpty {
            reporting.list(
                "\(job.name): \(Figures.plural(keeper.blocked.count, "output")) without a receipt: another file is in its "
                    + "place, and stays", keeper.blocked)
        }
        if let first = keeper.refused.first {
            reporting.list(
                "\(job.name): \(Figures.plural(keeper.refused.count, "output")) without a receipt: \(first.trouble.message)",
                keeper.refused.map(\.output))
        }
        guard !keeper.unknown.isEmpty, try ledger.tellOnce("receipts: unknown") else { return }
        reporting.note(
            "\(job.name): \(Figures.plural(keeper.unknown.count, "output")) without a receipt: too little was remembered when "
                + "they were published; --force makes them anew")
    }
}
