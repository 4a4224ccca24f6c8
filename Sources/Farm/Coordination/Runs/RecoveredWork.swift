import FoundationEssentials
package import JobModel
package import JobStorage
package import Runs
import SafeFiles
import Scheduling
import WorkerProtocol

/// The unpublished work of coordinators that were killed.
package struct RecoveredWork: Sendable {
    fileprivate struct Frame {
        var record: StoredFrame
        var probe: ProbeReceipt?
        var canvas: CanvasReceipt?
        var tiles: [Int: TileReceipt] = [:]
        var outputs: (receipts: [OutputReceipt], source: FileFacts)?
        /// The epoch and round of the latest attempt.
        var round = (epoch: 0, round: 0)
    }

    private var frames: [FrameID: Frame] = [:]
    private var published: [FrameID: StoredFrame] = [:]
    /// When the run began, in nanoseconds since 1970.
    private var started: Int64 = 0
    private var journaled: (paths: Set<PathKey>, since: Int64) = ([], .max)

    package init() {}

    /// Receipts that cannot be read, because an older version wrote them for instance, are left out. That work is done
    /// again.
    package init(_ run: RunRecord, frames records: [StoredFrame], attempts: [StoredAttempt]) {
        started = run.started
        for record in records {
            let id = FrameID(record.number, page: record.page)
            switch record.state {
            case .open, .left: frames[id] = Frame(record: record)
            case .published: published[id] = record
            case .skipped, .kept, .stillBroken, .failed: break
            }
        }
        for attempt in attempts {
            let id = FrameID(attempt.number, page: attempt.page)
            frames[id]?.begin(attempt)
            guard case .done(_, let json) = attempt.state,
                let receipt = try? FrameCodec.decode(TaskReceipt.self, from: Data(json.utf8))
            else { continue }
            frames[id]?.take(receipt, tile: attempt.tile)
        }
    }

    mutating func forgetPublished() { (published, started) = ([:], .max) }

    /// Adds the outputs that the journal says earlier coordinators published. (This machine's database may not have them.)
    package mutating func add(journalOf directory: RunClaim) { journaled = directory.published }

    private func isJournaled(_ files: FrameFiles) -> Bool {
        !files.outputs.isEmpty
            && files.outputs.allSatisfy { output in
                journaled.paths.contains(PathKey(output.path))
                    && output.stamp.map { $0.modified >= journaled.since } ?? false
            }
    }

    /// Whether the run has published the frame, so that a full rerun does not render it twice. (The last publications
    /// before a kill may not be recorded.)
    func hasPublished(_ id: FrameID, _ files: FrameFiles) -> Bool {
        if isJournaled(files) { return true }
        if let record = published[id] { return PathKey(record.input) == PathKey(files.input) }
        return frames[id].map { PathKey($0.record.input) } == PathKey(files.input)
            && files.outputs.allSatisfy { $0.stamp.map { $0.modified >= started } ?? false }
    }

    /// The work that can be used: the input, the recipes and the outputs' paths are unchanged, and the files exist.
    ///
    /// - Parameter outputs: the wanted outputs; nil for a kept one.
    func work(of id: FrameID, _ files: FrameFiles, recipe: String, outputs: [String?]) -> AdoptedWork? {
        guard let frame = frames[id], PathKey(frame.record.input) == PathKey(files.input),
            frame.record.recipe == recipe,
            frame.record.outputs.map(PathKey.init) == outputs.map({ PathKey($0 ?? "") }), let probe = frame.probe,
            let stamp = files.stamp
        else { return nil }
        if let (receipts, source) = frame.outputs, stamp.isUntouched(since: source.stamp),
            receipts.allSatisfy({ FileSystem.treeSize($0.path) == $0.bytes })
        {
            return .outputs(probe, receipts, of: source)
        }
        guard let canvas = frame.canvas, stamp.isUntouched(since: canvas.source.stamp),
            canvas.canvas.cells != nil, FileSystem.exists(canvas.canvas.path), FileSystem.exists(canvas.metadataPath)
        else { return nil }
        return .tiles(probe, canvas, frame.tiles.filter { FileSystem.exists($0.value.path) })
    }
}

extension RecoveredWork.Frame {
    /// A failed verification makes the work worthless. So does a new round, because it means that a verification failed.
    fileprivate mutating func begin(_ attempt: StoredAttempt) {
        var isRejected = attempt.epoch == round.epoch && attempt.round > round.round
        if case .failed = attempt.state, ["audit", "check"].contains(attempt.kind) { isRejected = true }
        if isRejected { (canvas, tiles, outputs) = (nil, [:], nil) }
        round = (attempt.epoch, attempt.round)
    }

    /// Later receipts replace earlier ones. A new canvas makes the tiles of an old one worthless.
    fileprivate mutating func take(_ receipt: TaskReceipt, tile: Int?) {
        switch receipt {
        case .probe(let found): probe = found
        case .canvas(let found): (canvas, tiles, outputs) = (found, [:], nil)
        case .tile(let found): if let tile { tiles[tile] = found }
        case .outputs(let receipts, let source):
            if let source = source ?? canvas?.source { outputs = (receipts, source) }
        case .audit, .check, .preview, .compare: break
        }
    }
}
