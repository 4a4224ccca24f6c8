import Foundation
import Glibc
import WorkerProtocol

/// Reads orders on a thread of its own, so that the end of the coordinator is noticed at once, even in the middle of
/// a task: the process then exits. Its unpublished files are removed by the coordinator's next run.
final class OrderQueue: @unchecked Sendable {
    // Sendable: `waiting` and `last` are touched only while `condition` is locked.
    private let condition = NSCondition()
    private var waiting: [(LeaseID, TaskSpec)] = []
    /// Orders are numbered, each with its own: one that comes twice is done once.
    private var last = 0
    private let channel: Channel

    /// - Throws: where no thread can be had. A worker that reads nothing would not notice that its coordinator is gone.
    init(_ channel: Channel) throws(Shortage) {
        self.channel = channel
        try WorkerThread.start { self.readAll() }
    }

    /// Waits for the next order.
    func next() -> (LeaseID, TaskSpec) {
        condition.lock()
        defer { condition.unlock() }
        while waiting.isEmpty { condition.wait() }
        return waiting.removeFirst()
    }

    private func readAll() {
        var buffer = FrameBuffer()
        while let bytes = channel.receive() {
            buffer.append(bytes)
            do {
                while let body = try buffer.next() {
                    guard case .start(let lease, let spec) = try FrameCodec.decode(Order.self, from: body) else {
                        continue
                    }
                    add(lease, spec)
                }
            } catch {
                // An order that was damaged on its way, or is of another version: the coordinator gives it to the next.
                _exit(70)
            }
        }
        // No destructors: another thread may be in the middle of a task.
        _exit(0)
    }

    private func add(_ lease: LeaseID, _ spec: TaskSpec) {
        condition.lock()
        defer { condition.unlock() }
        guard lease.number > last else { return }
        last = lease.number
        waiting.append((lease, spec))
        condition.signal()
    }
}
