package import JobModel
import JobStorage
package import Planning
package import Scheduling
import Synchronization
import WorkerProtocol

/// One run of one job: its plan goes to the scheduler frame by frame, its outputs to their final paths.
package final class JobRun: Sendable {
    private struct State {
        var next = 0
        var summary = RunSummary()
        /// The frames that the scheduler holds.
        var open: [FrameID: OpenFrame] = [:]
    }

    private struct OpenFrame {
        let target: Target
        /// What of it is made, and in place of what; empty until that is known.
        var replacements: [Replacement?]
        /// Temporary files that its attempts were told to write.
        var temporaries: [String] = []
        var began: ContinuousClock.Instant?
    }

    private let plan: JobPlan
    private let targets: [Target]
    private let directory: RunDirectory
    private let settings: RunSettings
    private let observer: any RunObserver
    private let books: RunBooks
    private let desk: PublicationDesk
    private let clock: ContinuousClock
    private let state = Mutex(State())

    /// - Parameters:
    ///   - targets: outputs that ``JobPlan/check(_:)`` accepted, in the plan's order.
    ///   - ended: frames that failed before the run began, or were left because a deadline came before their names.
    package init(
        _ plan: JobPlan, targets: [Target], ended: [FrameReport], directory: RunDirectory, settings: RunSettings,
        books: RunBooks, observer: any RunObserver, clock: ContinuousClock = ContinuousClock()
    ) {
        self.plan = plan
        self.targets = targets
        self.directory = directory
        self.settings = settings
        self.observer = observer
        self.books = books
        self.clock = clock
        desk = PublicationDesk(
            publisher: Publisher(journal: directory.journal), ledger: books.ledger, durability: plan.job.durability)
        state.withLock { $0.summary.total = targets.count + ended.count }
        for report in ended { record(report) }
    }

    /// Runs to the end of the plan, or until something stops it.
    package func run(_ loop: RunLoop) async -> RunSummary {
        let (total, failed) = state.withLock { ($0.summary.total, $0.summary.failures.count) }
        observer.began(frames: total)
        let factory = TaskFactory(
            job: plan.job, runName: directory.name, scratchFolder: directory.scratch, tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory)
        let work = targets.count(where: \.isWork)
        let policy = settings.schedulingPolicy(plan.job, frames: work, planned: work + failed, failed: failed)
        let start = clock.now
        let stop = await loop.run(Scheduler(policy: policy, factory: factory), self)
        books.writeRefreshed()
        while let target = takeTarget() { record(target.settled() ?? target.report(.left)) }
        return state.withLock { state in
            // A deadline that left nothing undone is none; one that ended before the run began is one.
            let end = stop ?? .deadline
            state.summary.stop = end == .deadline && state.summary.left == 0 ? nil : end
            state.summary.elapsed = clock.now - start
            return state.summary
        }
    }

    private func record(_ report: FrameReport) {
        state.withLock { $0.summary.add(report) }
        observer.concluded(report)
    }

    private func takeTarget() -> Target? {
        state.withLock { state in
            guard state.next < targets.count else { return nil }
            state.next += 1
            return targets[state.next - 1]
        }
    }
}

extension JobRun: RunLoop.Delegate {
    package func nextFrames(_ count: Int) -> RunLoop.Frames {
        var orders: [FrameOrder] = []
        while orders.count < count, let target = takeTarget() {
            if let report = target.settled() {
                record(report)
                continue
            }
            do {
                try prepareFolders(of: target)
                orders.append(order(for: target))
            } catch {
                if error.isPlace {
                    record(target.report(.left))
                    // Nobody will begin those that were taken together with it.
                    for order in orders { concluded(order.id, .left) }
                    return .unfit(.place(error.message))
                }
                record(target.report(.failed(FrameFailure(.output, error.message))))
            }
        }
        return orders.isEmpty ? .none : .some(orders)
    }

    private func prepareFolders(of target: Target) throws(FileTrouble) {
        for output in target.outputs { try directory.makeFolder(PathText.folder(of: output)) }
    }

