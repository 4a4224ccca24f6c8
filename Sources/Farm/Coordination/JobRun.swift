import JobModel
package import Planning
package import Scheduling
import Synchronization
package import WorkerProtocol

/// One run of one job: its plan goes to the scheduler frame by frame, its outputs to their final paths.
package final class JobRun: Sendable {
    private struct State {
        var next = 0
        var summary = RunSummary()
        /// Outputs of the frames that the scheduler holds, by frame number.
        var open: [FrameID: Target] = [:]
        /// Temporary files that a frame's attempts were told to write.
        var temporaries: [FrameID: [String]] = [:]
        var createdFolders: [String] = []
    }

    /// A frame and where its outputs go.
    package struct Target: Hashable, Sendable {
        package let frame: PlannedFrame
        /// One for each of the job's outputs.
        package let outputs: [String]
        /// What a survey found out; nil when none was needed.
        package let probe: ProbeReceipt?

        package init(frame: PlannedFrame, outputs: [String], probe: ProbeReceipt?) {
            self.frame = frame
            self.outputs = outputs
            self.probe = probe
        }
    }

    private let plan: JobPlan
    private let targets: [Target]
    private let directory: RunDirectory
    private let settings: RunSettings
    private let observer: any RunObserver
    private let publisher: Publisher
    private let state = Mutex(State())

    /// - Parameters:
    ///   - targets: outputs that ``JobPlan/check(_:)`` accepted, in the plan's order.
    ///   - failed: frames that failed before the run began.
    package init(
        _ plan: JobPlan, targets: [Target], failed: [FrameReport], directory: RunDirectory, settings: RunSettings,
        observer: any RunObserver
    ) {
        self.plan = plan
        self.targets = targets
        self.directory = directory
        self.settings = settings
        self.observer = observer
        publisher = Publisher(journal: directory.journal, existing: plan.job.existing)
        state.withLock { $0.summary.total = targets.count + failed.count }
        for report in failed { record(report) }
    }

    /// Runs to the end of the plan, or until something stops it.
    package func run(_ loop: RunLoop) async -> RunSummary {
        observer.began(frames: state.withLock { $0.summary.total })
        let factory = TaskFactory(
            job: plan.job, runName: directory.name, scratchFolder: directory.scratch, tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory)
        let policy = settings.schedulingPolicy(plan.job, frames: targets.count)
        let start = loop.clock.now
        let stop = await loop.run(Scheduler(policy: policy, factory: factory), self)
        while let target = takeTarget() { record(report(target, .left)) }
        return state.withLock { state in
            for folder in state.createdFolders.reversed() { FileSystem.removeIfEmpty(folder) }
            state.summary.stop = stop
            state.summary.elapsed = loop.clock.now - start
            return state.summary
        }
    }

    private func record(_ report: FrameReport) {
        state.withLock { $0.summary.add(report) }
        observer.concluded(report)
    }
}

extension JobRun: RunLoop.Delegate {
    package func nextFrames(_ count: Int) -> RunLoop.Frames {
        var orders: [FrameOrder] = []
        while orders.count < count, let target = takeTarget() {
            if let report = settled(target) {
                record(report)
                continue
            }
            do {
                try prepareFolders(of: target)
                orders.append(order(for: target))
            } catch {
                if error.isPlace {
                    record(report(target, .left))
                    // Nobody will begin those that were taken together with it.
                    for order in orders { concluded(order.id, .left) }
                    return .unfit(.place(error.message))
                }
                record(report(target, .failed(FrameFailure(.output, error.message))))
            }
        }
        return orders.isEmpty ? .none : .some(orders)
    }

    private func takeTarget() -> Target? {
        state.withLock { state in
            guard state.next < targets.count else { return nil }
            state.next += 1
            return targets[state.next - 1]
        }
    }

    /// What needs no rendering, by `existing`.
    private func settled(_ target: Target) -> FrameReport? {
        switch plan.job.existing {
        case .overwrite:
            return nil
        case .skip:
            let isThere = target.outputs.allSatisfy(FileSystem.isOutput)
            let what = target.outputs.count == 1 ? "the output is there" : "all outputs are there"
            return isThere ? report(target, .skipped(reason: what)) : nil
        case .error:
            return target.outputs.first(where: FileSystem.exists).map { output in
                report(
                    target,
                    .failed(FrameFailure(.output, "\(output): is there already; 'existing: overwrite' replaces it")))
            }
        }
    }

    private func report(_ target: Target, _ outcome: FrameReport.State) -> FrameReport {
        FrameReport(index: target.frame.index, input: target.frame.input.path, outputs: target.outputs, state: outcome)
    }

    private func prepareFolders(of target: Target) throws(FileTrouble) {
        for output in target.outputs { try prepareFolder(of: output) }
    }

    private func prepareFolder(of output: String) throws(FileTrouble) {
        let folder = PathText.folder(of: output)
        guard !FileSystem.isFolder(folder) else { return }
        for missing in FileSystem.missingFolders(folder) { try directory.journal.write(.folder(missing)) }
        let created = try FileSystem.createFolders(folder)
        state.withLock { $0.createdFolders += created }
        // An output lasts no longer than the names of its folders.
        for path in created { try FileSystem.syncFolder(PathText.folder(of: path)) }
    }

    private func order(for target: Target) -> FrameOrder {
        let frame = target.frame
        state.withLock { $0.open[frame.id] = target }
        let keepsOthers = plan.job.existing == .skip
        return FrameOrder(
            id: frame.id, input: frame.input.path, pages: frame.pages, formats: frame.formats,
            goal: .publish(
                outputs: target.outputs.map { keepsOthers && FileSystem.isOutput($0) ? nil : $0 }, probe: target.probe))
    }

    package func willStart(_ lease: Lease) throws(FileTrouble) {
        switch lease.spec {
        case .frame(let task):
            for temporary in task.outputs.compactMap(\.temporaryPath) { try expect(temporary, of: lease.task.frame) }
        case .stitch(let task): try expect(task.temporaryPath, of: lease.task.frame)
        case .canvas: _ = try FileSystem.createFolders("\(directory.scratch)/\(lease.task.frame.name)")
        case .probe, .tile, .audit, .check, .preview: break
        }
    }

    private func expect(_ temporary: String, of frame: FrameID) throws(FileTrouble) {
        try directory.journal.write(.temporary(temporary))
        state.withLock { $0.temporaries[frame, default: []].append(temporary) }
    }

    package func publish(_ frame: FrameID, _ outputs: [Publication]) -> PublishProblem? {
        publisher.publish(outputs)
    }

    package func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {
        FileSystem.removeTree("\(directory.scratch)/\(frame.name)")
        let (target, temporaries) = state.withLock { state in
            (state.open.removeValue(forKey: frame), state.temporaries.removeValue(forKey: frame) ?? [])
        }
        // The published one was renamed away; what is left belongs to attempts that came to nothing.
        for file in temporaries { FileSystem.removeTree(file) }
        guard let target else { return }
        switch outcome {
        case .published(let outputs, let probe): record(report(target, .published(outputs, probe: probe)))
        case .failed(let failure): record(report(target, .failed(failure)))
        case .left, .surveyed: record(report(target, .left))
        }
    }

    package func workerLost() { state.withLock { $0.summary.workersLost += 1 } }

    package func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {
        let summary = state.withLock { $0.summary }
        observer.progressed(
            RunProgress(
                done: summary.published + summary.skipped + summary.failures.count + summary.left,
                failed: summary.failures.count, total: summary.total, elapsed: time.elapsed, scheduler: progress))
    }
}
