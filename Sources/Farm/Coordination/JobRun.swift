package import JobModel
import JobStorage
package import Planning
package import Runs
package import SafeFiles
package import Scheduling
import Synchronization
import WorkerProtocol

/// One run of one job: gives its frames to the scheduler, and its outputs to the publish queue.
package final class JobRun: Sendable {
    private struct State {
        var next = 0
        var summary = RunSummary()
        /// The frames that the scheduler holds.
        var open: [FrameID: OpenFrame] = [:]
        /// How many frames have ended and still have canvases or tiles on disk.
        var tiledEnded = 0
    }

    private struct OpenFrame {
        let target: FrameTarget
        /// The outputs that are rendered, with what they may replace. Empty until that is known.
        var replacements: [Replacement?]
        /// The outputs that are kept.
        var kept: [KeptOutput]
        /// The temporary files of its attempts.
        var temporaries: [String] = []
        /// Whether it has files in the scratch folder.
        var hasTiles = false
        var began: ContinuousClock.Instant?
        /// The outputs of an earlier coordinator while their digests are checked.
        var adoptable: AdoptedWork?
    }

    private let plan: JobPlan
    private let targets: [FrameTarget]
    private let directory: RunClaim
    private let settings: RunSettings
    private let observer: any RunObserver
    private let tracker: OutputTracker
    /// Nil if the job wants no receipts.
    private let receipts: ReceiptMaker?
    /// Nil for a run that is not recorded.
    private let recorder: RunRecorder?
    private let recovered: RecoveredWork
    /// Nil for a run that is not recorded.
    private let monitor: RunMonitor?
    private let outputs: OutputGuard
    private let publishQueue: PublishQueue
    private let clock: RunClock
    /// Nanoseconds since 1970.
    private let now: @Sendable () -> Int64
    private let removeTree: @Sendable (String) -> Void
    private let state = Mutex(State())
    /// Removes files of frames on a thread of its own, because a folder of tiles has thousands of files.
    private let removals = SerialThread()

    /// - Parameters:
    ///   - targets: frames with checked outputs (``JobPlan/check(_:)``), in the order of the run.
    ///   - roots: the folders that the run has locked.
    ///   - ended: frames that failed before the run began, or that were left because the deadline came before their names
    ///     were known.
    ///   - removeTree: removes the canvas and the tiles of a frame.
    package init(
        _ plan: JobPlan, targets: [FrameTarget], ended: [FrameReport], roots: LockedFolders, directory: RunClaim,
        settings: RunSettings, tracker: OutputTracker, recorder: RunRecorder? = nil,
        recovered: RecoveredWork = RecoveredWork(),
        receipts: ReceiptMaker? = nil,
        observer: any RunObserver, clock: RunClock = .system, now: @escaping @Sendable () -> Int64,
        calls: FileCalls = .kernel,
        removeTree: @escaping @Sendable (String) -> Void = { FileSystem.removeTree($0) }
    ) {
        self.receipts = receipts
        self.recorder = recorder
        self.recovered = recovered
        self.plan = plan
        self.targets = targets
        self.directory = directory
        self.settings = settings
        self.observer = observer
        self.tracker = tracker
        self.clock = clock
        self.now = now
        self.removeTree = removeTree
        monitor = recorder.map { _ in
            let frames = targets.map(\.frame.id) + ended.map { FrameID($0.index, page: $0.page) }
            return RunMonitor(folder: directory.path, frames: frames, now: now)
        }
        outputs = OutputGuard(
            roots: roots,
            folders: Self.folders(of: targets),
            inputs: targets.compactMap { $0.files.stamp?.identity })
        publishQueue = PublishQueue(
            journal: directory.journal, outputs: outputs, ledger: tracker.ledger,
            durability: plan.job.durability, calls: calls)
        state.withLock { $0.summary.frames = targets.count + ended.count }
        for report in ended { recordUnbegun(report) }
    }

    /// The folders of the outputs that may be rendered. Neighbours are mostly in one folder.
    private static func folders(of targets: [FrameTarget]) -> Set<PathKey> {
        var (folders, last): (Set<PathKey>, PathKey?) = ([], nil)
        for target in targets where target.isWork {
            for output in target.outputs {
                let folder = PathKey(PathText.folder(of: output))
                if folder != last { folders.insert(folder) }
                last = folder
            }
        }
        return folders
    }

    /// Runs until the plan ends, or something stops it.
    package func run(_ loop: RunLoop) async -> RunSummary {
        let (total, failed) = state.withLock { ($0.summary.frames, $0.summary.failed) }
        observer.began(frames: total)
        let factory = TaskFactory(
            job: plan.job, runName: directory.name, epoch: directory.epoch, scratchFolder: directory.scratch,
            tileMemory: settings.tileMemory, frameMemory: settings.frameMemory)
        let work = targets.count(where: \.isWork)
        var policy = settings.schedulingPolicy(plan.job, frames: work, planned: work + failed, failed: failed)
        policy.plugins = tracker.plugins
        let start = clock.now
        let found = await loop.run(Scheduler(policy: policy, factory: factory), self)
        // Another coordinator resumes these frames, so their files stay.
        for (_, frame) in state.withLock({ $0.open.sorted { $0.key < $1.key } }) { record(frame.target.report(.left)) }
        while let target = takeTarget() { recordUnbegun(target.settled() ?? target.report(.left)) }
        await removals.run {}
        await tracker.finish()
        await monitor?.finish()
        if let monitor { recorder?.note(monitor.map) }
        await Blocking.run { [recorder] in recorder?.flush() }
        // Another coordinator may have taken the run over meanwhile.
        let stop = directory.isSuperseded ? .superseded : found
        // The last records of the run may be the first ones that cannot be written.
        let unwritten = recorder?.stop
        return state.withLock { state in
            // Frames that were left without a stop were left before the run began, by its deadline. A deadline that left no
            // frames does not count.
            let isDeadline = stop == nil || stop == .deadline
            state.summary.stop = !isDeadline ? stop : unwritten ?? (state.summary.left > 0 ? .deadline : nil)
            state.summary.seconds = (clock.now - start) / .seconds(1)
            return state.summary
        }
    }

    private func record(_ report: FrameReport) {
        state.withLock { $0.summary.add(report) }
        monitor?.set(FrameID(report.index, page: report.page), FrameMap.Cell(report.state.kind))
        observer.concluded(report)
    }

    /// Records a frame that no worker had.
    private func recordUnbegun(_ report: FrameReport) {
        if let failure = report.failure { recorder?.refused(report, failure) }
        record(report)
    }

    private func takeTarget() -> FrameTarget? {
        state.withLock { state in
            defer { state.next += 1 }
            return state.next < targets.count ? targets[state.next] : nil
        }
    }
}

