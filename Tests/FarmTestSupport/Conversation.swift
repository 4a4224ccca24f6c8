package import Engines
package import Scheduling
import Synchronization
package import WorkerProtocol

/// The conversation of a check with an engine: the commands of the check, and the events of the engine.
package final class Conversation {
    private let command: AsyncStream<EngineCommand>.Continuation
    private let log: EventLog
    private let run: Task<Void, Never>
    private var arrivals: AsyncStream<Void>.Iterator
    private var leases = 0

    package init(with engine: any Engine) {
        let (commands, command) = AsyncStream.makeStream(of: EngineCommand.self)
        let log = EventLog()
        self.command = command
        self.log = log
        arrivals = log.arrivals.makeAsyncIterator()
        run = Task {
            await engine.run(commands) { log.note($0) }
            log.end()
        }
    }

    /// All events of the engine.
    package var events: [Event] { log.events }

    package func say(_ word: EngineCommand) { command.yield(word) }

    /// Gives a worker a task.
    ///
    /// - Parameter pixelBytes: as in ``Lease``.
    package func lease(_ spec: TaskSpec, to worker: WorkerID, pixelBytes: Int? = nil) -> Lease {
        leases += 1
        let lease = Lease(
            id: LeaseID(leases), task: TaskID(FrameID(leases), .compare), attempt: 1, round: 0, worker: worker,
            deadline: Timestamp(.seconds(600)), timeLimit: .seconds(600), pixelBytes: pixelBytes,
            spec: spec)
        say(.start(lease))
        return lease
    }

    /// Waits until the events contain a match.
    package func until<Found>(_ what: String, _ find: ([Event]) -> Found?) async throws(Breach) -> Found {
        while true {
            if let found = find(log.events) { return found }
            guard await arrivals.next() != nil else {
                if let found = find(log.events) { return found }
                throw Breach("the engine ended before \(what); it said: \(log.events)")
            }
        }
    }

    /// A living worker that was not waited for before.
    package func readyWorker(besides known: Set<WorkerID> = []) async throws(Breach) -> WorkerID {
        try await until("another worker was ready") { events in
            events.ready.first { !known.contains($0) && !events.lost.contains($0) }
        }
    }

    /// The answer to a lease.
    package func receipt(of lease: Lease) async throws(Breach) -> TaskReceipt {
        try await until("lease \(lease.id.number) was answered") { events in
            for case .report(lease.worker, .finished(lease.id, let receipt)) in events { return receipt }
            return nil
        }
    }

    package func loss(of worker: WorkerID) async throws(Breach) -> Death {
        try await until("worker \(worker.number) was told lost") { events in
            for case .workerLost(worker, let death) in events { return death }
            return nil
        }
    }

    /// Sends no more commands, and waits until the engine has ended.
    package func end() async {
        command.finish()
        await run.value
    }
}

/// An engine violates the contract of ``Engine``.
package struct Breach: Error, CustomStringConvertible {
    package let description: String
    package init(_ description: String) { self.description = description }
}

private final class EventLog: Sendable {
    private let state = Mutex<[Event]>([])
    let arrivals: AsyncStream<Void>
    private let arrival: AsyncStream<Void>.Continuation

    init() { (arrivals, arrival) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1)) }

    var events: [Event] { state.withLock { $0 } }

    func note(_ event: Event) {
        state.withLock { $0.append(event) }
        arrival.yield()
    }

    func end() { arrival.finish() }
}

extension [Event] {
    package var ready: [WorkerID] { compactMap { if case .workerReady(let worker) = $0 { worker } else { nil } } }
    package var lost: Set<WorkerID> {
        Set(compactMap { if case .workerLost(let worker, _) = $0 { worker } else { nil } })
    }

    /// The answers to a lease, from all workers.
    package func answers(to lease: LeaseID) -> Int {
        count { event in
            switch event {
            case .report(_, .finished(lease, _)), .report(_, .failed(lease, _)), .adopted(_, lease, _): true
            default: false
            }
        }
    }
}
