import Glibc
import Scheduling
import Synchronization
import WorkerProtocol

/// The living processes of a local engine: how to reach them, and which of them were told to end.
final class WorkerPool: Sendable {
    /// One living process.
    private struct Member {
        let processID: pid_t
        let outbox: AsyncStream<[UInt8]>.Continuation
        var endsByOrder = false
        /// The number of orders that the process was sent. Each order has a number of its own, though one lease may take
        /// several orders.
        var orders = 0
        /// The lease of the last order, until the process has answered it.
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

    /// A number for the next process; nil if the slot gets no more processes.
    func enlist(in slot: SlotID) -> WorkerID? {
        state.withLock { state in
            guard !state.isDismissed, !state.retired.contains(slot) else { return nil }
            state.last += 1
            return WorkerID(state.last, slot: slot)
        }
    }

    /// The orders for the process. The stream ends when the process may exit.
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

    /// After this, nothing is sent to the process, because its identifier may belong to another one.
    func remove(_ worker: WorkerID) {
        state.withLock { $0.members.removeValue(forKey: worker)?.outbox.finish() }
    }

    func start(_ lease: LeaseID, _ spec: TaskSpec, on worker: WorkerID) {
        guard let number = number(lease, for: worker) else { return }
        guard let message = try? FrameCodec.encode(Order.start(LeaseID(number), spec)) else {
            // The order is too long to send. Killing the worker makes the task fail with a reason.
            kill(worker)
            return
        }
        state.withLock { _ = $0.members[worker]?.outbox.yield(message) }
    }

    /// The number of the next order. A worker does each number once, so a repeated message does no harm. A lease may be
    /// sent again if an earlier result of it is damaged.
    private func number(_ lease: LeaseID, for worker: WorkerID) -> Int? {
        state.withLock { state in
            state.members[worker]?.lease = lease
            state.members[worker]?.orders += 1
            return state.members[worker]?.orders
        }
    }

    /// A worker reported about an order that it was never sent.
    struct UnknownOrderError: Error, CustomStringConvertible {
        let number: Int
        var description: String { "a report of order \(number), which it was never given" }
    }

    /// Translates a report about the last order into a report about its lease. Nil for reports about earlier orders, and
    /// for repeated answers.
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

    /// Closes the process's input, so that it exits.
    func letGo(_ worker: WorkerID) { state.withLock { $0.letGo(worker) } }

    /// Starts no more processes in the slot, and lets its present process exit.
    func retire(_ slot: SlotID) {
        state.withLock { state in
            state.retired.insert(slot)
            for worker in state.members.keys where worker.slot == slot { state.letGo(worker) }
        }
    }

    func endedByOrder(_ worker: WorkerID) -> Bool {
        state.withLock { $0.members[worker]?.endsByOrder ?? false }
    }

    /// Starts no more processes, and lets the living ones exit.
    func dismiss() {
        state.withLock { state in
            state.isDismissed = true
            for worker in state.members.keys { state.letGo(worker) }
        }
    }

    /// Kills processes that were told to exit and did not, because they are stopped, for instance.
    func killAll() {
        for worker in state.withLock({ Array($0.members.keys) }) { kill(worker) }
    }
}

extension Report {
    /// The order that the report is about.
    fileprivate var order: LeaseID? {
        switch self {
        case .ready, .alive: nil
        case .inPlugins(let order, _), .worn(let order), .finished(let order, _), .failed(let order, _): order
        }
    }
}
