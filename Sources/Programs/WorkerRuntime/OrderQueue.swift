import Foundation
import Glibc
import WorkerProtocol

/// Reads orders on a thread of its own, so that it notices the coordinator's end at once, even in the middle of a task.
/// Then the process exits. The coordinator's next run removes its unpublished files.
final class OrderQueue: @unchecked Sendable {
    // Sendable: `waiting` and `last` are touched only while `condition` is locked.
    private let condition = NSCondition()
    private var waiting: [(LeaseID, TaskSpec)] = []
    /// The number of the last order. An order that comes twice is carried out once.
    private var last = 0
    private let channel: Channel

    /// - Throws: If no thread can be started. Without it, the worker would not notice the coordinator's end.
    init(_ channel: Channel) throws(ResourceLimitError) {
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
                // The order was damaged on its way, or is from another version. The coordinator gives it to the next
                // worker.
                _exit(70)
            }
        }
        // No destructors, because another thread may be in the middle of a task.
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
