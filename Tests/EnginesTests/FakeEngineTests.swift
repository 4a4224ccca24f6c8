import Engines
import FarmTestSupport
import JobModel
import Scheduling
import Synchronization
import Testing
import WorkerProtocol

/// The fake engine keeps the contract of real ones, so that tests with it are meaningful.
@Suite struct FakeEngineTests {
    private final class Subject: EngineUnderTest {
        private let engine = FakeEngine { lease in
            guard case .compare(let task) = lease.spec, task.files.isEmpty else { return .silence }
            return .done(.compare([]))
        }

        func makeEngine() -> any Engine { engine }
        func quickTask() -> TaskSpec { .compare(DigestTask(files: [])) }
        func endlessTask() -> TaskSpec { .compare(DigestTask(files: [DigestTask.File(path: "/endless")])) }
        func killWorkers() { for worker in engine.workers { engine.kill(worker) } }
        func living() -> [String] { engine.workers.map { "worker \($0.number)" } }
    }

    @Test(arguments: EngineContract.allCases) func `the fake engine keeps the contract`(check: EngineContract)
        async throws
    {
        try await check(Subject())
    }
}

/// The contract finds engines that violate it.
@Suite struct EngineContractTests {
    private enum Fault: CaseIterable, CustomTestStringConvertible {
        case answersTwice
        case answersWrongly
        case staysAfterKill
        case speaksAfterLoss
        case speaksAfterItsEnd

        var check: EngineContract {
            switch self {
            case .answersTwice, .answersWrongly, .speaksAfterItsEnd: .doesATask
            case .staysAfterKill, .speaksAfterLoss: .kills
            }
        }

        var testDescription: String { "\(self)" }
    }

    /// An engine with one worker, and with a fault.
    private struct Faulty: Engine, EngineUnderTest {
        let fault: Fault

        func makeEngine() -> any Engine { self }
        func quickTask() -> TaskSpec { .compare(DigestTask(files: [])) }
        func endlessTask() -> TaskSpec { .compare(DigestTask(files: [DigestTask.File(path: "/endless")])) }
        func killWorkers() {}
        func living() -> [String] { [] }

        func run(_ commands: AsyncStream<EngineCommand>, onEvent: @escaping @Sendable (Event) -> Void) async {
            var worker = WorkerID(1)
            onEvent(.workerReady(worker))
            for await command in commands {
                switch command {
                case .start(let lease) where lease.spec == quickTask():
                    let receipt = fault == .answersWrongly ? TaskReceipt.check : .compare([])
                    for _ in 0..<(fault == .answersTwice ? 2 : 1) {
                        onEvent(.report(worker, .finished(lease.id, receipt)))
                    }
                case .kill:
                    onEvent(.workerLost(worker, Death(.byOrder)))
                    if fault == .speaksAfterLoss { onEvent(.report(worker, .alive)) }
                    let next = fault == .staysAfterKill ? SlotID(7) : SlotID(1)
                    worker = WorkerID(worker.number + 1, slot: next)
                    onEvent(.workerReady(worker))
                default: break
                }
            }
            if fault == .speaksAfterItsEnd { onEvent(.report(WorkerID(9), .alive)) }
        }
    }

    @Test(arguments: Fault.allCases) private func `an engine with a fault does not pass`(fault: Fault) async {
        await #expect(throws: Breach.self) { try await fault.check(Faulty(fault: fault)) }
    }
}
