import JobModel
import JobStorage
package import Scheduling
import Synchronization
import WorkerProtocol

/// Answers a run's questions about outputs, and records what the run finds.
package final class OutputTracker: Sendable {
    /// Nil for jobs without a manifest, of which nothing is recorded.
    let ledger: Ledger?
    private let freshness: Freshness
    /// In seconds since 1970.
    private let now: Int
    /// Whether filters of the job read pictures.
    private let hasPictures: Bool
    private let recipes = Mutex<[RecipeKey: RecipeID]>([:])
    private let refreshed = Mutex<[OutputRecord]>([])
    /// Writes to the ledger, because transactions wait for the disk. The run waits for it only at its end.
    let thread = SerialThread()

    package init(ledger: Ledger?, freshness: Freshness, hasPictures: Bool, now: Int) {
        self.hasPictures = hasPictures
        self.ledger = ledger
        self.freshness = freshness
        self.now = now
    }

    /// The names of the filters that are plugins.
    var plugins: Set<String> { freshness.recipes.plugins }

    /// Decides again after files were read. Touched files whose bytes are unchanged get new stamps in the
    /// ledger.
    func verdict(of files: FrameFiles, findings: Freshness.Findings) -> FrameVerdict {
        let verdict = freshness.verdict(of: files, findings: findings)
        // A rendered output gets a new record. An older record must not replace it.
        if case .render = verdict { return verdict }
        let records = freshness.refreshed(files, findings)
        let isMuch = refreshed.withLock { refreshed in
            refreshed += records
            return refreshed.count >= 512
        }
        if isMuch { thread.begin { self.writeRefreshed() } }
        return verdict
    }

    /// Writes all records. They are on the disk when this returns.
    func finish() async { await thread.run { self.writeRefreshed() } }

    /// Writes the new stamps of touched files to the ledger.
    private func writeRefreshed() {
        let records = refreshed.withLock { refreshed in
            defer { refreshed = [] }
            return refreshed
        }
        // If it fails, the next run reads these files again.
        try? ledger?.publish(records)
    }

    private func id(of key: RecipeKey, _ ledger: Ledger) throws(StoreError) -> RecipeID {
        if let known = recipes.withLock({ $0[key] }) { return known }
        let id = try ledger.id(of: freshness.recipes[key])
        recipes.withLock { $0[key] = id }
        return id
    }

    /// Whether all outputs of the frame are current, even if this run renders everything again.
    func isCurrent(_ files: FrameFiles) -> Bool {
        if case .current = freshness.updating(files, [:]) { true } else { false }
    }

    /// The recipes of the frame's outputs.
    func recipeText(of files: FrameFiles) -> String { freshness.recipes.text(of: files.outputs.map(\.recipe)) }

    /// The record of an output that is about to be published.
    func record(of output: Publication, _ files: FrameFiles) throws(StoreError) -> OutputRecord? {
        guard let ledger else { return nil }
        let receipt = output.receipt
        return OutputRecord(
            path: output.path, input: files.input, page: files.page, part: output.part, source: output.source,
            recipe: try id(of: files.outputs[output.part].recipe, ledger),
            file: output.source, width: receipt.image.width, height: receipt.image.height,
            pixels: receipt.pixels)
    }

    /// The recipe of an output.
    func recipe(of output: Publication, _ files: FrameFiles) -> Recipe {
        freshness.recipes[files.outputs[output.part].recipe]
    }

    /// The record of an adopted output.
    func record(of output: AdoptedOutput, _ files: FrameFiles, source: FileFacts) throws(StoreError) -> OutputRecord? {
        let found = files.outputs[output.part]
        guard let ledger, let stamp = found.stamp else { return nil }
        return OutputRecord(
            path: found.path, input: files.input, page: files.page, part: output.part, source: source,
            recipe: try id(of: found.recipe, ledger), file: FileFacts(stamp: stamp, digest: output.digest),
            width: output.header.width, height: output.header.height, isAdopted: true)
    }

    /// The remedy for an output that was published for other bytes of its picture; nil for all other outputs.
    ///
    /// - Parameters:
    ///   - digest: the digest of the output.
    ///   - source: the digest of the picture.
    ///   - published: the result of ``Ledger/sources(of:)``.
    func outdated(
        _ output: FrameFiles.Output, digest: Digest, source: Digest, published: [Digest: Set<Digest>]
    ) -> String? {
        var sources = published[digest] ?? []
        let prior = freshness.priorOutputs[PathKey(output.path)]?.record
        if let prior, prior.file.digest == digest { sources.insert(prior.source.digest) }
        guard !sources.isEmpty, !sources.contains(source) else { return nil }
        return freshness.record(at: output.path) == nil
            ? "'penumbra adopt --moved' takes it over, and the next run renders it again"
            : "the next run renders it again"
    }

    /// Whether this output is current, whatever the frame's other outputs are.
    func isCurrent(_ output: FrameFiles.Output, of files: FrameFiles, findings: Freshness.Findings) -> Bool {
        let alone = FrameFiles(
            input: files.input, inputBytes: files.inputBytes, page: files.page, stamp: files.stamp, outputs: [output])
        return freshness.verdict(of: alone, findings: findings) == .upToDate
    }

    /// Records a broken picture in the background, so that it is not tried again until it changes. See ``finish()``.
    package func remember(_ failure: FrameFailure, of files: FrameFiles) {
        guard let ledger, let stamp = files.stamp else { return }
        switch failure.cause {
        case .data: break
        // The cause may be a picture that a filter reads. It can be fixed while this picture stays the same.
        case .value where !hasPictures: break
        default: return
        }
        let text = freshness.recipes.text(of: files.outputs.map(\.recipe))
        let since = freshness.brokenRecord(of: files)?.since ?? now
        thread.begin {
            // If it cannot be recorded, the next run tries the picture again, which does no harm.
            try? ledger.setBroken(
                BrokenRecord(
                    input: files.input, page: files.page, stamp: stamp, recipe: ledger.id(ofText: text),
                    message: failure.message, since: since))
        }
    }
}
