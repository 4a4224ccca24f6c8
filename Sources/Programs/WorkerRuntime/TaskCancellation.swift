import Synchronization

/// Whether anybody still wants what this process, which does one task at a time, is busy with.
final class TaskCancellation: Sendable {
    private let flag = Atomic<Bool>(false)

    var isCancelled: Bool { flag.load(ordering: .relaxed) }

    /// What is not finished yet is not wanted any more.
    func cancel() { flag.store(true, ordering: .relaxed) }

    /// Another task begins.
    func reset() { flag.store(false, ordering: .relaxed) }
}
