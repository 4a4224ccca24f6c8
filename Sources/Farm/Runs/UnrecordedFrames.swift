import JobModel
package import JobStorage
import Planning
import SafeFiles
package import Scheduling
import Synchronization

/// Finds frames that a run has no record of, because their outputs were up to date or because their pictures were broken before.
///
/// A run numbers its inputs in the order of their paths. So the inputs that the database knows of the job tell which frame is which, if
/// they are exactly the inputs of the run. The search reads all of them. Its result is kept for one run, because a page asks for
/// many pictures of one run. It holds while no later run of the job has begun.
package final class UnrecordedFrames: Sendable {
    private struct Known {
        let run: RunID
        let inputs: [String]
    }

    private let known = Mutex<Known?>(nil)

    package init() {}

    /// A frame, recorded or not. Nil if the run has no such frame, or if it is not certain which picture it was.
    package func frame(_ id: FrameID, of run: RunStatus, in archive: RunArchive) throws -> StoredFrame? {
        if let recorded = try archive.frame(id, of: run) {
            // The run has read the files of such a frame, and found them up to date. It then records the frame without outputs.
            guard recorded.state.kind == .skipped, recorded.outputs.allSatisfy(\.isEmpty), try archive.isLatest(run)
            else { return recorded }
            // The record does not tell whether its outputs were up to date or kept, and the map does.
            let cell = try archive.map(of: run)?[id] == .kept ? FrameMap.Cell.kept : .skipped
            return try archive.frame(id, input: recorded.input, cell, of: run) ?? recorded
        }
        guard try archive.isLatest(run), let cell = try archive.map(of: run)?[id] else { return nil }
        let inputs = try inputs(of: run, archive)
        guard inputs.indices.contains(id.number - 1) else { return nil }
        return try archive.frame(id, input: inputs[id.number - 1], cell, of: run)
    }

    /// The pictures that the run did not try because they were broken before, each with its frame where that is certain.
    package func stillBroken(
        in run: RunStatus, _ details: RunArchive.Details, _ archive: RunArchive
    ) throws -> [BrokenLine] {
        let broken = try archive.stillBroken(in: run, details)
        // Most runs have none, and then the inputs need not be read.
        guard !broken.isEmpty, try archive.isLatest(run), let map = try archive.map(of: run) else {
            return broken.map { BrokenLine($0, frame: nil) }
        }
        let cells = map.cells.filter { $0.cell == .stillBroken }.map(\.frame)
        // All frames with this letter are among the broken pictures. Both lists have the order of the paths.
        if cells.count == broken.count, cells.map(\.page) == broken.map(\.page) {
            return zip(broken, cells).map { BrokenLine($0, frame: $1) }
        }
        let numbers = Dictionary(
            try inputs(of: run, archive).enumerated().map { (PathKey($1), $0 + 1) },
            uniquingKeysWith: { first, _ in first })
        return broken.map { record in
            let frame = numbers[PathKey(record.input)].map { FrameID($0, page: record.page) }
            return BrokenLine(record, frame: frame.flatMap { map[$0] == .stillBroken ? $0 : nil })
        }
    }

    /// Empty if they are not certain.
    private func inputs(of run: RunStatus, _ archive: RunArchive) throws -> [String] {
        let id = run.stored.id
        if let known = known.withLock({ $0 }), known.run == id { return known.inputs }
        guard let inputs = try archive.inputs(of: run) else { return [] }
        known.withLock { $0 = Known(run: id, inputs: inputs) }
        return inputs
    }
}

extension RunArchive {
    /// Whether the job of a run of this database has had no later one.
    fileprivate func isLatest(_ run: RunStatus) throws -> Bool {
        guard !isShared(run) else { return false }
        return try store?.read { reader in
            try reader.job(manifest: run.stored.manifest, name: run.stored.job).map {
                try reader.latestRun(of: $0) == run.stored.id
            }
        } == true
    }