extension JobRun: RunLoop.Delegate {
    package func nextFrames(_ count: Int) -> RunLoop.Frames {
        var orders: [FrameOrder] = []
        while orders.count < count, let target = takeTarget() {
            if let report = publishedBefore(target) {
                recordUnbegun(report)
                monitor?.set(target.frame.id, .published)
                continue
            }
            if let report = target.settled() {
                recordUnbegun(report)
                continue
            }
            do {
                try prepareFolders(of: target)
                orders.append(order(for: target))
            } catch {
                if error.concernsStorage {
                    record(target.report(.left))
                    // The orders before this frame will not begin.
                    for order in orders { concluded(order.id, .left) }
                    return .unfit(StopReason(error))
                }
                let cause: FrameFailure.Cause = error.isForbidden ? .permission : .output
                recordUnbegun(target.report(.failed(FrameFailure(cause, error.line))))
            }
        }
        return orders.isEmpty ? .none : .some(orders)
    }

    /// Nil unless earlier coordinators of the run have published the frame.
    private func publishedBefore(_ target: FrameTarget) -> FrameReport? {
        switch target.verdict {
        case .render, .refused: break
        case .current, .compare, .kept, .stillBroken, .tooRecent: return nil
        }
        guard recovered.hasPublished(target.frame.id, target.files), tracker.isCurrent(target.files) else { return nil }
        return target.report(.skipped(reason: "published before the run was interrupted"))
    }

    private func prepareFolders(of target: FrameTarget) throws(FileError) {
        for output in target.outputs {
            try outputs.begin(PathText.folder(of: output), in: directory)
        }
    }

