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

/// `existing: update`.
extension Freshness {
    /// One output's part in the verdict.
    private enum Part {
        case current(String)
        case render(ReplacementRule, String)
        case kept(String)
        case compare([DigestTask.File])
    }

    func updating(_ frame: FrameFiles, _ findings: Findings) -> FrameVerdict {
        let parts = frame.outputs.map { part(of: $0, frame, findings) }
        let unknown = parts.flatMap { part -> [DigestTask.File] in
            if case .compare(let files) = part { files } else { [] }
        }
        guard unknown.isEmpty else { return .compare(unknown.uniqued()) }
        var reasons: [String] = []
        let wanted = zip(frame.outputs, parts).map { output, part -> Replacement? in
            guard case .render(let rule, let reason) = part else { return nil }
            reasons.append(reason)
            return Replacement(path: output.path, rule: rule)
        }
        let kept = zip(frame.outputs, parts).compactMap { output, part in
            if case .kept(let reason) = part { KeptOutput(path: output.path, reason: reason) } else { nil }
        }
        if !reasons.isEmpty { return .render(wanted, reason: reasons.uniqued().joined(separator: "; "), kept: kept) }
        if !kept.isEmpty { return .kept(kept) }
        for case .current(let reason) in parts { return .current(reason: reason) }
        return .upToDate
    }

    private func part(of output: FrameFiles.Output, _ frame: FrameFiles, _ findings: Findings) -> Part {
        guard let record = record(at: output.path) else {
            return output.stamp == nil
                ? .render(.nothing, absence(of: output.path))
                : .kept(
                    formers[PathKey(output.path)].map { $0.reason + staleness(of: $0.record, frame) }
                        ?? "not published by Penumbra; 'penumbra adopt' accepts it, --force replaces it")
        }
        guard let stamp = output.stamp else { return .render(.nothing, absence(of: output.path)) }
        guard let input = hasChanged(frame, since: record, findings) else {
            // All at once: files are read one time for a frame.
            let isToBeRead = isEdited(output.path, stamp, since: record, findings, isReplaced: true) == nil
            return .compare([frame.inputFile] + (isToBeRead ? [DigestTask.File(path: output.path)] : []))
        }
        let reasons = (input ? ["input changed"] : []) + changes(since: record, output.recipe)
        let edited = isEdited(output.path, stamp, since: record, findings, isReplaced: !reasons.isEmpty)
        guard let edited else { return .compare([DigestTask.File(path: output.path)]) }
        switch (reasons.isEmpty, edited) {
        case (true, false): return .current("up to date")
        case (true, true): return .kept("output was edited; 'penumbra adopt' accepts it, --force makes it again")
        case (false, false): return .render(.published(stamp), reasons.joined(separator: ", "))
        case (false, true):
            return .kept(
                "output was edited, and would be made anew (\(reasons.joined(separator: ", "))); --force replaces it")
        }
    }

    /// What is said of an output that another job has published, of a picture that was changed since. Nothing is read for it.
    private func staleness(of record: OutputRecord, _ frame: FrameFiles) -> String {
        guard let stamp = frame.stamp, PathKey(record.input) == PathKey(frame.input),
            !stamp.isUntouched(since: record.source.stamp, by: .size)
        else { return "" }
        return "; the picture was changed since"
    }

    /// Nil when the input has to be read to tell.
    private func hasChanged(_ frame: FrameFiles, since record: OutputRecord, _ findings: Findings) -> Bool? {
        guard let stamp = frame.stamp, PathKey(record.input) == PathKey(frame.input) else { return true }
        if let found = findings[frame.inputFile] { return found?.digest != record.source.digest }
        switch compare {
        case .stamp: return stamp.isUntouched(since: record.source.stamp) ? false : nil
        case .size: return stamp.size != record.source.stamp.size
        case .content: return nil
        }
    }

    /// Nil when the output has to be read to tell.
    ///
    /// - Parameter isReplaced: then a size is not enough to know that it is Penumbra's.
    private func isEdited(
        _ path: String, _ stamp: FileStamp, since record: OutputRecord, _ findings: Findings, isReplaced: Bool
    ) -> Bool? {
        if let found = findings[DigestTask.File(path: path)] { return found?.digest != record.file.digest }
        if stamp.size != record.file.stamp.size { return true }
        switch compare {
        case .stamp: return stamp.isUntouched(since: record.file.stamp) ? false : nil
        case .size: return isReplaced && !stamp.isUntouched(since: record.file.stamp) ? nil : false
        case .content: return nil
        }
    }

    private func changes(since record: OutputRecord, _ recipe: RecipeKey) -> [String] {
        guard let comparison = book.comparison(from: record.recipe, to: recipe) else {
            return ["made by another version of Penumbra"]
        }
        return comparison.changes + (upgrade == .rerender ? comparison.upgrades : [])
    }

    /// Records of outputs that are what they were, under other stamps.
    package func refreshed(_ frame: FrameFiles, _ findings: Findings) -> [OutputRecord] {
        frame.outputs.compactMap { output in
            guard let old = record(at: output.path), let stamp = output.stamp else { return nil }
            var record = old
            if let found = findings[frame.inputFile] ?? nil, found.digest == old.source.digest,
                !found.stamp.isUntouched(since: old.source.stamp)
            {
                record.source = found
            }
            if let found = findings[DigestTask.File(path: output.path)] ?? nil, found.digest == old.file.digest,
                !stamp.isUntouched(since: old.file.stamp)
            {
                record.file = FileFacts(stamp: stamp, digest: found.digest)
            }
            return record == old ? nil : record
        }
    }

    /// What upgrades of Penumbra would change of this frame's outputs, if they were rendered again.
    package func keptUpgrades(of frame: FrameFiles) -> [String] {
        guard existing == .update, upgrade == .keep else { return [] }
        return frame.outputs.flatMap { output in
            record(at: output.path).flatMap { book.comparison(from: $0.recipe, to: output.recipe)?.upgrades } ?? []
        }
    }
}

extension Array where Element: Hashable {
    /// Each once, in their order.
    func uniqued() -> [Element] {
        guard count > 1 else { return self }
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
