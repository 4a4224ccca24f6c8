package import Catalogs
import Glibc
package import Scheduling
import Synchronization
import WorkerProtocol

/// Runs one worker process per slot on this machine, and replaces processes that die.
package final class LocalEngine: Engine {
    private let commandOfLater: Mutex<WorkerCommand>
    private let workers = WorkerPool()
    private let events = EventRelay()
    /// The slot of the worker that ``introduce()`` started.
    private let firstSlot = Mutex<Task<Void, Never>?>(nil)

    package init(command: WorkerCommand) {
        commandOfLater = Mutex(command)
    }

    /// How workers are started from now on.
    package var command: WorkerCommand { commandOfLater.withLock { $0 } }

    /// Names the folder of canvases and tiles of the run. The first worker was started before there was a run. It is replaced when a
    /// task needs the folder.
    package func useScratch(_ folder: String?) { commandOfLater.withLock { $0.scratch = folder } }

    /// Starts the first worker early and returns its catalog. ``run(_:onEvent:)`` uses the same worker, because loading its
    /// libraries takes tens of milliseconds.
    ///
    /// - Returns: nil if the worker ended before it was ready. Then the engine cannot be used.
    package func introduce() async -> Catalog? {
        let (answers, answer) = AsyncStream.makeStream(of: Catalog?.self, bufferingPolicy: .bufferingOldest(1))
        let events = events
        let slot = Task {
            await self.keepFilled(SlotID(1), introducing: { answer.yield($0) }) { event in
                if case .workerLost = event { answer.yield(nil) }
                events.post(event)
            }
        }
        firstSlot.withLock { $0 = slot }
        for await catalog in answers {
            if catalog == nil { workers.dismiss() }
            return catalog
        }
        return nil
    }

    /// Lets the worker exit that ``introduce()`` started, if ``run(_:onEvent:)`` is not called.
    package func dismiss() { workers.dismiss() }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        events.connect(onEvent)
        let first = firstSlot.withLock { $0 }
        await withTaskGroup(of: Void.self) { group in
            if first == nil { group.addTask { await self.keepFilled(SlotID(1), onEvent) } }
            var slots = 1
            for await command in commands {
                if case .widen(let wanted) = command {
                    for number in slots..<max(slots, wanted) {
                        group.addTask { await self.keepFilled(SlotID(number + 1), onEvent) }
                    }
                    slots = max(slots, wanted)
                } else {
                    carryOut(command)
                }
            }
            workers.dismiss()
            await endingStragglers {
                await group.waitForAll()
                await first?.value
            }
        }
    }

    /// A worker exits within milliseconds, unless its process is stopped.
    private static let shutdownTimeout = Duration.seconds(10)

    private func endingStragglers(_ body: () async -> Void) async {
        let workers = workers
        // A task of its own, which ends as soon as all workers have exited.
        let reminder = Task {
            // The sleep is cancelled when no worker is left.
            if (try? await Task.sleep(for: Self.shutdownTimeout)) != nil { workers.killAll() }
        }
        await body()
        reminder.cancel()
    }

    private func keepFilled(
        _ slot: SlotID, introducing: (@Sendable (Catalog?) -> Void)? = nil,
        _ onEvent: @escaping @Sendable (Event) -> Void
    ) async {
        var introduction = introducing
        while let worker = workers.enlist(in: slot) {
            var order: Lease?
            var (death, wasReady) = (Death(.byOrder), true)
            repeat {
                let process = WorkerProcess(
                    id: worker, command: command, workers: workers, introducing: introduction, firstOrder: order,
                    onEvent: onEvent)
                introduction = nil
                (death, wasReady) = await process.live()
                order = workers.orderWithoutWorker(worker)
            } while order != nil
            workers.remove(worker)
            onEvent(.workerLost(worker, death))
            // A worker that cannot start would be tried thousands of times a second. (A cancelled pause ends the slot.)
            if !wasReady { try? await Task.sleep(for: .milliseconds(100)) }
        }
    }

    private func carryOut(_ command: EngineCommand) {
        switch command {
        case .start(let lease): workers.start(lease, scratch: self.command.scratchInSandbox)
        case .widen, .pulse: break
        case .retire(let slot): workers.retire(slot)
        case .kill(let worker): workers.kill(worker)
        case .recycle(let worker): workers.letGo(worker)
        case .handOver: workers.killAll()
        }
    }
}

