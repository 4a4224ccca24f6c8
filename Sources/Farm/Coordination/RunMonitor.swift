import Engines
import JobModel
package import Runs
import SafeFiles
package import Scheduling
import Synchronization
import WorkerProtocol

/// Writes how a run goes into its folder, for programs that show it: the files `map` (``FrameMap``) and `live` (``LiveRun``).
///
/// States are noted in memory, and a thread of its own writes what has changed. Nothing depends on the files, so what cannot be
/// written is left out.
package final class RunMonitor: Sendable {
    private struct State {
        var map: FrameMap
        /// Nil until the map is written, and if it cannot be written.
        var file: PatchableFile?
        var hasFile = false
        /// The letters that have to be written again; nil for none.
        var changed: Range<Int>?
        var live: LiveRun?
        var lastLive: Duration?
    }

    /// The time between two writes of `live`.
    private static let pause = Duration.seconds(1)

    private let folder: String
    private let state: Mutex<State>
    /// The length of the map's first line, in bytes.
    private let header: Int
    private let thread = SerialThread()
    private let isWriting = Mutex(false)
    private let now: @Sendable () -> Int64

    /// For a run that has not begun. Writes nothing yet.
    ///
    /// - Parameters:
    ///   - folder: the run's folder.
    ///   - now: nanoseconds since 1970.
    package init(folder: String, frames: [FrameID], now: @escaping @Sendable () -> Int64) {
        let map = FrameMap(frames)
        self.folder = folder
        self.now = now
        header = map.header.count
        state = Mutex(State(map: map))
    }

    /// The states of all frames now.
    package var map: FrameMap { state.withLock(\.map) }

    package func set(_ frame: FrameID, _ cell: FrameMap.Cell) {
        state.withLock { state in
            guard let offset = state.map.set(frame, cell) else { return }
            let range = state.changed ?? offset..<offset + 1
            state.changed = min(range.lowerBound, offset)..<max(range.upperBound, offset + 1)
        }
    }

    /// Whether the progress at this time is written, so that it should have tiles.
    package func wantsLive(at elapsed: Duration) -> Bool {
        state.withLock { $0.lastLive.map { elapsed - $0 >= Self.pause } ?? true }
    }

    /// Called at every tick of the run.
    package func note(_ progress: RunProgress) {
        if wantsLive(at: progress.elapsed), !isEarly(progress) {
            let live = LiveRun(progress, now: now())
            state.withLock { ($0.live, $0.lastLive) = (live, progress.elapsed) }
        }
        if state.withLock({ !$0.hasFile || $0.changed != nil || $0.live != nil }) { begin() }
    }

    /// Whether the run has just begun, and its first frames are still on their way. A report would say that it wants no worker. The service
    /// would hold it to none until the next report, a second later.
    private func isEarly(_ progress: RunProgress) -> Bool {
        let scheduler = progress.scheduler
        return state.withLock { $0.lastLive == nil } && progress.elapsed < Self.pause && !scheduler.isPaused
            && progress.done == 0 && scheduler.leased + scheduler.ready == 0
    }

    /// Writes what is left.
    package func finish() async {
        begin()
        await thread.run { self.write() }
    }

    /// A slow disk gets no second write before the first has ended.
    private func begin() {
        let begins = isWriting.withLock { isWriting in
            defer { isWriting = true }
            return !isWriting
        }
        guard begins else { return }
        thread.begin {
            self.write()
            self.isWriting.withLock { $0 = false }
        }
    }

    /// Faults are ignored, because the files are only shown. The run does not need them.
    private func write() {
        let (news, live) = state.withLock { state in
            defer { (state.changed, state.live) = (nil, nil) }
            return (state.hasFile ? .letters(of: state) : News.map(state.map.file), state.live)
        }
        // These files only show the run to others. The run itself does not need them, and its database has the frames.
        switch news {
        case .nothing: break
        case .map(let bytes): create(bytes)
        case .letters(let letters, let offset, let file): try? file.write(letters, at: header + offset)
        }
        if let live { try? AtomicFile.writeUnsynced(live.file, to: "\(folder)/live", by: "\(folder)/.live") }
    }

    private func create(_ bytes: [UInt8]) {
        // A map that cannot be written is not shown.
        let path = "\(folder)/map"
        try? AtomicFile.writeUnsynced(bytes, to: path, by: "\(folder)/.map")
        let file = try? PatchableFile(path)
        state.withLock { ($0.file, $0.hasFile) = (file, true) }
    }

    /// What is to be written of the map.
    private enum News {
        case nothing
        case map([UInt8])
        case letters([UInt8], at: Int, PatchableFile)

        static func letters(of state: State) -> News {
            guard let changed = state.changed, let file = state.file else { return .nothing }
            return .letters(Array(state.map.letters(changed)), at: changed.lowerBound, file)
        }
    }
}

extension LiveRun {
    /// - Parameter now: nanoseconds since 1970.
    package init(_ progress: RunProgress, now: Int64) {
        let (scheduler, elapsed) = (progress.scheduler, progress.elapsed)
        self.init(
            time: now, seconds: elapsed / .seconds(1), frames: progress.total, done: progress.done,
            failed: progress.failed, megapixels: progress.megapixels, isPaused: scheduler.isPaused,
            workerLimit: scheduler.workerLimit, wanted: scheduler.leased + scheduler.ready, leased: scheduler.leased,
            running: scheduler.running.map { lease in
                let (kind, tile) = lease.task.kind.columns
                return Task(
                    frame: lease.task.frame.number, page: lease.task.frame.page, kind: kind, tile: tile,
                    attempt: lease.attempt, worker: lease.worker.number, slot: lease.worker.slot.number,
                    since: now - Int64((elapsed - lease.start.elapsed) / .nanoseconds(1)),
                    file: lease.spec.readsPicture
                        ? scheduler.pictures[lease.task.frame].map { PathNames.last(of: $0) } : nil)
            },
            tilesDone: scheduler.tilesDone, tilesPlanned: scheduler.tilesPlanned,
            tiled: scheduler.tiled.map { frame in
                TiledFrame(
                    frame: frame.id.number, page: frame.id.page, tiles: frame.tiles, columns: frame.columns,
                    finished: frame.finished)
            })
    }
}

extension TaskSpec {
    /// False for tasks that work on tiles or outputs.
    fileprivate var readsPicture: Bool {
        switch self {
        case .probe, .frame, .canvas, .compare: true
        case .tile, .stitch, .audit, .preview, .check: false
        }
    }
}
