import Coordination
import Dispatch
import SafeFiles
import Testing

@Suite struct BlockingTests {
    @Test func `more calls than there are cores block at once, and tasks go on`() async {
        let gate = DispatchSemaphore(value: 0)
        let count = 40
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { await Blocking.run { gate.wait() } } }
            // A task opens the gate: it would have no thread if the calls took all of them.
            group.addTask { for _ in 0..<count { gate.signal() } }
        }
    }

    @Test func `what the call throws comes out as it is`() async {
        let trouble = FileError(path: "/a", code: 5, action: "lock")
        await #expect(throws: trouble) { try await Blocking.run { () throws(FileError) in throw trouble } }
    }
}
