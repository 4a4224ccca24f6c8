package import Catalogs
package import JobModel
import JobStorage
package import SafeFiles
package import Scheduling
import Synchronization
import WorkerProtocol

/// Renders outputs once more, compares what comes out with what was recorded, and keeps nothing of it.
package final class Rerendering: Sendable {
    /// In their order; those that a stop came before are missing.
    package struct Results: Sendable {
        package internal(set) var outputs: [RerenderedOutput] = []
        package internal(set) var stop: StopReason?
    }

    private struct State {
        var next = 0
        var results: [FrameID: RerenderedOutput] = [:]
    }

    private let outputs: [RecordedOutput]
    /// What is rendered, by places in ``outputs``.
    private let orders: [(place: Int, order: RerenderOrder)]
    private let ordersByFrame: [FrameID: RerenderOrder]
    private let scratch: String
    /// How many outputs were done before these, and how many there are in all.
    private let (done, total): (Int, Int)
    private let observer: any RunObserver
    private let state = Mutex(State())

    private init(
        _ outputs: [RecordedOutput], _ orders: [(place: Int, order: RerenderOrder)], done: Int, scratch: String,
        observer: any RunObserver
    ) {
        (self.outputs, self.orders, self.scratch, self.observer) = (outputs, orders, scratch, observer)
        (self.done, total) = (done, outputs.count)
        ordersByFrame = Dictionary(orders.map { (FrameID($0.place), $0.order) }) { $1 }
    }

    /// - Parameters:
    ///   - scratch: a folder that is there, and is left empty.
    ///   - loop: a new one each time.
    package static func run(
        _ outputs: [RecordedOutput], catalog: Catalog, scratch: String, settings: RunSettings,
        observer: any RunObserver, loop: () -> RunLoop
    ) async -> Results {
        var (found, orders): ([Int: RerenderedOutput], [(place: Int, order: RerenderOrder)]) = ([:], [])
        for (place, output) in outputs.enumerated() {
            do {
                orders.append((place, try RerenderOrder(output, catalog: catalog)))
            } catch {
                found[place] = RerenderedOutput(output, .skipped(reason: error.reason))
            }
        }
        var results = Results()
        let groups = Dictionary(grouping: orders, by: \.order.group).values.sorted { $0[0].place < $1[0].place }
        for group in groups where results.stop == nil {
            let rerendering = Rerendering(outputs, group, done: found.count, scratch: scratch, observer: observer)
            results.stop = await rerendering.run(group[0].order.group, settings, loop())
            found.merge(rerendering.state.withLock { $0.results }.map { ($0.number, $1) }) { $1 }
        }
        results.outputs = outputs.indices.compactMap { found[$0] }
        return results
    }

    private func run(_ group: RerenderOrder.Group, _ settings: RunSettings, _ loop: RunLoop) async -> StopReason? {
        var job = JobSpec.inquiring
        job.color = group.color
        // Nothing that is written outlives this command.
        job.durability = .batch
        let factory = TaskFactory(
            job: job, runName: "verify", scratchFolder: scratch, tileMemory: settings.tileMemory,
            frameMemory: settings.frameMemory, shrink: group.shrink)
        let policy = settings.schedulingPolicy(job, frames: orders.count)
        return await loop.run(Scheduler(policy: policy, factory: factory), self)
    }

    private func folder(of frame: FrameID) -> String { "\(scratch)/\(frame.name)" }

    private func end(_ frame: FrameID, _ condition: RerenderedCondition) {
        state.withLock { $0.results[frame] = RerenderedOutput(outputs[frame.number], condition) }
    }
}

extension Rerendering: RunLoop.Delegate {
    package func nextFrames(_ count: Int) -> RunLoop.Frames {
        let range = state.withLock { state in
            let range = state.next..<min(state.next + count, orders.count)
            state.next = range.upperBound
            return range
        }
        guard !range.isEmpty else { return .none }
        return .some(
            orders[range].map { place, order in
                let id = FrameID(place)
                // What is in a folder is named after it.
                let name = PathNames.last(of: outputs[place].record.path)
                return order.order(id, to: "\(folder(of: id))/\(name)")
            })
    }

    /// Only what was made of the same bytes can be the same.
    package func decide(_ frame: FrameID, _ facts: [FileFacts?]) -> FrameDecision {
        let record = outputs[frame.number].record
        guard let found = facts.first ?? nil else {
            end(frame, .skipped(reason: "the input is gone"))
            return .settle
        }
        guard found.digest == record.source.digest else {
            end(frame, .skipped(reason: "the input changed since"))
            return .settle
        }
        for (picture, found) in zip(ordersByFrame[frame]?.pictures ?? [], facts.dropFirst())
        where found?.digest.description != picture.digest {
            let words = found == nil ? "is gone" : "changed since"
            end(frame, .skipped(reason: "the picture \(picture.path), which a filter reads, \(words)"))
            return .settle
        }
        return .render(outputs: ["\(folder(of: frame))/\(PathNames.last(of: record.path))"])
    }

    package func willStart(_ lease: Lease) throws(FileTrouble) {
        _ = try FileSystem.createFolders(folder(of: lease.task.frame))
    }

    package func publish(_ frame: FrameID, _ publications: [Publication]) -> PublishProblem? {
        guard let publication = publications.first else { return .refused("nobody asked for this output") }
        let (output, receipt) = (outputs[frame.number], publication.receipt)
        FileSystem.removeTree(receipt.path)
        guard publication.source.digest == output.record.source.digest else {
            end(frame, .skipped(reason: "the input changed since"))
            return nil
        }
        let condition = RerenderedCondition(
            of: output.record, digest: receipt.digest, pixels: receipt.pixels, versions: ordersByFrame[frame]?.versions)
        state.withLock {
            $0.results[frame] = RerenderedOutput(output, condition, receipt.digest, receipt.pixels)
        }
        return nil
    }

    package func concluded(_ frame: FrameID, _ outcome: FrameOutcome) {
        FileSystem.removeTree(folder(of: frame))
        if case .failed(let failure) = outcome { end(frame, .failed(failure.message)) }
    }

    package func workerLost() {}

    package func progressed(_ progress: Scheduler.Progress, at time: Timestamp) {
        var summary = RunSummary()
        summary.frames = total
        summary.skipped = done + state.withLock { $0.results.count }
        observer.progressed(RunProgress(summary, elapsed: time.elapsed, scheduler: progress))
    }
}