    private func order(for target: FrameTarget) -> FrameOrder {
        let frame = target.frame
        var open = OpenFrame(
            target: target, replacements: target.outputs.map { _ in nil }, kept: target.verdict.kept)
        var compared: [DigestTask.File] = []
        var adopted: AdoptedWork?
        switch target.verdict {
        case .compare(let files): compared = files
        case .render(let wanted, _, _):
            open.replacements = wanted
            let work = recovered.work(
                of: frame.id, target.files, recipe: tracker.recipeText(of: target.files),
                outputs: wanted.map { $0?.path }
            )
            if case .outputs(_, let receipts, _) = work {
                // The outputs are used only if their digests match the receipts.
                compared = receipts.map { DigestTask.File(path: $0.path) }
                open.adoptable = work
                open.temporaries = receipts.map(\.path)
            } else {
                adopted = work
            }
        case .current, .kept, .stillBroken, .refused, .tooRecent: break
        }
        recorder?.began(frame.id, record(of: target, open.replacements))
        let replacements = open.replacements
        state.withLock { [open] in $0.open[frame.id] = open }
        return FrameOrder(
            id: frame.id, input: target.files.input, inputBytes: target.files.inputBytes, compared: compared,
            variant: target.variant, pages: frame.pages, formats: frame.formats,
            goal: .publish(outputs: replacements.map { $0?.path }, probe: target.probe), adopted: adopted,
            hasSmallFile: target.files.stamp.map { $0.size <= Self.smallFile } ?? false)
    }

    /// The most bytes of a file that probably has few pixels.
    private static let smallFile = 256 << 10

    private func record(of target: FrameTarget, _ replacements: [Replacement?]) -> StoredFrame {
        StoredFrame(
            number: target.frame.id.number, page: target.frame.id.page, input: target.files.input,
            recipe: tracker.recipeText(of: target.files), outputs: replacements.map { $0?.path ?? "" })
    }

    package func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision {
        guard let open = state.withLock({ $0.open[frame] }) else { return .settle }
        if let work = open.adoptable { return decide(on: work, facts, outputs: open.replacements.map { $0?.path }) }
        let target = open.target
        guard case .compare(let files) = target.verdict else { return .settle }
        let findings = Dictionary(zip(files, facts)) { $1 }
        let verdict = tracker.verdict(of: target.files, findings: findings)
        switch verdict {
        case .render(let wanted, _, let kept):
            state.withLock { state in
                state.open[frame]?.replacements = wanted
                state.open[frame]?.kept = kept
            }
            recorder?.began(frame, record(of: target, wanted))
            return .render(outputs: wanted.map { $0?.path })
        case .current, .kept, .stillBroken, .refused, .tooRecent, .compare:
            let report = target.decided(verdict).settled() ?? target.report(.skipped(reason: "not told apart"))
            record(report)
            state.withLock { $0.open[frame] = nil }
            recorder?.concluded(frame, report.failure.map(FrameOutcome.failed) ?? .settled, seconds: nil)
            return .settle
        }
    }

    /// If files do not match their receipts, the frame is rendered again, under other names.
    private func decide(on work: AdoptedWork, _ facts: [FileFacts?], outputs: [String?]) -> FrameDecision {
        guard case .outputs(_, let receipts, _) = work, facts.map({ $0?.digest }) == receipts.map(\.digest) else {
            return .render(outputs: outputs)
        }
        return .adopt(work, outputs: outputs)
    }

    package func willStart(_ lease: Lease) throws(FileError) {
        let now = clock.now
        state.withLock { state in
            if state.open[lease.task.frame]?.began == nil { state.open[lease.task.frame]?.began = now }
            if lease.spec.usesTiles { state.open[lease.task.frame]?.hasTiles = true }
        }
        monitor?.set(lease.task.frame, .running)
        switch lease.spec {
        case .frame(let task):
            for temporary in task.outputs.compactMap(\.temporaryPath) { try expect(temporary, of: lease.task.frame) }
        case .stitch(let task): try expect(task.temporaryPath, of: lease.task.frame)
        case .canvas: try directory.makeFrameFolder(named: lease.task.frame.name)
        case .tile: try directory.refuseLinkedFolder(named: lease.task.frame.name)
        case .probe, .audit, .check, .preview, .compare: break
        }
        recorder?.started(lease)
    }

    package func ended(_ lease: Lease, _ end: AttemptEnd) { recorder?.ended(lease, end) }

    package func flagged(_ lease: Lease, _ speed: ImplausibleSpeed) {
        state.withLock { $0.summary.flagged += 1 }
        recorder?.flagged(lease, speed)
    }

    package func retired(_ retirement: Retirement) { state.withLock { $0.summary.retired.append(retirement) } }

    package func standardError(of worker: WorkerID, _ text: String) { recorder?.standardError(of: worker, text) }

