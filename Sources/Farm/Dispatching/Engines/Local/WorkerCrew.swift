import Glibc
import Scheduling
import Synchronization
import WorkerProtocol

/// The processes of a local engine: who lives, how to reach them, who was told to end.
final class WorkerCrew: Sendable {
    /// One living process.
    private struct Member {
        let processID: pid_t
        let outbox: AsyncStream<[UInt8]>.Continuation
        var endsByOrder = false
    }

    private struct State {
        var members: [WorkerID: Member] = [:]
        var last = 0
        var retired: Set<SlotID> = []
        var isDismissed = false

        mutating func letGo(_ worker: WorkerID) {
            members[worker]?.endsByOrder = true
            members[worker]?.outbox.finish()
        }
    }

    private let state = Mutex(State())

    /// A number for the next process, or nil when no more are wanted in the slot.
    func enlist(in slot: SlotID) -> WorkerID? {
        state.withLock { state in
            guard !state.isDismissed, !state.retired.contains(slot) else { return nil }
            state.last += 1
            return WorkerID(state.last, slot: slot)
        }
    }

    /// The orders that are to be written to the process, until it may leave.
    func add(_ worker: WorkerID, processID: pid_t) -> AsyncStream<[UInt8]> {
        let (orders, outbox) = AsyncStream.makeStream(of: [UInt8].self)
        state.withLock { state in
            state.members[worker] = Member(processID: processID, outbox: outbox)
            if state.isDismissed || state.retired.contains(worker.slot) {
                state.members[worker]?.endsByOrder = true
                outbox.finish()
            }
        }
        return orders
    }

    /// After this the process identifier may belong to another process, so nothing is sent to it any more.
    func remove(_ worker: WorkerID) {
        state.withLock { $0.members.removeValue(forKey: worker)?.outbox.finish() }
    }

    func send(_ order: Order, to worker: WorkerID) {
        guard let message = try? FrameCodec.encode(order) else {
            // An order too long to send: the worker is ended, so that the task fails by name and is not waited for.
            kill(worker)
            return
        }
        state.withLock { _ = $0.members[worker]?.outbox.yield(message) }
    }

    /// Kills the process and everything that it started.
    func kill(_ worker: WorkerID) {
        state.withLock { state in
            guard let member = state.members[worker] else { return }
            state.members[worker]?.endsByOrder = true
            _ = Glibc.kill(-member.processID, SIGKILL)
        }
    }

    /// The process sees the end of its input and exits.
    func letGo(_ worker: WorkerID) { state.withLock { $0.letGo(worker) } }

    /// No more processes are started in the slot; the one that is there is let go.
    func retire(_ slot: SlotID) {
        state.withLock { state in
            state.retired.insert(slot)
            for worker in state.members.keys where worker.slot == slot { state.letGo(worker) }
        }
    }

    func endedByOrder(_ worker: WorkerID) -> Bool {
        state.withLock { $0.members[worker]?.endsByOrder ?? false }
    }

    /// No more processes are started; those that live may leave.
    func dismiss() {
        state.withLock { state in
            state.isDismissed = true
            for worker in state.members.keys { state.letGo(worker) }
        }
    }

    /// Those who may leave and do not, because they are stopped, say.
    func killAll() {
        for worker in state.withLock({ Array($0.members.keys) }) { kill(worker) }
    }
}