    /// The inputs of an ended run in their order. Nil if they are not certain.
    ///
    /// Each input of a run has a published output, is known as broken, or is recorded as a frame. So all inputs are among the known
    /// ones, and if there are as many of them, these are the inputs. Outputs of pictures that were removed before the run may remain,
    /// so these pictures do not count. A later run may have changed what is known.
    fileprivate func inputs(of run: RunStatus) throws -> [String]? {
        guard run.condition.isEnded, let map = try map(of: run) else { return nil }
        let count = Set(map.cells.map(\.frame.number)).count
        // A run of chosen frames has gaps.
        guard map.has(inputNumber: count) else { return nil }
        let found = try store?.read { reader -> (known: [String], recorded: [StoredFrame])? in
            guard let job = try reader.job(manifest: run.stored.manifest, name: run.stored.job),
                try reader.latestRun(of: job) == run.stored.id
            else { return nil }
            return (try reader.knownInputs(of: job, run: run.stored.id), try reader.frames(of: run.stored.id))
        }
        guard let found, found.known.count >= count else { return nil }
        var inputs = Set(found.known.map(PathKey.init))
        if inputs.count > count {
            inputs.subtract(removedInputs(inputs, before: run.stored.started))
            inputs.formUnion(found.recorded.map { PathKey($0.input) })
        }
        guard inputs.count == count else { return nil }
        let ordered = inputs.sorted().map(\.path)
        let isConsistent = found.recorded.allSatisfy { frame in
            ordered.indices.contains(frame.number - 1)
                && PathKey(ordered[frame.number - 1]) == PathKey(frame.input)
        }
        return isConsistent ? ordered : nil
    }

    /// The inputs that were gone at a time. An input counts if it is gone now, and its folder has not changed since that time.
    private func removedInputs(_ inputs: Set<PathKey>, before time: Int64) -> Set<PathKey> {
        var isOld: [PathKey: Bool] = [:]
        return inputs.filter { input in
            guard FileSystem.stamp(input.path) == nil else { return false }
            let folder = PathKey(PathText.folder(of: input.path))
            if let known = isOld[folder] { return known }
            let answer = Self.isUnchanged(folder.path, since: time)
            isOld[folder] = answer
            return answer
        }
    }

    /// Whether nothing was added to a folder or removed from it since. If the folder is gone, the one above it tells when.
    private static func isUnchanged(_ folder: String, since time: Int64) -> Bool {
        var folder = folder
        while true {
            if let stamp = FileSystem.stamp(folder) { return stamp.modified < time && stamp.changed < time }
            guard folder != "/" else { return false }
            folder = PathText.folder(of: folder)
        }
    }

    /// What the database knows of a frame that is not recorded, as a record.
    fileprivate func frame(
        _ id: FrameID, input: String, _ cell: FrameMap.Cell, of run: RunStatus
    ) throws -> StoredFrame? {
        let found = try store?.read {
            reader -> (
                outputs: [(path: String, recipe: String)], broken: BrokenRecord?, recipe: String?, kept: String?
            )? in
            guard let job = try reader.job(manifest: run.stored.manifest, name: run.stored.job) else { return nil }
            let broken = try reader.broken(of: job).first { PathKey($0.input) == PathKey(input) && $0.page == id.page }
            let outputs = try reader.outputs(of: job, input: input, page: id.page)
            let kept = try outputs.lazy.compactMap { try reader.keptReason(of: job, output: $0.path) }.first
            return (outputs, broken, try broken.flatMap { try reader.recipe($0.recipe) }, kept)
        }
        guard let (outputs, broken, tried, kept) = found else { return nil }
        let recipe = outputs.isEmpty ? tried ?? "" : outputs.map(\.recipe).joined(separator: "\n")
        let state: FrameResult =
            switch cell {
            case .skipped: .skipped()
            case .kept: .kept(reason: kept ?? "")
            case .stillBroken: .stillBroken(since: broken?.since ?? 0, message: broken?.message ?? "")
            case .left: .left
            // Frames in other states are recorded.
            case .waiting, .running, .published, .failed: .open
            }
        return StoredFrame(
            number: id.number, page: id.page, input: input, recipe: recipe,
            outputs: outputs.map(\.path), state: state)
    }
}
