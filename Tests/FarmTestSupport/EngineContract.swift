import Engines
import Scheduling
import WorkerProtocol

/// The contract of all engines. The test of an engine runs all checks:
///
///     @Test(arguments: EngineContract.allCases) func `my engine keeps the contract`(check: EngineContract) async throws {
///         try await check(MyEngineUnderTest())
///     }
package enum EngineContract: String, CaseIterable, Sendable {
    case startsAWorker = "a worker is ready before anything is asked of it"
    case doesATask = "a worker does its task, and answers by the task's lease"
    case doesTasksInTurn = "a worker that has answered takes another task"
    case widens = "as many workers as are asked for work at once, each in a slot of its own"
    case kills = "a worker that is killed by order is told lost, and another one takes its slot"
    case survivesDeath = "a worker that dies is told lost, and another one takes its slot"
    case ignoresTheDead = "an order to a worker that is gone is answered by nobody, and disturbs nobody"
    case recycles = "a worker that is recycled leaves, and another one takes its slot"
    case retires = "a slot that is retired gets no other worker"
    case ends = "an engine whose commands end comes to its end, and says no more"
    case endsBusyWorkers = "an engine that ends leaves no busy worker behind"
    case endsUnheard = "an engine that ends at once leaves no worker behind"

    package func callAsFunction(_ subject: some EngineUnderTest) async throws {
        let talk = Conversation(with: try subject.makeEngine())
        do {
            try await carryOut(talk, subject)
        } catch {
            await talk.end()
            throw error
        }
        await talk.end()
        let said = talk.events
        // A worker can still send events.
        for _ in 0..<100 { await Task.yield() }
        try demand(talk.events.count == said.count, "it says \(talk.events.dropFirst(said.count)) after its end")
        try demand(try subject.living().isEmpty, "it leaves behind: \(try subject.living())")
        try demandOrder(said)
    }

    private func carryOut(_ talk: Conversation, _ subject: some EngineUnderTest) async throws {
        switch self {
        case .startsAWorker: _ = try await talk.readyWorker()
        case .doesATask: try await work(talk.readyWorker(), talk, subject)
        case .doesTasksInTurn:
            let worker = try await talk.readyWorker()
            for _ in 0..<3 { try await work(worker, talk, subject) }
        case .widens: try await widen(talk, subject)
        case .kills:
            try await replace(talk, subject) { worker in
                _ = talk.lease(try subject.endlessTask(), to: worker)
                talk.say(.kill(worker))
            }
        case .survivesDeath:
            try await replace(talk, subject) { worker in
                // The worker works, and is not ending.
                try await work(worker, talk, subject)
                _ = talk.lease(try subject.endlessTask(), to: worker)
                try subject.killWorkers()
            }
        case .ignoresTheDead:
            let dead = try await talk.readyWorker()
            talk.say(.kill(dead))
            _ = try await talk.loss(of: dead)
            let lease = talk.lease(try subject.quickTask(), to: dead)
            try await work(talk.readyWorker(besides: [dead]), talk, subject)
            try demand(talk.events.answers(to: lease.id) == 0, "the order to the dead worker was answered")
        case .recycles: try await replace(talk, subject) { talk.say(.recycle($0)) }
        case .retires: try await retire(talk, subject)
        case .ends: try await work(talk.readyWorker(), talk, subject)
        case .endsBusyWorkers:
            let worker = try await talk.readyWorker()
            _ = talk.lease(try subject.endlessTask(), to: worker)
            talk.say(.kill(worker))
        case .endsUnheard: break
        }
    }

    private func work(_ worker: WorkerID, _ talk: Conversation, _ subject: some EngineUnderTest) async throws {
        let spec = try subject.quickTask()
        let lease = talk.lease(spec, to: worker)
        let receipt = try await talk.receipt(of: lease)
        if let objection = spec.objection(to: receipt) { throw Breach("the answer to its task is \(objection)") }
    }

    private func widen(_ talk: Conversation, _ subject: some EngineUnderTest) async throws {
        talk.say(.widen(to: 3))
        var workers: Set<WorkerID> = []
        for _ in 0..<3 { workers.insert(try await talk.readyWorker(besides: workers)) }
        try demand(Set(workers.map(\.slot)).count == 3, "workers share a slot: \(workers)")
        let leases = try workers.map { talk.lease(try subject.quickTask(), to: $0) }
        for lease in leases { _ = try await talk.receipt(of: lease) }
    }

    /// Takes a worker away, in any way.
    private func replace(
        _ talk: Conversation, _ subject: some EngineUnderTest, by body: (WorkerID) async throws -> Void
    ) async throws {
        let first = try await talk.readyWorker()
        try await body(first)
        _ = try await talk.loss(of: first)
        let second = try await talk.readyWorker(besides: [first])
        try demand(second.slot == first.slot, "the other worker is in slot \(second.slot.number)")
        try await work(second, talk, subject)
    }

    private func retire(_ talk: Conversation, _ subject: some EngineUnderTest) async throws {
        let first = try await talk.readyWorker()
        talk.say(.widen(to: 2))
        let second = try await talk.readyWorker(besides: [first])
        talk.say(.retire(first.slot))
        _ = try await talk.loss(of: first)
        try await work(second, talk, subject)
        try demand(talk.events.ready.count { $0.slot == first.slot } == 1, "another worker came into the retired slot")
    }

    /// The events of a worker come between its greeting and its end. Each lease has one answer.
    private func demandOrder(_ events: [Event]) throws {
        var (ready, lost): (Set<WorkerID>, Set<WorkerID>) = ([], [])
        var answered: Set<LeaseID> = []
        for event in events {
            switch event {
            case .workerReady(let worker):
                try demand(
                    !lost.contains(worker) && ready.insert(worker).inserted, "worker \(worker.number) comes twice")
            case .workerLost(let worker, _):
                try demand(lost.insert(worker).inserted, "worker \(worker.number) goes twice")
            case .report(let worker, let report):
                try demand(
                    ready.contains(worker) && !lost.contains(worker),
                    "a report of worker \(worker.number), who is not there")
                switch report {
                case .finished(let lease, _), .failed(let lease, _):
                    try demand(answered.insert(lease).inserted, "lease \(lease.number) is answered twice")
                case .ready, .alive, .inPlugins, .worn: break
                }
            default: break
            }
        }
    }

    private func demand(_ isSo: Bool, _ words: @autoclosure () throws -> String) throws {
        if !isSo { throw Breach("\(rawValue): \(try words())") }
    }
}

extension EngineContract: CustomStringConvertible {
    package var description: String { rawValue }
}
