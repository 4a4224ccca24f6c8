package import Engines
package import Scheduling
import Synchronization
import WorkerProtocol

/// An engine that first uses the results of earlier attempts, such as elements of a cluster, and gives only the rest to
/// another engine. A worker checks the digests of found outputs, because nothing checks them again before they are
/// published.
package struct AdoptingEngine: Engine {
    private let inner: any Engine
    private let folder: ShardFolder

    package init(_ inner: any Engine, folder: ShardFolder) {
        self.inner = inner
        self.folder = folder
    }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        var prior = PriorResults(of: folder)
        let checks = OutputChecks()
        let (rest, pass) = AsyncStream.makeStream(of: EngineCommand.self)
        async let running: Void = inner.run(rest) { event in
            switch checks.answer(event) {
            case .adopt(let event): onEvent(event)
            case .render(let lease): pass.yield(.start(lease))
            case nil: onEvent(event)
            }
        }
        for await command in commands {
            guard case .start(let lease) = command, let receipt = prior.take(lease.spec) else {
                pass.yield(command)
                continue
            }
            if let check = checks.begin(lease, receipt) {
                pass.yield(.start(check))
            } else {
                onEvent(.adopted(lease.worker, lease.id, receipt))
            }
        }
        pass.finish()
        await running
    }
}

/// The leases whose earlier outputs a worker is checking.
private final class OutputChecks: Sendable {
    enum Answer {
        case adopt(Event)
        case render(Lease)
    }

    private let open = Mutex<[LeaseID: (lease: Lease, task: Shard.Task)]>([:])

    /// Nil if nothing has to be checked.
    func begin(_ lease: Lease, _ earlier: TaskReceipt) -> Lease? {
        guard case .outputs = earlier else { return nil }
        let task = Shard.Task(lease, earlier: earlier)
        open.withLock { $0[lease.id] = (lease, task) }
        return Lease(
            id: lease.id, task: lease.task, attempt: lease.attempt, round: lease.round, worker: lease.worker,
            deadline: lease.deadline, timeLimit: lease.timeLimit, estimate: lease.estimate,
            pixelBytes: lease.pixelBytes, spec: task.order)
    }

    /// Nil for an event that does not concern a check.
    func answer(_ event: Event) -> Answer? {
        switch event {
        case .report(let worker, .finished(let id, let report)):
            guard let check = open.withLock({ $0.removeValue(forKey: id) }) else { return nil }
            guard check.task.isAsBefore(report), let earlier = check.task.earlier else { return .render(check.lease) }
            return .adopt(.adopted(worker, id, earlier))
        case .report(_, .failed(let id, _)):
            return open.withLock { $0.removeValue(forKey: id) }.map { .render($0.lease) }
        default: return nil
        }
    }
}