    private func order(for target: Target) -> FrameOrder {
        let frame = target.frame
        var compared: [CompareTask.File] = []
        var replacements: [Replacement?] = target.outputs.map { _ in nil }
        switch target.verdict {
        case .compare(let files): compared = files
        case .render(let wanted, _): replacements = wanted
        case .current, .kept, .stillBroken, .refused, .young: break
        }
        state.withLock { $0.open[frame.id] = OpenFrame(target: target, replacements: replacements) }
        return FrameOrder(
            id: frame.id, input: target.files.input, inputBytes: target.files.inputBytes, compared: compared,
            variant: target.variant, pages: frame.pages, formats: frame.formats,
            goal: .publish(outputs: replacements.map { $0?.path }, probe: target.probe))
    }

    package func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision {
        guard let target = state.withLock({ $0.open[frame]?.target }), case .compare(let files) = target.verdict else {
            return .settle
        }
        let findings = Dictionary(zip(files, facts)) { $1 }
        let verdict = books.verdict(of: target.files, findings: findings)
        switch verdict {
        case .render(let wanted, _):
            state.withLock { $0.open[frame]?.replacements = wanted }
            return .render(outputs: wanted.map { $0?.path })
        case .current, .kept, .stillBroken, .refused, .young, .compare:
            let decided = target.decided(verdict)
            record(decided.settled() ?? target.report(.skipped(reason: "not told apart")))
            state.withLock { $0.open[frame] = nil }
            return .settle
        }
    }

    package func willStart(_ lease: Lease) throws(FileTrouble) {
        let now = clock.now
        state.withLock { state in
            if state.open[lease.task.frame]?.began == nil { state.open[lease.task.frame]?.began = now }
        }
        switch lease.spec {
        case .frame(let task):
            for temporary in task.outputs.compactMap(\.temporaryPath) { try expect(temporary, of: lease.task.frame) }
        case .stitch(let task): try expect(task.temporaryPath, of: lease.task.frame)
        case .canvas: _ = try FileSystem.createFolders("\(directory.scratch)/\(lease.task.frame.name)")
        case .probe, .tile, .audit, .check, .preview, .compare: break
        }
    }

    private func expect(_ temporary: String, of frame: FrameID) throws(FileTrouble) {
        try directory.journal.write(.temporary(temporary))
        state.withLock { $0.open[frame]?.temporaries.append(temporary) }
    }

    package func publish(_ frame: FrameID, _ outputs: [Publication]) async -> PublishProblem? {
        guard let open = state.withLock({ $0.open[frame] }) else { return .refused("nobody asked for this output") }
        let items: [PublicationDesk.Item]
        do throws(StoreProblem) {
            items = try outputs.map { (output) throws(StoreProblem) in
                PublicationDesk.Item(
                    publication: output, rule: open.replacements[output.part]?.rule ?? .nothing,
                    record: try books.record(of: output, open.target.files))
            }
        } catch {
            return .place(error.message)
        }
        return await desk.publish(items)
    }

    package func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {
        FileSystem.removeTree("\(directory.scratch)/\(frame.name)")
        guard let open = state.withLock({ $0.open.removeValue(forKey: frame) }) else { return }
        // The published one was renamed away; what is left belongs to attempts that came to nothing.
        for file in open.temporaries { FileSystem.removeTree(file) }
        let seconds = open.began.map { (clock.now - $0) / .seconds(1) }
        switch outcome {
        case .published(let outputs, let probe):
            record(open.target.report(.published(outputs, probe: probe), seconds: seconds))
        case .failed(let failure):
            books.remember(failure, of: open.target.files)
            record(open.target.report(.failed(failure), seconds: seconds))
        case .left, .surveyed, .settled: record(open.target.report(.left))
        }
    }

    package func workerLost() { state.withLock { $0.summary.workersLost += 1 } }

    package func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {
        let summary = state.withLock { $0.summary }
        observer.progressed(RunProgress(summary, elapsed: time.elapsed, scheduler: progress))
    }
}