    package var request: RunLoop.Request? {
        if let reason = recorder?.stop { return .stop(reason) }
        if directory.isSuperseded { return .stop(.superseded) }
        directory.note(left: { state.withLock { $0.summary.frames - $0.summary.counts.concluded } }, at: clock.now)
        let folder = directory.folder
        if folder.isAsked(.cancel) { return .stop(.cancelled) }
        return .proceed(isPaused: folder.isAsked(.pause) || observer.isBehind, workers: folder.workerLimit(at: now()))
    }

    private func expect(_ temporary: String, of frame: FrameID) throws(FileError) {
        try directory.expectTemporary(temporary)
        state.withLock { $0.open[frame]?.temporaries.append(temporary) }
    }

    package func publish(_ frame: FrameID, _ outputs: [Publication]) async -> PublishFailure? {
        if directory.isSuperseded { return .stop(.superseded) }
        guard let open = state.withLock({ $0.open[frame] }) else { return .refused("nobody asked for this output") }
        if open.target.probe != nil, let source = outputs.first?.source.stamp,
            !source.isSameState(as: open.target.files.stamp)
        {
            for output in outputs { FileSystem.removeTree(output.receipt.path) }
            return .refused(
                "\(open.target.files.input): changed after its outputs got their names; the next run renders it")
        }
        let items: [PublishQueue.Item]
        do throws(StoreError) {
            items = try await tracker.thread.run { () throws(StoreError) in try self.items(outputs, of: open) }
        } catch {
            return .stop(StopReason(error))
        }
        return await publishQueue.publish(items)
    }

    /// The first output of a recipe writes the recipe to the database.
    private func items(_ outputs: [Publication], of open: OpenFrame) throws(StoreError) -> [PublishQueue.Item] {
        try outputs.map { (output) throws(StoreError) in
            let (files, rule) = (open.target.files, open.replacements[output.part]?.rule ?? .nothing)
            let record = try tracker.record(of: output, files)
            let receipt = record.flatMap { receipts?.receipt(of: output, $0, tracker.recipe(of: output, files)) }
            return PublishQueue.Item(publication: output, rule: rule, record: record, receipt: receipt)
        }
    }

    /// A slow disk may not collect the tiles of many frames. The tiles of ended frames may wait for their removal while at least
    /// as many frames with tiles are open: one on one machine, and many on a cluster.
    package var isBehindWithTiles: Bool {
        state.withLock { state in state.tiledEnded > max(1, state.open.values.count(where: \.hasTiles)) }
    }

    package func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {
        let found = state.withLock { state in
            let found = state.open.removeValue(forKey: frame)
            if found?.hasTiles == true { state.tiledEnded += 1 }
            return found
        }
        let (directory, temporaries) = (directory, found?.temporaries ?? [])
        removals.begin {
            defer { if found?.hasTiles == true { self.state.withLock { $0.tiledEnded -= 1 } } }
            // Another coordinator resumes the frames.
            if !directory.isSuperseded { self.removeTree("\(directory.scratch)/\(frame.name)") }
            // Published files were renamed. The other files belong to failed attempts.
            for file in temporaries { directory.removeTemporary(file) }
        }
        guard let open = found else { return }
        let (target, kept) = (open.target, open.kept)
        let seconds = open.began.map { (clock.now - $0) / .seconds(1) }
        recorder?.concluded(frame, outcome, seconds: seconds)
        switch outcome {
        case .published(let outputs, let probe):
            record(target.report(.published, publications: outputs, probe: probe, seconds: seconds, kept: kept))
        case .failed(let failure):
            tracker.remember(failure, of: target.files)
            record(target.report(.failed(failure), seconds: seconds, kept: kept))
        case .left, .surveyed, .settled: record(target.report(.left, kept: kept))
        }
    }

    package func workerLost() { state.withLock { $0.summary.workersLost += 1 } }

    package func wantsTiles(at time: Timestamp) -> Bool { monitor?.wantsLive(at: time.elapsed) ?? false }

    package func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {
        let summary = state.withLock { $0.summary }
        let progress = RunProgress(summary, elapsed: time.elapsed, scheduler: progress)
        monitor?.note(progress)
        observer.progressed(progress)
    }
}

extension TaskSpec {
    /// Whether the task reads or writes the canvas or the tiles of its frame.
    fileprivate var usesTiles: Bool {
        switch self {
        case .canvas, .tile, .stitch: true
        case .probe, .frame, .audit, .check, .preview, .compare: false
        }
    }
}
