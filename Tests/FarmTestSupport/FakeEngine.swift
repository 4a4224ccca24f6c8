package import Engines
package import Scheduling
import Synchronization
package import WorkerProtocol

/// An engine without processes. A test decides what happens to each lease.
package final class FakeEngine: Engine {
    package enum Answer: Sendable {
        case done(TaskReceipt)
        case failed(TaskFailure)
        case died(Death.Manner)
        /// Sends nothing about the order until the test decides.
        case silence
    }

    fileprivate struct State {
        var onEvent: (@Sendable (Event) -> Void)?
        /// The living workers, with their leases.
        var workers: [WorkerID: LeaseID?] = [:]
        var latest = 0
        var slots = 0
        var retired: Set<SlotID> = []
        var leases: [Lease] = []
        var killed: [WorkerID] = []
        var isHandedOver = false
    }

    private let state = Mutex(State())
    private let answer: @Sendable (Lease) -> Answer
    private let pulses: AsyncStream<Void>
    private let pulse: AsyncStream<Void>.Continuation

    package init(_ answer: @escaping @Sendable (Lease) -> Answer) {
        self.answer = answer
        (pulses, pulse) = AsyncStream.makeStream(of: Void.self)
    }

    /// All started leases, in order.
    package var leases: [Lease] { state.withLock { $0.leases } }

    /// The workers that were killed by order.
    package var killed: [WorkerID] { state.withLock { $0.killed } }

    package var isHandedOver: Bool { state.withLock { $0.isHandedOver } }

    /// Returns when the run loop has handled another tick of its clock, or at once for a tick that was not waited for yet.
    package func waitForTick() async { for await _ in pulses { return } }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        state.withLock { state in
            state.onEvent = onEvent
            state.open(1)
        }
        for await command in commands { carryOut(command) }
        state.withLock { state in
            state.onEvent = nil
            state.workers = [:]
        }
        pulse.finish()
    }

    private func carryOut(_ command: EngineCommand) {
        switch command {
        case .start(let lease):
            let isTaken = state.withLock { state in
                guard state.workers[lease.worker] != nil else { return false }
                state.workers[lease.worker] = lease.id
                state.leases.append(lease)
                return true
            }
            if isTaken { reply(to: lease, answer(lease)) }
        case .widen(let count): state.withLock { $0.open(count) }
        case .retire(let slot):
            state.withLock { state in
                state.retired.insert(slot)
                for worker in state.workers.keys where worker.slot == slot { state.lose(worker, .byOrder) }
            }
        case .kill(let worker):
            state.withLock { state in
                state.killed.append(worker)
                state.lose(worker, .byOrder)
            }
        case .recycle(let worker): state.withLock { $0.lose(worker, .byOrder) }
        case .handOver: state.withLock { $0.isHandedOver = true }
        case .pulse: pulse.yield()
        }
    }

    /// Sends a worker's report about its lease. A dead worker sends nothing.
    package func reply(to lease: Lease, _ answer: Answer) {
        state.withLock { state in
            guard let current = state.workers[lease.worker], current == lease.id else { return }
            switch answer {
            case .done(let receipt): state.answer(lease, .finished(lease.id, receipt))
            case .failed(let failure): state.answer(lease, .failed(lease.id, failure))
            case .died(let manner): state.lose(lease.worker, manner)
            case .silence: break
            }
        }
    }

    /// Sends another event of a worker.
    package func post(_ event: Event) { state.withLock { $0.onEvent?(event) } }

    /// Kills a worker from outside.
    package func kill(_ worker: WorkerID) { state.withLock { $0.lose(worker, .killed) } }

    /// The living workers.
    package var workers: [WorkerID] { state.withLock { $0.workers.keys.sorted() } }
}

extension FakeEngine.State {
    fileprivate mutating func open(_ count: Int) {
        guard count > slots else { return }
        for number in slots + 1...count { begin(in: SlotID(number)) }
        slots = count
    }

    private mutating func begin(in slot: SlotID) {
        guard !retired.contains(slot) else { return }
        latest += 1
        let worker = WorkerID(latest, slot: slot)
        workers[worker] = .some(nil)
        onEvent?(.workerReady(worker))
    }

    fileprivate mutating func answer(_ lease: Lease, _ report: Report) {
        workers[lease.worker] = .some(nil)
        onEvent?(.report(lease.worker, report))
    }

    fileprivate mutating func lose(_ worker: WorkerID, _ manner: Death.Manner) {
        guard workers.removeValue(forKey: worker) != nil else { return }
        onEvent?(.workerLost(worker, Death(manner)))
        begin(in: worker.slot)
    }
}
