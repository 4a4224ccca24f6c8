package import JobModel
package import JobStorage
package import WorkerProtocol

/// Decides what a run does with a frame, by what is known of its outputs. Reads no file and no clock.
package struct Freshness: Sendable {
    /// What is known of files that were read; nil for a file that is not there.
    package typealias Findings = [DigestTask.File: FileFacts?]

    private struct PictureKey: Hashable {
        let input: PathKey
        let page: Int

        init(_ input: String, page: Int) {
            self.input = PathKey(input)
            self.page = page
        }
    }

    package let existing: ExistingPolicy
    /// Everything is made again, whatever is there.
    package let isForced: Bool
    /// What was published since then need not be made again: nanoseconds since 1970.
    private let madeSince: Int64?
    let compare: ComparePolicy
    let upgrade: UpgradePolicy
    private let minAge: Double
    /// Nanoseconds since 1970.
    private let now: Int64
    private let records: [PathKey: OutputRecord]
    /// The same by input, for jobs whose outputs' names are known only after a look at the pictures.
    private let published: [PathKey: [OutputRecord]]
    private let broken: [PictureKey: BrokenRecord]
    /// What other jobs published at paths of this job's outputs.
    package private(set) var formers: [PathKey: PriorOutput] = [:]
    package let book: RecipeTable

    /// Of a frame that an earlier part of the same run has made.
    package static let madeBefore = "made again already, by an earlier part of this run"

    package init(
        job: JobSpec, isForced: Bool, madeSince: Int64? = nil, records: [OutputRecord], broken: [BrokenRecord],
        book: RecipeTable, now: Int64
    ) {
        self.madeSince = madeSince
        existing = isForced ? .overwrite : job.existing
        self.isForced = isForced
        compare = job.compare
        upgrade = job.upgrade
        minAge = job.minAge
        self.now = now
        self.records = Dictionary(records.map { (PathKey($0.path), $0) }) { $1 }
        published = job.needsProbe ? Dictionary(grouping: records) { PathKey($0.input) } : [:]
        self.broken = Dictionary(broken.map { (PictureKey($0.input, page: $0.page), $0) }) { $1 }
        self.book = book
    }

    package func record(at path: String) -> OutputRecord? { records[PathKey(path)] }

    /// The same, knowing what other jobs published at paths of this job's outputs.
    package func knowing(_ formers: [PathKey: PriorOutput]) -> Freshness {
        var freshness = self
        freshness.formers = formers
        return freshness
    }

    /// The paths by which the outputs of an unchanged input were published; nil unless all are known. Where everything is made
    /// again those that an earlier part of the same run has published are known.
    package func knownNames(input: String, stamp: FileStamp, recipes: [RecipeKey]) -> [String]? {
        guard compare != .content else { return nil }
        let records = (published[PathKey(input)] ?? []).filter { existing == .update || isMadeAgain($0) }
        let names = recipes.enumerated().compactMap { part, recipe in
            records.first { record in
                record.part == part && record.page == 0 && stamp.isUntouched(since: record.source.stamp)
                    && book.comparison(from: record.recipe, to: recipe).map { $0.changes.isEmpty } == true
            }?.path
        }
        return names.count == recipes.count ? names : nil
    }

    /// An earlier part of the same run has published it.
    private func isMadeAgain(_ record: OutputRecord) -> Bool {
        madeSince.map { record.file.stamp.modified >= $0 } ?? false
    }

    /// Whether an input has outputs that a run in parts made already: other inputs come first where time is short, or a run that
    /// looks at all of them would never come to these.
    package func hasOutputs(_ input: String) -> Bool {
        guard let records = published[PathKey(input)] else { return false }
        return existing != .overwrite || records.allSatisfy(isMadeAgain)
    }

    /// - Parameter findings: of the files that ``FrameVerdict/compare(_:)`` asked for; empty at first.
    package func verdict(of frame: FrameFiles, findings: Findings = [:]) -> FrameVerdict {
        if let age = youth(of: frame) {
            return .young(reason: "changed \(age) s ago; 'min_age' leaves it for the next run")
        }
        switch existing {
        case .overwrite:
            if let verdict = madeBefore(frame, findings) { return verdict }
            return .render(
                frame.outputs.map { Replacement(path: $0.path, rule: .anything) },
                reason: isForced ? "--force" : "existing: overwrite")
        case .error:
            if let there = frame.outputs.first(where: { $0.stamp != nil }) { return .refused(output: there.path) }
            return .render(
                frame.outputs.map { Replacement(path: $0.path, rule: .nothing) }, reason: absence(of: frame.outputs))
        case .skip:
            return brokenVerdict(of: frame) ?? skipping(frame)
        case .update:
            return brokenVerdict(of: frame) ?? updating(frame, findings)
        }
    }

    /// It may still be being written.
    package func isYoung(_ frame: FrameFiles) -> Bool { youth(of: frame) != nil }

    /// How many seconds ago a file was changed that is too young; nil for all others. (A time in the future is no reason
    /// to wait for it.)
    private func youth(of frame: FrameFiles) -> Int? {
        guard minAge > 0, let stamp = frame.stamp else { return nil }
        // As floating-point numbers: a file may be of any time.
        let age = (Double(now) - Double(stamp.changed)) / 1e9
        return (0..<minAge).contains(age) ? Int(age) : nil
    }

    /// Nil for a frame that is to be made again, and has not been yet.
    private func madeBefore(_ frame: FrameFiles, _ findings: Findings) -> FrameVerdict? {
        guard let madeSince, frame.outputs.allSatisfy({ $0.stamp.map { $0.modified >= madeSince } ?? false }) else {
            return nil
        }
        switch updating(frame, findings) {
        case .current: return .current(reason: Self.madeBefore)
        case .compare(let files): return .compare(files)
        case .render, .kept, .stillBroken, .refused, .young: return nil
        }
    }

    private func skipping(_ frame: FrameFiles) -> FrameVerdict {
        let wanted = frame.outputs.map { output in
            output.isOutput ? nil : Replacement(path: output.path, rule: .nothing)
        }
        guard wanted.contains(where: { $0 != nil }) else {
            return .current(reason: frame.outputs.count == 1 ? "the output is there" : "all outputs are there")
        }
        return .render(wanted, reason: absence(of: frame.outputs.filter { !$0.isOutput }))
    }

    /// Why outputs are not there.
    private func absence(of outputs: [FrameFiles.Output]) -> String {
        outputs.map { absence(of: $0.path) }.uniqued().joined(separator: "; ")
    }

    /// What was published before is missing.
    func absence(of path: String) -> String { record(at: path) == nil ? "new" : "output missing" }

    private func brokenVerdict(of frame: FrameFiles) -> FrameVerdict? {
        isStillBroken(frame).map { .stillBroken(since: $0.since, message: $0.message) }
    }

    /// The failure of a frame that would fail again: its paths need not be known. Nil for all others, and where everything
    /// is made again.
    package func isStillBroken(_ frame: FrameFiles) -> BrokenRecord? {
        existing == .update || existing == .skip ? brokenRecord(of: frame) : nil
    }

    /// The failure of the same picture in the same job.
    func brokenRecord(of frame: FrameFiles) -> BrokenRecord? {
        guard let record = broken[PictureKey(frame.input, page: frame.page)], let stamp = frame.stamp,
            stamp.isUntouched(since: record.stamp),
            book.isText(record.recipe, of: frame.outputs.map(\.recipe))
        else { return nil }
        return record
    }
}
