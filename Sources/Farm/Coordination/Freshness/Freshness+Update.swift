import JobModel
package import JobStorage
import WorkerProtocol

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
