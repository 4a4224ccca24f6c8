package import Scheduling
package import WorkerProtocol

/// Begins a run that others go on with: gathers all tasks that are ready, hands them over, and stops this coordinator.
///
/// To the scheduler it is many workers, each with one lease.
package struct HandoffEngine: Engine {
    /// Who gets the tasks.
    package protocol Recipient: Sendable {
        /// Whether a task is handed over. Others are done here, first: what they find decides what follows.
        func takes(_ spec: TaskSpec) -> Bool
        /// Does tasks here.
        ///
        /// - Parameter number: for a shard of them.
        func carryOut(_ tasks: [GatheredTask], as number: Int) async -> Result<[TaskEnd], HandingOverTrouble>
        /// - Parameter first: the number of the first shard that is free.
        func receive(_ tasks: [GatheredTask], from first: Int) async -> HandingOverTrouble?
        /// The run was given up after all.
        func withdraw() async
    }

    private enum News: Sendable {
        case command(EngineCommand)
        case ended
        case done([GatheredTask], Result<[TaskEnd], HandingOverTrouble>)
        case handedOver(HandingOverTrouble?)
    }

    private let folder: ShardFolder
    private let recipient: any Recipient

    package init(folder: ShardFolder, recipient: any Recipient) {
        self.folder = folder
        self.recipient = recipient
    }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        let (news, tell) = AsyncStream.makeStream(of: News.self)
        do {
            try folder.create()
        } catch {
            return onEvent(.stop(.storage(error.message)))
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await command in commands { tell.yield(.command(command)) }
                tell.yield(.ended)
            }
            var desk = Desk(past: PriorResults(of: folder), recipient: recipient, onEvent: onEvent)
            for await item in news {
                if case .ended = item {
                    // What is being handed over is given up, and taken back.
                    group.cancelAll()
                    if !desk.isHandingOver { break }
                }
                if let job = desk.handle(item) { group.addTask { tell.yield(await carryOut(job)) } }
                if desk.isOver { break }
            }
            if desk.wasReceived, !desk.isHandedOver { await Task { await recipient.withdraw() }.value }
            group.cancelAll()
        }
    }

    private func carryOut(_ job: Desk.Job) async -> News {
        switch job {
        case .carryOut(let tasks, let number): .done(tasks, await recipient.carryOut(tasks, as: number))
        case .handOver(let tasks, let first): .handedOver(await recipient.receive(tasks, from: first))
        }
    }

    /// What is known while tasks are gathered.
    private struct Desk {
        enum Job: Sendable {
            case carryOut([GatheredTask], as: Int)
            case handOver([GatheredTask], from: Int)
        }

        var past: PriorResults
        let recipient: any Recipient
        let onEvent: @Sendable (Event) -> Void
        private var book = VirtualWorkers()
        private var early: [GatheredTask] = []
        private var gathered: [GatheredTask] = []
        private var lastShard: Int
        private var isBusy = false
        private(set) var isHandingOver = false
        private(set) var wasReceived = false
        /// The coordinator has left the run to whoever has received it.
        private(set) var isHandedOver = false
        private var hasEnded = false

        var isOver: Bool { hasEnded && !isHandingOver }
        /// Since anything came or was told.
        private var quietPulses = 0

        init(past: PriorResults, recipient: any Recipient, onEvent: @escaping @Sendable (Event) -> Void) {
            self.past = past
            self.recipient = recipient
            self.onEvent = onEvent
            lastShard = past.lastShard
            for event in book.open(to: 1) { onEvent(event) }
        }

        mutating func handle(_ news: News) -> Job? {
            switch news {
            case .command(.pulse):
                quietPulses += 1
                return next()
            case .command(let command): carryOut(command)
            case .done(let tasks, let result): note(tasks, result)
            case .handedOver(let trouble):
                (isHandingOver, wasReceived) = (false, trouble == nil)
                onEvent(.stop(trouble?.reason ?? .detached))
            case .ended: hasEnded = true
            }
            return nil
        }

        private mutating func carryOut(_ command: EngineCommand) {
            quietPulses = 0
            switch command {
            case .start(let lease):
                book.start(lease)
                switch past.take(lease.spec) {
                // Whoever gets it looks at the files' bytes first.
                case .outputs(let receipts, let source)?: add(lease, earlier: .outputs(receipts, of: source))
                case let receipt?: post(book.adopt(lease.id, receipt))
                case nil: add(lease, earlier: nil)
                }
            case .widen(let count): post(book.open(to: count))
            case .retire(let slot): post(book.retire(slot))
            case .kill(let worker), .recycle(let worker):
                if let lease = book.lease(of: worker) {
                    for list in [\Desk.early, \Desk.gathered] { self[keyPath: list].removeAll { $0.lease.id == lease } }
                }
                post(book.dismiss(worker))
            case .handOver: isHandedOver = true
            case .pulse: break
            }
        }

        /// A report leads to a question for frames, its answer to a start: when so many pulses bring nothing, nothing will come
        /// before something is done.
        private static let enough = 4

        private mutating func next() -> Job? {
            guard !isBusy, quietPulses >= Self.enough else { return nil }
            if !early.isEmpty {
                defer { early = [] }
                isBusy = true
                lastShard += 1
                return .carryOut(early, as: lastShard)
            }
            guard !gathered.isEmpty else { return nil }
            (isBusy, isHandingOver) = (true, true)
            return .handOver(gathered, from: lastShard + 1)
        }

        private mutating func add(_ lease: Lease, earlier: TaskReceipt?) {
            let task = GatheredTask(lease, earlier: earlier)
            if recipient.takes(lease.spec) { gathered.append(task) } else { early.append(task) }
        }

        private mutating func note(_ tasks: [GatheredTask], _ result: Result<[TaskEnd], HandingOverTrouble>) {
            (isBusy, quietPulses) = (false, 0)
            switch result {
            case .success(let ends):
                for end in ends { post(book.end(end, place: "here")) }
                for lease in tasks.map(\.lease) where book.holds(lease.id) {
                    post(book.lose(lease.id, Death(.killed)))
                }
            case .failure(let trouble): onEvent(.stop(trouble.reason))
            }
        }

        private func post(_ events: [Event]) { events.forEach(onEvent) }
    }
}

/// A task that is ready.
package struct GatheredTask: Sendable {
    package let lease: Lease
    /// As ``Shard/Task/earlier``.
    let earlier: TaskReceipt?

    package init(_ lease: Lease, earlier: TaskReceipt? = nil) {
        self.lease = lease
        self.earlier = earlier
    }

    var ofShard: Shard.Task { Shard.Task(lease, earlier: earlier) }
}

/// Why work could not be handed over.
package struct HandingOverTrouble: Error, Hashable, Sendable {
    package let reason: StopReason

    package init(_ reason: StopReason) { self.reason = reason }
}
