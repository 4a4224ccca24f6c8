import JobModel
import JobStorage
package import Scheduling
import Synchronization
import WorkerProtocol

/// What a run knows of outputs, and writes down of them.
package final class OutputTracker: Sendable {
    /// Nil for jobs without a manifest, which leave no trace.
    let ledger: Ledger?
    private let freshness: Freshness
    /// Seconds since 1970.
    private let now: Int
    /// Filters of the job read pictures of their own.
    private let hasPictures: Bool
    private let recipes = Mutex<[RecipeKey: RecipeID]>([:])
    private let refreshed = Mutex<[OutputRecord]>([])
    /// Transactions wait for the disk, and nobody waits for these before the run ends.
    let thread = SerialThread()

    package init(ledger: Ledger?, freshness: Freshness, hasPictures: Bool, now: Int) {
        self.hasPictures = hasPictures
        self.ledger = ledger
        self.freshness = freshness
        self.now = now
    }

    /// The filters that are plugins.
    var plugins: Set<String> { freshness.book.plugins }

    /// Decides again, now that files were read; files that were only touched are known by their new stamps from now on.
    func verdict(of files: FrameFiles, findings: Freshness.Findings) -> FrameVerdict {
        let verdict = freshness.verdict(of: files, findings: findings)
        // What is rendered gets a record of its own, which an older one must not take the place of.
        if case .render = verdict { return verdict }
        let records = freshness.refreshed(files, findings)
        let isMuch = refreshed.withLock { refreshed in
            refreshed += records
            return refreshed.count >= 512
        }
        if isMuch { thread.begin { self.writeRefreshed() } }
        return verdict
    }

    /// Everything is written when this returns.
    func finish() async { await thread.run { self.writeRefreshed() } }

    /// Writes down the new stamps of files that were only touched.
    private func writeRefreshed() {
        let records = refreshed.withLock { refreshed in
            defer { refreshed = [] }
            return refreshed
        }
        // Nothing is lost but the time to read them again.
        try? ledger?.publish(records)
    }

    private func id(of key: RecipeKey, _ ledger: Ledger) throws(StoreProblem) -> RecipeID {
        if let known = recipes.withLock({ $0[key] }) { return known }
        let id = try ledger.id(of: freshness.book[key])
        recipes.withLock { $0[key] = id }
        return id
    }

    /// The frame's outputs are as a run would make them, whether or not this one makes everything again.
    func isCurrent(_ files: FrameFiles) -> Bool {
        if case .current = freshness.updating(files, [:]) { true } else { false }
    }

    /// How a frame's outputs are made.
    func recipeText(of files: FrameFiles) -> String { freshness.book.text(of: files.outputs.map(\.recipe)) }

    /// What the ledger will know of an output.
    func record(of output: Publication, _ files: FrameFiles) throws(StoreProblem) -> OutputRecord? {
        guard let ledger else { return nil }
        let receipt = output.receipt
        return OutputRecord(
            path: output.path, input: files.input, page: files.page, part: output.part, source: output.source,
            recipe: try id(of: files.outputs[output.part].recipe, ledger),
            file: output.source, width: receipt.image.width, height: receipt.image.height,
            pixels: receipt.pixels)
    }

    /// How an output is made.
    func recipe(of output: Publication, _ files: FrameFiles) -> Recipe {
        freshness.book[files.outputs[output.part].recipe]
    }

    /// What the ledger will know of an output that is there, and that somebody else has made.
    func record(of output: AdoptedOutput, _ files: FrameFiles, source: FileFacts) throws(StoreProblem) -> OutputRecord?
    {
        let there = files.outputs[output.part]
        guard let ledger, let stamp = there.stamp else { return nil }
        return OutputRecord(
            path: there.path, input: files.input, page: files.page, part: output.part, source: source,
            recipe: try id(of: there.recipe, ledger), file: FileFacts(stamp: stamp, digest: output.digest),
            width: output.header.width, height: output.header.height, isAdopted: true)
    }

    /// What a person can do about an output that was published for a picture of other bytes than it has now; nil for every
    /// other one.
    ///
    /// - Parameters:
    ///   - digest: the output's.
    ///   - source: the picture's.
    ///   - published: as ``Ledger/sources(of:)`` tells.
    func outdated(
        _ output: FrameFiles.Output, digest: Digest, source: Digest, published: [Digest: Set<Digest>]
    ) -> String? {
        var sources = published[digest] ?? []
        let former = freshness.formers[PathKey(output.path)]?.record
        if let former, former.file.digest == digest { sources.insert(former.source.digest) }
        guard !sources.isEmpty, !sources.contains(source) else { return nil }
        return freshness.record(at: output.path) == nil
            ? "'penumbra adopt --moved' takes it over, and the next run renders it again"
            : "the next run renders it again"
    }

    /// Whether one of a frame's outputs is what a run would make, whatever the others are.
    func isCurrent(_ output: FrameFiles.Output, of files: FrameFiles, findings: Freshness.Findings) -> Bool {
        let alone = FrameFiles(
            input: files.input, inputBytes: files.inputBytes, page: files.page, stamp: files.stamp, outputs: [output])
        return freshness.verdict(of: alone, findings: findings) == .upToDate
    }

    /// A picture that is broken need not be tried again while it is the same. Written in the background: see ``finish()``.
    package func remember(_ failure: FrameFailure, of files: FrameFiles) {
        guard let ledger, let stamp = files.stamp else { return }
        switch failure.cause {
        case .data: break
        // It may be a picture of the job that does not suit, which can be mended while this one stays the same.
        case .value where !hasPictures: break
        default: return
        }
        let text = freshness.book.text(of: files.outputs.map(\.recipe))
        let since = freshness.brokenRecord(of: files)?.since ?? now
        thread.begin {
            // When that cannot be written down it is tried again, which does no harm.
            try? ledger.setBroken(
                BrokenRecord(
                    input: files.input, page: files.page, stamp: stamp, recipe: ledger.id(ofText: text),
                    message: failure.message, since: since))
        }
    }
}
