package import Catalogs
import Dispatch
import FoundationEssentials
package import JobModel
package import JobStorage
package import Runs
import SafeFiles
package import Scheduling
import Synchronization
import WorkerProtocol

/// Records a run in the database: its frames, attempts with their receipts, and publications.
///
/// A thread in the background writes everything that came within 50 ms in one transaction. A coordinator that is killed loses
/// only the last moments.
package final class RunRecorder: Sendable {
    private struct State {
        /// Not written yet.
        var frames: [FrameID: StoredFrame] = [:]
        var attempts: [LeaseID: StoredAttempt] = [:]
        var publications: [StoredPublication] = []
        var isWriting = false
        /// Whether or not they are written.
        var open: [FrameID: StoredFrame] = [:]
        var running: [LeaseID: StoredAttempt] = [:]
        var leases: [WorkerID: LeaseID] = [:]
        var stop: StopReason?
        var map: FrameMap?
    }

    package let run: RunID
    private let store: JobStore
    private let epoch: Int
    /// The log that other machines read; nil if only this machine sees the run.
    private let log: RunLog?
    /// The work of earlier coordinators of the run.
    package let recovered: RecoveredWork
    /// Nanoseconds since 1970.
    private let now: @Sendable () -> Int64
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "penumbra.recording")
    private static let pause = DispatchTimeInterval.milliseconds(50)
    /// The largest log of an attempt, from the worker's standard error, in bytes.
    private static let longestLog = 4096

    package init(
        store: JobStore, run: RunID, epoch: Int, log: RunLog? = nil, recovered: RecoveredWork = RecoveredWork(),
        now: @escaping @Sendable () -> Int64
    ) {
        self.store = store
        self.run = run
        self.epoch = epoch
        self.log = log
        self.recovered = recovered
        self.now = now
    }

    /// Begins a run in the database, or resumes the run whose folder was claimed. The caller has the job's lock.
    ///
    /// - Parameters:
    ///   - isShared: whether other machines read about the run in its folder.
    ///   - counts: the known counts of the run, given the work of earlier coordinators and the frames that they concluded.
    package convenience init(
        state: String, job spec: JobSpec, directory: RunClaim, workers: Int, request: String, isShared: Bool = false,
        counts: (RecoveredWork, Set<FrameID>) -> RunCounts, now: @escaping @Sendable () -> Int64
    ) throws(StoreError) {
        // If a power failure loses a record, the work is done again.
        let store = try JobStore(path: JobStore.databasePath(state: state), survivesPowerLoss: false)
        let (name, epoch, time) = (directory.name, directory.epoch, now())
        let known = try store.read { try $0.run(named: name) }
        var (recovered, concluded) = (RecoveredWork(), Set<FrameID>())
        if let known, !known.state.isEnded {
            let frames = try store.read { try $0.frames(of: known.id) }
            concluded = Set(
                frames.filter { $0.state != .open && $0.wasBegun }.map { FrameID($0.number, page: $0.page) })
            recovered = try store.read { RecoveredWork(known, frames: frames, attempts: try $0.attempts(of: known.id)) }
        }
        let counts = counts(recovered, concluded).json
        // Another request, such as --force, applies to all frames.
        if known?.request != request { recovered.forgetPublished() }
        recovered.request = known?.request
        let run = try store.write { writer -> RunID in
            let job = try writer.job(manifest: spec.manifestPath, name: spec.name)
            for other in try writer.reader.runs(of: job) where other.name != name && !other.state.isEnded {
                try writer.end(
                    other.id, at: time, exitCode: RunOutcome.killed.number, reason: "its coordinator was killed")
            }
            if let known {
                try writer.claim(
                    known.id, epoch: epoch, at: time, workers: workers, request: request, counts: counts)
                return known.id
            }
            return try writer.begin(run: name, of: job, at: time, workers: workers, request: request, counts: counts)
        }
        self.init(
            store: store, run: run, epoch: epoch, log: isShared ? directory.folder.log : nil, recovered: recovered,
            now: now)
    }

    /// - Parameter reason: nil if the plan was completed.
    package func end(exitCode: Int, reason: String?, counts: RunCounts) throws(StoreError) {
        flush()
        let (time, map) = (now(), state.withLock { $0.map })
        try store.write { writer in
            try writer.set(run, counts: try whole(counts, writer.reader).json)
            if let map { try writer.set(run, map: map.text) }
            try writer.end(run, at: time, exitCode: exitCode, reason: reason)
            try writer.prune(jobOf: run)
        }
    }

    /// The counts of all coordinators of the run. This one counts what earlier ones have published as skipped.
    private func whole(_ counts: RunCounts, _ reader: StoreReader) throws -> RunCounts {
        guard epoch > 1 else { return counts }
        var counts = counts
        let earlier = min(counts.skipped, max(0, try reader.publishedCount(of: run) - counts.published))
        counts.published += earlier
        counts.skipped -= earlier
        counts.work += earlier
        return counts
    }

    /// Writes what is waiting, and closes the database.
    package func close() {
        flush()
        store.close()
    }

    /// Why the run has to stop: a record could not be written.
    var stop: StopReason? { state.withLock { $0.stop } }

    /// What has become of the frames. It is stored at the end of the run.
    func note(_ map: FrameMap) { state.withLock { $0.map = map } }

    func began(_ frame: FrameID, _ record: StoredFrame) {
        change { state in
            state.open[frame] = record
            state.frames[frame] = record
        }
    }

    /// Records a frame that failed before a worker had it: during planning, or because of a file at its output's path.
    func refused(_ report: FrameReport, _ failure: FrameFailure) {
        let record = StoredFrame(
            number: report.index, page: report.page, input: report.input, recipe: "", outputs: report.outputs,
            state: .failed(cause: failure.cause.rawValue, message: failure.message))
        change { $0.frames[FrameID(report.index, page: report.page)] = record }
    }

    func started(_ lease: Lease) {
        let time = now()
        let limit = Int64(lease.timeLimit / .nanoseconds(1))
        let (kind, tile) = lease.task.kind.columns
        let attempt = StoredAttempt(
            epoch: epoch, lease: lease.id.number, number: lease.task.frame.number, page: lease.task.frame.page,
            kind: kind,
            tile: tile, attempt: lease.attempt, round: lease.round, worker: lease.worker.number, started: time,
            deadline: time + limit)
        change { state in
            state.running[lease.id] = attempt
            state.leases[lease.worker] = lease.id
            state.attempts[lease.id] = attempt
        }
    }

    func ended(_ lease: Lease, _ end: AttemptEnd) {
        let time = now()
        let result = Self.result(end, time)
        change { state in
            guard var attempt = state.running.removeValue(forKey: lease.id) else { return }
            attempt.state = result
            state.attempts[lease.id] = attempt
        }
    }

    /// A worker wrote to its standard error.
    func standardError(of worker: WorkerID, _ text: String) {
        change { state in
            if let lease = state.leases[worker] { Self.log(text, of: lease, in: &state) }
        }
    }

    /// Called before the attempt's end.
    func flagged(_ lease: Lease, _ speed: ImplausibleSpeed) {
        change { Self.log("\(speed.words)\n", of: lease.id, in: &$0) }
    }

    private static func log(_ text: String, of lease: LeaseID, in state: inout State) {
        guard var attempt = state.running[lease] ?? state.attempts[lease] else { return }
        attempt.log = ((attempt.log ?? "") + text).lastBytes(longestLog)
        if state.running[lease] != nil { state.running[lease] = attempt }
        state.attempts[lease] = attempt
    }

    func concluded(_ frame: FrameID, _ outcome: FrameOutcome, seconds: Double?) {
        let time = now()
        change { state in
            guard var record = state.open.removeValue(forKey: frame) else { return }
            record.state = Self.state(of: outcome)
            record.seconds = seconds
            state.frames[frame] = record
            guard case .published(let outputs, _) = outcome else { return }
            state.publications += outputs.map {
                StoredPublication(path: $0.path, number: frame.number, page: frame.page, at: time)
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        let begins = state.withLock { state in
            body(&state)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if begins { queue.asyncAfter(deadline: .now() + Self.pause) { self.write() } }
    }

    /// Writes everything before it returns.
    package func flush() { queue.sync { write() } }

    private func write() {
        let (frames, attempts, publications) = state.withLock { state in
            defer { (state.frames, state.attempts, state.publications, state.isWriting) = ([:], [:], [], false) }
            return (state.frames, state.attempts, state.publications)
        }
        guard !frames.isEmpty || !attempts.isEmpty || !publications.isEmpty else { return }
        share(frames.values, attempts.values, publications)
        do throws(StoreError) {
            try store.write { writer in
                for frame in frames.values { try writer.put(frame, run: run) }
                // Ended attempts come first, because a worker has one lease at a time.
                for attempt in attempts.values.sorted(by: Self.isInOrder) { try writer.put(attempt, run: run) }
                for publication in publications { try writer.put(publication, run: run) }
            }
        } catch {
            stop(StopReason(error))
        }
    }

    /// The first error counts.
    private func stop(_ reason: StopReason) { state.withLock { $0.stop = $0.stop ?? reason } }

    private func share(
        _ frames: some Sequence<StoredFrame>, _ attempts: some Sequence<StoredAttempt>,
        _ publications: [StoredPublication]
    ) {
        guard let log else { return }
        let ended = attempts.filter { $0.state != .running }.map(\.withoutReceipt)
        let concluded = frames.filter { $0.state != .open }
        do throws(FileError) {
            try log.append(
                ended.map { .attempt($0) } + concluded.map { .frame($0) } + publications.map { .publication($0) },
                epoch: epoch)
        } catch {
            stop(StopReason(error))
        }
    }

    private static func isInOrder(_ a: StoredAttempt, _ b: StoredAttempt) -> Bool {
        (a.state == .running ? 1 : 0, a.lease) < (b.state == .running ? 1 : 0, b.lease)
    }

    private static func result(_ end: AttemptEnd, _ time: Int64) -> StoredAttempt.State {
        switch end {
        case .done(let receipt):
            // Receipts contain only numbers and texts, which can always be encoded.
            let json = (try? FrameCodec.json(receipt)).map { String(decoding: $0, as: UTF8.self) }
            return .done(at: time, receipt: json ?? "{}")
        case .failed(let failure): return .failed(at: time, message: failure.message)
        case .lost(let death): return .lost(at: time, message: death.manner.words)
        case .dropped: return .dropped(at: time)
        }
    }

    private static func state(of outcome: FrameOutcome) -> FrameResult {
        switch outcome {
        case .published: .published
        case .settled, .surveyed: .skipped()
        case .failed(let failure): .failed(failure)
        case .left: .left
        }
    }
}

extension String {
    /// The end of the text, in complete characters, of at most this many bytes.
    package func lastBytes(_ count: Int) -> String {
        let end = utf8.suffix(count)
        // Continuation bytes of a UTF-8 character begin with the bits 10.
        return String(Substring(end.drop { $0 & 0b1100_0000 == 0b1000_0000 && end.count < utf8.count }))
    }
}

extension TaskKind {
    /// The columns of the database.
    var columns: (kind: String, tile: Int?) {
        switch self {
        case .compare: ("compare", nil)
        case .probe: ("probe", nil)
        case .frame: ("frame", nil)
        case .canvas: ("canvas", nil)
        case .tile(let index): ("tile", index)
        case .stitch: ("stitch", nil)
        case .audit: ("audit", nil)
        case .check: ("check", nil)
        }
    }
}

extension ImplausibleSpeed {
    /// The text of `penumbra logs`.
    var words: String {
        let (size, time) = (Double(Int(megapixels * 10)) / 10, took / .milliseconds(1))
        return
            "flagged: \(size) MP in \(Double(Int(time * 1000)) / 1000) ms, faster than memory; the frame is rendered again "
            + "by another process and compared"
    }
}

extension Death.Manner {
    /// The text of `penumbra logs`.
    package var words: String {
        switch self {
        case .signal(Death.sandboxSignal): "the worker was stopped by its sandbox"
        case .signal(let signal): "the worker crashed with signal \(signal)"
        case .exited(let code): "the worker left with exit code \(code)"
        case .killed: "the worker was killed from outside"
        case .outOfMemory: "the kernel killed the worker for want of memory"
        case .byOrder: "no result within the time limit, or the run was stopped"
        case .silent(let limit): "the worker was silent for \(limit.components.seconds) s"
        case .brokeProtocol(let what): "the worker sent what is no answer to its task: \(what)"
        case .failedToStart(let what): "the worker could not start: \(what)"
        case .elementLost(let what), .elementFailed(let what): what
        }
    }
}

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
        (started, counts) = (run.started, run.counts)
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
                // That work is done again.
                let receipt = try? FrameCodec.decode(TaskReceipt.self, from: Data(json.utf8))
            else { continue }
            frames[id]?.take(receipt, tile: attempt.tile)
        }
    }

    /// The stored request of the earlier coordinator.
    package fileprivate(set) var request: String?
    /// The counts of earlier coordinators. Nil if there were none.
    private var counts: RunCounts?

    /// What kept all workers of the run from the rest of this machine. Nil if that is unknown for some of them, because a
    /// cluster had a part of the work.
    ///
    /// - Parameter present: what holds for the workers of this coordinator. Nil if other machines may do its work.
    package func sandbox(with present: SandboxReport?) -> SandboxReport? {
        guard let counts else { return present }
        guard let present, let earlier = counts.sandbox else { return nil }
        return earlier.combined(with: present)
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
        case .opened(let found, let receipts, let source):
            probe = found
            outputs = (receipts, source)
        case .audit, .check, .preview, .compare: break
        }
    }
}
