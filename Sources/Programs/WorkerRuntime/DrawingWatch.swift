import ImageFiles
import Synchronization
import WorkerProtocol

/// Ends a task whose picture takes too long to draw.
///
/// Nothing interrupts a drawing. So the task is answered from another thread, and this process asks to be replaced. It ends
/// with the thread that still draws, as soon as the coordinator lets it go.
final class DrawingWatch: Sendable {
    private let channel: Channel
    private let drawing: DrawingTime
    /// The task that nobody has answered yet.
    private let open = Mutex<LeaseID?>(nil)

    init(_ channel: Channel, _ drawing: DrawingTime = .shared) { (self.channel, self.drawing) = (channel, drawing) }

    /// A task begins.
    func begin(_ lease: LeaseID) {
        open.withLock { $0 = lease }
    }

    /// The task has an answer.
    ///
    /// - Returns: false if it had one before. Then nobody wants another.
    func end() -> Bool { open.withLock { $0.take() } != nil }

    /// Looks once whether a picture takes too long. For a thread of its own, every second or so.
    ///
    /// - Throws: where the coordinator is gone.
    func check() throws {
        // Asked while the task cannot end: what has drawn for too long is a picture of this one.
        let late = open.withLock { lease -> (lease: LeaseID, error: ImageFileError)? in
            guard let error = drawing.overrun, let lease = lease.take() else { return nil }
            return (lease, error)
        }
        guard let late else { return }
        try channel.send(.worn(late.lease))
        try channel.send(.failed(late.lease, TaskFailure(classing: late.error)))
    }
}
