package import JobModel
package import JobStorage
import Planning
package import WorkerProtocol

/// Decides what a run does with a frame. Knows the records of outputs and the stamps of files. Reads no file
/// and no clock.
package struct Freshness: Sendable {
    /// What was read of files; nil for a file that does not exist.
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
    /// Renders all frames again, whatever their outputs are (`--force`).
    package let isForced: Bool
    /// Outputs that were published since this time are not rendered again. In nanoseconds since 1970.
    private let madeSince: Int64?
    let compare: ComparePolicy
    let upgrade: UpgradePolicy
    private let minAge: Double
    /// A state folder that commands have to name; nil for the user's usual one.
    private let stateFolder: String?
    /// In nanoseconds since 1970.
    private let now: Int64
    private let records: [PathKey: OutputRecord]
    /// The records by input, for jobs whose output names depend on the pictures' headers.
    private let published: [PathKey: [OutputRecord]]
    private let broken: [PictureKey: BrokenRecord]
    /// Outputs of other jobs at the paths of this job's outputs. This job does not know them, or another job has replaced its own.
    package private(set) var priorOutputs: [PathKey: PriorOutput] = [:]
    package let recipes: RecipeTable
    /// Damaged outputs that are made again, with what was found of them; nil for nothing.
    private let damaged: [PathKey: Digest?]

    /// The reason for skipping a frame that an earlier part of the same run rendered.
    package static let madeBefore = "rendered again already, by an earlier part of this run"

    /// - Parameters:
    ///   - damaged: the outputs that a repair makes again, whatever the job's policy is. Nil if the run is no repair.
    ///   - stateFolder: the state folder, unless it is the user's usual one. Messages name it.
    package init(
        job: JobSpec, isForced: Bool, madeSince: Int64? = nil, damaged: [PathKey: Digest?]? = nil,
        records: [OutputRecord], broken: [BrokenRecord], recipes: RecipeTable, stateFolder: String? = nil, now: Int64
    ) {
        self.damaged = damaged ?? [:]
        self.madeSince = madeSince
        self.stateFolder = stateFolder
        existing = damaged != nil ? .update : isForced ? .overwrite : job.existing
        self.isForced = isForced
        compare = job.compare
        upgrade = job.upgrade
        minAge = job.minAge
        self.now = now
        self.records = Dictionary(records.map { (PathKey($0.path), $0) }) { $1 }
        published = job.needsProbe ? Dictionary(grouping: records) { PathKey($0.input) } : [:]
        self.broken = Dictionary(broken.map { (PictureKey($0.input, page: $0.page), $0) }) { $1 }
        self.recipes = recipes
    }

    package func record(at path: String) -> OutputRecord? { records[PathKey(path)] }

    /// The same with the outputs of other jobs at this job's paths.
    package func knowing(_ priorOutputs: [PathKey: PriorOutput]) -> Freshness {
        var freshness = self
        freshness.priorOutputs = priorOutputs
        return freshness
    }

    /// The paths at which the outputs of an unchanged input were published. Nil unless all are known. If all
    /// frames are rendered again, only outputs of an earlier part of the same run count.
    package func knownNames(input: String, stamp: FileStamp, recipes: [RecipeKey]) -> [String]? {
        guard compare != .content else { return nil }
        let records = (published[PathKey(input)] ?? []).filter { existing == .update || isMadeAgain($0) }
        let names = recipes.enumerated().compactMap { part, recipe in
            records.first { record in
                record.part == part && record.page == 0 && stamp.isUntouched(since: record.source.stamp)
                    && self.recipes.comparison(from: record.recipe, to: recipe).map { $0.changes.isEmpty } == true
            }?.path
        }
        return names.count == recipes.count ? names : nil
    }

    /// Whether an earlier part of the same run published it.
    private func isMadeAgain(_ record: OutputRecord) -> Bool {
        madeSince.map { record.file.stamp.modified >= $0 } ?? false
    }

    /// Whether an earlier part of a run has made outputs of this input. If time is short, other inputs come
    /// first. Otherwise a run that inspects all inputs never reaches these.
    package func hasOutputs(_ input: String) -> Bool {
        guard let records = published[PathKey(input)] else { return false }
        return existing != .overwrite || records.allSatisfy(isMadeAgain)
    }

    /// - Parameter findings: what was read of the files in ``FrameVerdict/compare(_:)``; empty at first.
    package func verdict(of frame: FrameFiles, findings: Findings = [:]) -> FrameVerdict {
        if let age = recentAge(of: frame) {
            return .tooRecent(reason: "changed \(age) s ago; 'min_age' leaves it for the next run")
        }
        switch existing {
        case .overwrite:
            if let verdict = madeBefore(frame, findings) { return verdict }
            return .render(
                frame.outputs.map { Replacement(path: $0.path, rule: .anything) },
                reason: isForced ? "--force" : "existing: overwrite")
        case .error:
            if let output = frame.outputs.first(where: { $0.stamp != nil }) { return .refused(output: output.path) }
            return .render(
                frame.outputs.map { Replacement(path: $0.path, rule: .nothing) }, reason: absence(of: frame.outputs))
        case .skip:
            return brokenVerdict(of: frame) ?? skipping(frame)
        case .update:
            return brokenVerdict(of: frame) ?? updating(frame, findings)
        }
    }

    /// Whether another program may still write the picture.
    package func isTooRecent(_ frame: FrameFiles) -> Bool { recentAge(of: frame) != nil }

    /// The seconds since the last change of a picture that is too recent; nil for all others. A change in the
    /// future does not count, because waiting for it does not help.
    private func recentAge(of frame: FrameFiles) -> Int? {
        guard minAge > 0, let stamp = frame.stamp else { return nil }
        // In floating point, because integers overflow for some times of files.
        let age = (Double(now) - Double(stamp.changed)) / 1e9
        return (0..<minAge).contains(age) ? Int(age) : nil
    }

    /// Nil if the frame is to be rendered again, and no earlier part of the run did so.
    private func madeBefore(_ frame: FrameFiles, _ findings: Findings) -> FrameVerdict? {
        guard let madeSince, frame.outputs.allSatisfy({ $0.stamp.map { $0.modified >= madeSince } ?? false }) else {
            return nil
        }
        switch updating(frame, findings) {
        case .current: return .current(reason: Self.madeBefore)
        case .compare(let files): return .compare(files)
        case .render, .kept, .stillBroken, .refused, .tooRecent: return nil
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

    /// Why outputs are rendered that do not exist.
    private func absence(of outputs: [FrameFiles.Output]) -> String {
        outputs.map { absence(of: $0.path) }.uniqued().joined(separator: "; ")
    }

    /// Whether the output is new, or was published before and is missing.
    func absence(of path: String) -> String { record(at: path) == nil ? "new" : "output missing" }

    private func brokenVerdict(of frame: FrameFiles) -> FrameVerdict? {
        isStillBroken(frame).map { .stillBroken(since: $0.since, message: $0.message) }
    }

    /// The failure of a frame that would fail again; nil for all others. It does not need the outputs' paths.
    package func isStillBroken(_ frame: FrameFiles) -> BrokenRecord? {
        existing == .update || existing == .skip ? brokenRecord(of: frame) : nil
    }

    /// The recorded failure, if the picture and the recipes are still the same.
    func brokenRecord(of frame: FrameFiles) -> BrokenRecord? {
        guard let record = broken[PictureKey(frame.input, page: frame.page)], let stamp = frame.stamp,
            stamp.isUntouched(since: record.stamp),
            recipes.isText(record.recipe, of: frame.outputs.map(\.recipe))
        else { return nil }
        return record
    }
}

/// The policy `existing: update`: renders outputs whose input or recipe has changed.
extension Freshness {
    /// The verdict for one output.
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
        if let repair = repair(of: output, findings) { return repair }
        guard let record = record(at: output.path) else {
            return output.stamp == nil
                ? .render(.nothing, absence(of: output.path))
                : .kept(
                    priorOutputs[PathKey(output.path)].map { $0.reason + staleness(of: $0.record, frame) }
                        ?? noRecord)
        }
        guard let stamp = output.stamp else { return .render(.nothing, absence(of: output.path)) }
        if let prior = priorOutputs[PathKey(output.path)] {
            return .kept(prior.reason + staleness(of: prior.record, frame))
        }
        guard let input = hasChanged(frame, since: record, findings) else {
            // Input and output are requested together, so that a frame's files are read once.
            let isToBeRead = isEdited(output.path, stamp, since: record, findings, isReplaced: true) == nil
            return .compare([frame.inputFile] + (isToBeRead ? [DigestTask.File(path: output.path)] : []))
        }
        let reasons = (input ? ["input changed"] : []) + changes(since: record, output.recipe)
        let edited = isEdited(output.path, stamp, since: record, findings, isReplaced: !reasons.isEmpty)
        guard let edited else { return .compare([DigestTask.File(path: output.path)]) }
        switch (reasons.isEmpty, edited) {
        case (true, false): return .current("up to date")
        case (true, true):
            return .kept("output was edited or damaged; accept with '\(adopt)', render again with --force")
        case (false, false): return .render(.published(stamp), reasons.joined(separator: ", "))
        case (false, true):
            return .kept(
                "output was edited or damaged, and would be rendered again (\(reasons.joined(separator: ", "))); "
                    + "--force replaces it"
            )
        }
    }

    /// Nil unless the output is to be repaired, and has the bytes that were found damaged.
    private func repair(of output: FrameFiles.Output, _ findings: Findings) -> Part? {
        guard let found = damaged[PathKey(output.path)] else { return nil }
        guard let stamp = output.stamp else { return .render(.nothing, absence(of: output.path)) }
        guard let found else { return nil }
        let file = DigestTask.File(path: output.path)
        guard let now = findings[file] else { return .compare([file]) }
        return now?.digest == found ? .render(.published(stamp), "output damaged") : nil
    }

    /// Why an output is kept. One line may list many outputs with this reason.
    private var noRecord: String {
        let place = stateFolder.map { "the state folder \(PathText.visible($0))" } ?? "this state folder"
        return "no record in \(place); accept with '\(adopt)', replace with --force"
    }

    /// The command that accepts kept outputs in the state folder of this run. The message is in single quotes already.
    private var adopt: String {
        guard let stateFolder else { return "penumbra adopt" }
        let isPlain = stateFolder.allSatisfy { $0.isLetter || $0.isNumber || "/._-+".contains($0) }
        let word = PathText.visible(stateFolder)
        return "penumbra adopt --state-dir \(isPlain ? word : "\"\(word)\"")"
    }

    /// Says that the picture changed after another job published this output. Reads no file, so it says nothing if the picture was
    /// new when it was read: then its time is not known.
    private func staleness(of record: OutputRecord, _ frame: FrameFiles) -> String {
        let earlier = record.source.stamp
        guard let stamp = frame.stamp, PathKey(record.input) == PathKey(frame.input),
            stamp.size != earlier.size || earlier.modified != 0 && stamp.modified != earlier.modified
        else { return "" }
        return "; the picture was changed since"
    }

    /// Nil if the input has to be read first.
    private func hasChanged(_ frame: FrameFiles, since record: OutputRecord, _ findings: Findings) -> Bool? {
        guard let stamp = frame.stamp, PathKey(record.input) == PathKey(frame.input) else { return true }
        if let found = findings[frame.inputFile] { return found?.digest != record.source.digest }
        switch compare {
        case .stamp: return stamp.isUntouched(since: record.source.stamp) ? false : nil
        case .size: return stamp.size != record.source.stamp.size
        case .content: return nil
        }
    }

    /// Nil if the output has to be read first.
    ///
    /// - Parameter isReplaced: whether the output would be replaced. In that case an equal size does not prove
    ///   that Penumbra wrote it.
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
        guard let comparison = recipes.comparison(from: record.recipe, to: recipe) else {
            return ["made by another version of Penumbra"]
        }
        return comparison.changes + (upgrade == .rerender ? comparison.upgrades.map(\.pixels) : [])
    }

    /// New records for files that have the recorded bytes but other stamps.
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

    /// The upgrades that outputs of this frame do not have, because a run with this verdict does not render them again. An upgrade
    /// is repeated for each output.
    package func keptUpgrades(of frame: FrameFiles, _ verdict: FrameVerdict) -> [RecipeUpgrade] {
        guard existing == .update, upgrade == .keep else { return [] }
        let others = Set((verdict.rendered + verdict.kept.map(\.path)).map(PathKey.init))
        return frame.outputs.filter { !others.contains(PathKey($0.path)) }.flatMap { output in
            record(at: output.path).flatMap { recipes.comparison(from: $0.recipe, to: output.recipe)?.upgrades } ?? []
        }
    }
}

extension Array where Element: Hashable {
    /// Its elements without repetitions, in their order.
    func uniqued() -> [Element] {
        guard count > 1 else { return self }
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
