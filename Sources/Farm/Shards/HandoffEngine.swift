package import Engines
package import Scheduling
package import WorkerProtocol

/// Begins a run that another coordinator resumes: gathers all tasks that are ready, hands them over, and stops this
/// coordinator.
///
/// The scheduler sees many workers with one lease each.
package struct HandoffEngine: Engine {
    /// Receives the tasks.
    package protocol Recipient: Sendable {
        /// Whether a task is handed over. Other tasks are carried out here first, because their results decide what
        /// follows.
        func takes(_ spec: TaskSpec) -> Bool
        /// Carries out tasks on this machine.
        ///
        /// - Parameter number: the number of the shard that they become.
        func carryOut(_ tasks: [GatheredTask], as number: Int) async -> Result<[TaskEnd], HandoffError>
        /// - Parameter first: the first free shard number.
        func receive(_ tasks: [GatheredTask], from first: Int) async -> HandoffError?
        /// The run was cancelled after all.
        func withdraw() async
    }

    private let folder: ShardFolder
    private let recipient: any Recipient

    package init(folder: ShardFolder, recipient: any Recipient) {
        self.folder = folder
        self.recipient = recipient
    }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        let (inputs, continuation) = AsyncStream.makeStream(of: HandoffState.Input.self)
        do {
            try folder.create()
        } catch {
            return onEvent(.stop(.storage(error.message)))
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await command in commands { continuation.yield(.command(command)) }
                continuation.yield(.ended)
            }
            var past = PriorResults(of: folder)
            var state = HandoffState(lastShard: past.lastShard, takes: recipient.takes)
            for event in state.begin() { onEvent(event) }
            for await input in inputs {
                if case .ended = input {
                    // The handover in progress is cancelled and undone.
                    group.cancelAll()
                    if !state.isHandingOver { break }
                }
                var input = input
                if case .command(.start(let lease), _) = input {
                    input = .command(.start(lease), prior: past.take(lease.spec))
                }
                for effect in state.handle(input) {
                    if case .event(let event) = effect {
                        onEvent(event)
                    } else {
                        group.addTask { if let answer = await carryOut(effect) { continuation.yield(answer) } }
                    }
                }
                if state.isOver { break }
            }
            if state.wasReceived, !state.isHandedOver { await Task { await recipient.withdraw() }.value }
            group.cancelAll()
        }
    }

    private func carryOut(_ effect: HandoffState.Effect) async -> HandoffState.Input? {
        switch effect {
        case .event: nil
        case .carryOut(let tasks, let number): .done(tasks, await recipient.carryOut(tasks, as: number))
        case .handOver(let tasks, let first): .handedOver(await recipient.receive(tasks, from: first))
        }
    }
}

/// A task that is ready.
package struct GatheredTask: Sendable {
    package let lease: Lease
    /// As ``Shard/Task/earlier``.
    package let earlier: TaskReceipt?

    package init(_ lease: Lease, earlier: TaskReceipt? = nil) {
        self.lease = lease
        self.earlier = earlier
    }

    var ofShard: Shard.Task { Shard.Task(lease, earlier: earlier) }
}

/// Why work could not be handed over.
package struct HandoffError: Error, Hashable, Sendable {
    package let reason: StopReason

    package init(_ reason: StopReason) { self.reason = reason }
}
