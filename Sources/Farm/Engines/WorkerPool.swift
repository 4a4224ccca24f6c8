import Glibc
import Scheduling
import Synchronization
import WorkerProtocol

/// The processes of a local engine: who lives, how to reach them, who was told to end.
final class WorkerPool: Sendable {
    /// One living process.
    private struct Member {
        let processID: pid_t
        let outbox: AsyncStream<[UInt8]>.Continuation
        var endsByOrder = false
        /// How many orders it was sent: each has a number of its own, though one lease may take several.
        var orders = 0
        /// Of the order that it has not answered, the one that it was sent last.
        var lease: LeaseID?
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

    func start(_ lease: LeaseID, _ spec: TaskSpec, on worker: WorkerID) {
        guard let number = number(lease, for: worker) else { return }
        guard let message = try? FrameCodec.encode(Order.start(LeaseID(number), spec)) else {
            // An order too long to send: the worker is ended, so that the task fails by name and is not waited for.
            kill(worker)
            return
        }
        state.withLock { _ = $0.members[worker]?.outbox.yield(message) }
    }

    /// Of the next order. A worker does each number once, so that what comes twice is done once; and a lease may be sent to it
    /// again, when what had been made before turns out to be damaged.
    private func number(_ lease: LeaseID, for worker: WorkerID) -> Int? {
        state.withLock { state in
            state.members[worker]?.lease = lease
            state.members[worker]?.orders += 1
            return state.members[worker]?.orders
        }
    }

    /// A worker speaks of an order that it was never sent.
    struct UnknownOrderError: Error, CustomStringConvertible {
        let number: Int
        var description: String { "a report of order \(number), which it was never given" }
    }

    /// What a worker says of its last order, as one of that order's lease. Nil for what it says of an earlier one, or once more
    /// after it has answered.
    func report(_ report: Report, of worker: WorkerID) throws(UnknownOrderError) -> Report? {
        try state.withLock { (state) throws(UnknownOrderError) in
            guard let member = state.members[worker] else { return nil }
            if let order = report.order, order.number < 1 || order.number > member.orders {
                throw UnknownOrderError(number: order.number)
            }
            func lease(_ order: LeaseID) -> LeaseID? { order.number == member.orders ? member.lease : nil }
            switch report {
            case .ready, .alive: return report
            case .inPlugins(let order, let names): return lease(order).map { .inPlugins($0, names) }
            case .worn(let order): return lease(order).map { .worn($0) }
            case .finished(let order, let receipt):
                guard let lease = lease(order) else { return nil }
                state.members[worker]?.lease = nil
                return .finished(lease, receipt)
            case .failed(let order, let failure):
                guard let lease = lease(order) else { return nil }
                state.members[worker]?.lease = nil
                return .failed(lease, failure)
            }
        }
    }

    /// Kills the process and everything that it started.
    func kill(_ worker: WorkerID) {
        state.withLock { state in
            guard let member = state.members[worker] else { return }
            state.members[worker]?.endsByOrder = true
            ProcessGroup.end(member.processID)
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

extension Report {
    /// That it is about.
    fileprivate var order: LeaseID? {
        switch self {
        case .ready, .alive: nil
        case .inPlugins(let order, _), .worn(let order), .finished(let order, _), .failed(let order, _): order
        }
    }
}
