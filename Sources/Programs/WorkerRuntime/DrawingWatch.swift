import ImageFiles
import Synchronization
import WorkerProtocol

/// Ends a task if its picture takes too long to draw.
///
/// Drawing cannot be interrupted. So another thread answers the task, and this process asks to be replaced. When the
/// coordinator lets it go, it exits together with the thread that still draws.
final class DrawingWatch: Sendable {
    private let channel: Channel
    private let drawing: DrawingTime
    /// The task that has no answer yet.
    private let open = Mutex<LeaseID?>(nil)

    init(_ channel: Channel, _ drawing: DrawingTime = .shared) { (self.channel, self.drawing) = (channel, drawing) }

    /// A task begins.
    func begin(_ lease: LeaseID) {
        open.withLock { $0 = lease }
    }

    /// The task has an answer.
    ///
    /// - Returns: False if it had one before. Then this one must not be sent.
    func end() -> Bool { open.withLock { $0.take() } != nil }

    /// Checks once whether a picture takes too long. A thread calls it every second or so.
    ///
    /// - Throws: If the coordinator is gone.
    func check() throws {
        // The lock keeps the task from ending here, so a late drawing belongs to this task.
        let late = open.withLock { lease -> (lease: LeaseID, error: ImageFileError)? in
            guard let error = drawing.overrun, let lease = lease.take() else { return nil }
            return (lease, error)
        }
        guard let late else { return }
        try channel.send(.worn(late.lease))
        try channel.send(.failed(late.lease, TaskFailure(classing: late.error)))
    }
}
