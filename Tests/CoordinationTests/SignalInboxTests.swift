import Coordination
import Testing

/// Signals for several readers, one after the other and at once.
@Suite struct SignalInboxTests {
    private let inbox = SignalInbox()

    private static let terminate: Int32 = 15

    @Test func `whoever listens hears what came before and what comes`() async {
        #expect(inbox.receive(1) == 1)
        let stream = inbox.stream()
        #expect(inbox.receive(Self.terminate) == 2)
        var heard: [Int32] = []
        for await number in stream {
            heard.append(number)
            if heard.count == 2 { break }
        }
        #expect(heard == [1, Self.terminate])
        #expect(inbox.first == 1)
    }

    /// A watch of weeks has a reader for each of its runs.
    @Test func `a reader that stops is forgotten`() async {
        #expect(inbox.receive(Self.terminate) == 1)
        for _ in 0..<1000 {
            // It leaves the loop, and the stream goes with it.
            for await _ in inbox.stream() { break }
        }
        let cancelled = Task { [inbox] in for await _ in inbox.stream() {} }
        cancelled.cancel()
        await cancelled.value
        #expect(inbox.listeners == 0)
    }

    @Test func `one reader that stops takes nothing from another`() async {
        let stays = inbox.stream()
        let leaves = Task { [inbox] in for await _ in inbox.stream() {} }
        leaves.cancel()
        await leaves.value
        #expect(inbox.receive(Self.terminate) == 1)
        #expect(await stays.first { _ in true } == Self.terminate)
    }
}