/// Keeps the events that come before there is a listener.
package final class EventRelay: Sendable {
    /// A closure that is itself the value of a `Mutex` is wrapped once more at each access (Swift 6.3), until a call of it takes more
    /// than the stack.
    private struct Listener {
        let receive: @Sendable (Event) -> Void
    }

    private let waiting = EventQueue()
    private let listener = Mutex<Listener?>(nil)

    package init() {}

    package func post(_ event: Event) {
        listener.withLock { listener in
            if let listener { listener.receive(event) } else { waiting.post(event) }
        }
    }

    /// Gives the listener the waiting events in order, and then every event.
    package func connect(_ listener: @escaping @Sendable (Event) -> Void) {
        self.listener.withLock { current in
            while let event = waiting.next() { listener(event) }
            current = Listener(receive: listener)
        }
    }
}

/// The living processes of a local engine: how to reach them, and which of them were told to end.
final class WorkerPool: Sendable {
    /// One living process.
    private struct Member {
        let processID: pid_t
        let sender: OrderSender
        /// The folder of canvases and tiles that it may read.
        let scratch: String?
        var endsByOrder = false
        /// The number of orders that the process was sent. Each order has a number of its own, though one lease may take
        /// several orders.
        var orders = 0
        /// The lease of the last order, until the process has answered it.
        var lease: LeaseID?
    }

    private struct State {
        var members: [WorkerID: Member] = [:]
        /// Leases of workers whose processes have to be replaced first, because they may not read the tiles of the run.
        var waiting: [WorkerID: Lease] = [:]
        var last = 0
        var retired: Set<SlotID> = []
        var isDismissed = false
        var versions = WorkerVersions()

        mutating func letGo(_ worker: WorkerID) {
            members[worker]?.endsByOrder = true
            members[worker]?.sender.finish()
        }
    }

    private let state = Mutex(State())

    /// - Throws: ``WorkerVersionError`` if the workers before had other versions.
    func admit(_ versions: [String: String]) throws(WorkerVersionError) {
        let difference = state.withLock { $0.versions.difference(of: versions) }
        if let difference { throw difference }
    }

    /// A number for the next process; nil if the slot gets no more processes.
    func enlist(in slot: SlotID) -> WorkerID? {
        state.withLock { state in
            guard !state.isDismissed, !state.retired.contains(slot) else { return nil }
            state.last += 1
            return WorkerID(state.last, slot: slot)
        }
    }

    /// A process that gets orders from now on.
    ///
    /// - Parameter scratch: the folder of canvases and tiles that it may read.
    func add(_ worker: WorkerID, processID: pid_t, _ sender: OrderSender, scratch: String?) {
        state.withLock { state in
            state.members[worker] = Member(processID: processID, sender: sender, scratch: scratch)
            if state.isDismissed || state.retired.contains(worker.slot) { state.letGo(worker) }
        }
    }

    /// After this, nothing is sent to the process, because its identifier may belong to another one.
    func remove(_ worker: WorkerID) { state.withLock { _ = $0.members.removeValue(forKey: worker) } }

    /// Each order has a number of its own. A worker does each number once, so a repeated message does no harm. A lease may
    /// be sent again if an earlier result of it is damaged.
    ///
    /// A process that was started before the run had its folder of tiles cannot read them. It is ended, and the next process of the
    /// worker gets the order.
    ///
    /// - Parameter scratch: the folder of canvases and tiles. Nil if every process can read it.
    func start(_ lease: Lease, scratch: String?) {
        state.withLock { state in
            guard var member = state.members[lease.worker] else { return }
            guard !lease.spec.readsScratch || scratch == nil || scratch == member.scratch else {
                state.waiting[lease.worker] = lease
                state.members[lease.worker]?.endsByOrder = true
                // It has nothing to do. Somebody may have stopped it, so it is not waited for.
                return ProcessGroup.end(member.processID)
            }
            member.lease = lease.id
            member.orders += 1
            state.members[lease.worker] = member
            member.sender.send(
                LeaseID(member.orders), lease.spec, pixelBytes: lease.pixelBytes,
                timeLimit: lease.timeLimit == .zero ? nil : lease.timeLimit)
        }
    }

    /// Takes the order that waits for the worker's next process. Nil if none does, or if the worker was told to end meanwhile.
    func orderWithoutWorker(_ worker: WorkerID) -> Lease? {
        state.withLock { state in
            let order = state.waiting.removeValue(forKey: worker)
            return state.isDismissed || state.retired.contains(worker.slot) ? nil : order
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
            state.waiting[worker] = nil
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

    /// False for signs that a worker may send at any time.
    var answersSomething: Bool {
        switch self {
        case .ready, .alive, .worn: false
        case .inPlugins, .finished, .failed: true
        }
    }
}
