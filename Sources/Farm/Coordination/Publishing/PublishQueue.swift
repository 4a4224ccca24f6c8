import Dispatch
import JobModel
import JobStorage
import SafeFiles
import Scheduling
import Synchronization

/// Publishes the outputs of frames, those together that wait together: one transaction of the ledger, one sync of a folder.
///
/// At any moment, whatever is killed: a final path holds what it held or the whole new output, and the ledger knows
/// which outputs Penumbra published or was about to.
final class PublishQueue: Sendable {
    /// One output of a frame.
    struct Item: Sendable {
        let publication: Publication
        let rule: ReplacementRule
        /// What the ledger will know of it, but for the file itself; nil for a run without one.
        let record: OutputRecord?
        /// What is written beside it; nil where the job wants no receipts.
        var receipt: Receipt?
    }

    private struct Request: Sendable {
        let items: [Item]
        let answer: CheckedContinuation<PublishFailure?, Never>
    }

    private struct State {
        var waiting: [Request] = []
        var isBusy = false
    }

    private let publisher: Publisher
    private let ledger: Ledger?
    private let durability: Durability
    private let calls: FileCalls
    private let state = Mutex(State())
    /// Disks block; the threads of tasks are few.
    private let queue = DispatchQueue(label: "penumbra.publishing")
    private static let largestBatch = 256
    /// How long outputs wait for others, so that their file system is not synced for each.
    private static let batchDelay = DispatchTimeInterval.milliseconds(200)

    init(publisher: Publisher, ledger: Ledger?, durability: Durability, calls: FileCalls) {
        var publisher = publisher
        // Only what a ledger knows is replaced by its stamp.
        if let ledger { publisher.compare = ledger.compare }
        self.publisher = publisher
        self.ledger = ledger
        self.durability = durability
        self.calls = calls
    }

    /// Returns when the frame's outputs are in place, or why they are not. What was published before a failure stays: it
    /// is verified, and as it would be.
    func publish(_ items: [Item]) async -> PublishFailure? {
        await withCheckedContinuation { answer in
            let begins = state.withLock { state in
                state.waiting.append(Request(items: items, answer: answer))
                defer { state.isBusy = true }
                return !state.isBusy
            }
            guard begins else { return }
            switch durability {
            case .file: queue.async { self.work() }
            case .batch: queue.asyncAfter(deadline: .now() + Self.batchDelay) { self.work() }
            }
        }
    }

    private func work() {
        while let batch = nextBatch() {
            let problems = publish(batch.map(\.items))
            for (request, problem) in zip(batch, problems) { request.answer.resume(returning: problem) }
        }
    }

    private func nextBatch() -> [Request]? {
        state.withLock { state in
            let batch = Array(state.waiting.prefix(Self.largestBatch))
            state.waiting.removeFirst(batch.count)
            state.isBusy = !batch.isEmpty
            return batch.isEmpty ? nil : batch
        }
    }

    /// - Returns: one problem, or none, for each frame.
    private func publish(_ frames: [[Item]]) -> [PublishFailure?] {
        var batch = PublishBatch(frames: frames, calls: calls)
        do {
            try batch.writeReceipts(syncs: durability == .file)
            if durability == .batch { try batch.syncFileSystems() }
            let records = batch.stamp()
            try ledger?.intend(records)
            batch.put(by: publisher)
            try ledger?.publish(batch.published)
        } catch {
            batch.discard()
            let problem = problem(error)
            return frames.map { _ in problem }
        }
        return batch.problems
    }

    private func problem(_ error: any Error) -> PublishFailure {
        switch error {
        case let trouble as FileTrouble: PublishFailure(trouble)
        case let problem as StoreProblem: PublishFailure(problem)
        default: .storage("\(error)")
        }
    }
}
