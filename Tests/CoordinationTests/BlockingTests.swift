import Coordination
import Dispatch
import SafeFiles
import Synchronization
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

    /// A program that ends as soon as it has the value must not leave a database open, for example.
    @Test func `what the call held is released before its value is there`() async {
        for _ in 0..<200 {
            let count = Mutex(0)
            await Self.useHeld { count.withLock { $0 += 1 } }
            #expect(count.withLock { $0 } == 1)
        }
    }

    private static func useHeld(atEnd: @escaping @Sendable () -> Void) async {
        let held = Held(atEnd: atEnd)
        await Blocking.run { [held] in extendLifetime(held) }
    }

    private final class Held: Sendable {
        let atEnd: @Sendable () -> Void
        init(atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }
        deinit { atEnd() }
    }
}
