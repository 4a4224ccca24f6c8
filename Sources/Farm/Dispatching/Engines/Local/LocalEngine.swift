package import Scheduling
import Synchronization
import WorkerProtocol

/// Runs worker processes on this machine, one a slot. A process that dies is replaced.
package final class LocalEngine: Engine {
    private let command: WorkerCommand
    private let slots: Int
    private let crew = WorkerCrew()

    /// - Parameter slots: how many workers run at once, at least 1.
    package init(command: WorkerCommand, slots: Int) {
        self.command = command
        self.slots = max(1, slots)
    }

    package func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<slots {
                group.addTask { await self.keepSlotFilled(onEvent) }
            }
            for await command in commands { carryOut(command) }
            crew.dismiss()
            await group.waitForAll()
        }
    }

    private func keepSlotFilled(_ onEvent: @escaping @Sendable (Event) -> Void) async {
        while let worker = crew.enlist() {
            let (death, wasReady) = await WorkerProcess(id: worker, command: command, crew: crew, onEvent: onEvent)
                .live()
            crew.remove(worker)
            onEvent(.workerLost(worker, death))
            // One that cannot start would be tried thousands of times a second. (A cancelled pause ends the slot.)
            if !wasReady { try? await Task.sleep(for: .milliseconds(100)) }
        }
    }

    private func carryOut(_ command: EngineCommand) {
        switch command {
        case .start(let lease): crew.send(.start(lease.id, lease.spec), to: lease.worker)
        case .kill(let worker): crew.kill(worker)
        case .recycle(let worker): crew.letGo(worker)
        }
    }
}
