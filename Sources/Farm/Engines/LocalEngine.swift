package import Catalogs
package import Scheduling
import Synchronization
import WorkerProtocol

/// Runs one worker process per slot on this machine, and replaces processes that die.
package final class LocalEngine: Engine {
    package let command: WorkerCommand
    private let workers = WorkerPool()
    private let events = EventRelay()
    /// The slot of the worker that ``introduce()`` started.
    private let firstSlot = Mutex<Task<Void, Never>?>(nil)

    package init(command: WorkerCommand) {
        self.command = command
    }

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
            let process = WorkerProcess(
                id: worker, command: command, workers: workers, introducing: introduction, onEvent: onEvent)
            introduction = nil
            let (death, wasReady) = await process.live()
            workers.remove(worker)
            onEvent(.workerLost(worker, death))
            // A worker that cannot start would be tried thousands of times a second. (A cancelled pause ends the slot.)
            if !wasReady { try? await Task.sleep(for: .milliseconds(100)) }
        }
    }

    private func carryOut(_ command: EngineCommand) {
        switch command {
        case .start(let lease): workers.start(lease.id, lease.spec, on: lease.worker)
        case .widen, .pulse: break
        case .retire(let slot): workers.retire(slot)
        case .kill(let worker): workers.kill(worker)
        case .recycle(let worker): workers.letGo(worker)
        case .handOver: workers.killAll()
        }
    }
}

/// Keeps the events that come before there is a listener.
private final class EventRelay: Sendable {
    private let waiting = EventQueue()
    private let listener = Mutex<(@Sendable (Event) -> Void)?>(nil)

    func post(_ event: Event) {
        listener.withLock { listener in
            if let listener { listener(event) } else { waiting.post(event) }
        }
    }

    /// Gives the listener the waiting events in order, and then every event.
    func connect(_ listener: @escaping @Sendable (Event) -> Void) {
        self.listener.withLock { current in
            while let event = waiting.next() { listener(event) }
            current = listener
        }
    }
}
