import Glibc
import Synchronization
import WorkerProtocol

/// Lets processes be started one after the other, and each only while there are descriptors for it.
///
/// swift-subprocess (1.0.2) ends this process where it gets one pipe of a new process and not the next.
enum ProcessStart {
    /// Three pipes, the new process, and what the start of the first one leaves open; and as many for other threads, which
    /// open files meanwhile.
    private static let descriptors = 24

    /// Those with which the library starts processes, reads from them and waits for their end, and one more.
    private static let threads = 4

    private static let gate = Gate()

    /// - Parameter body: starts the process, and calls what it gets once the process runs.
    static func one<Result>(
        _ body: (_ hasStarted: @escaping @Sendable () -> Void) async throws -> Result
    ) async throws -> Result {
        await gate.enter()
        let pass = Pass(gate)
        defer { pass.giveBack() }
        try refuseWithoutDescriptors()
        // The library waits for ever for a thread of its own that it could not start.
        if let shortage = Shortage.found(threads: threads, for: "start a process") { throw shortage }
        return try await body { pass.giveBack() }
    }

    static func refuseWithoutDescriptors() throws(Shortage) {
        var open: [Int32] = []
        defer { for file in open { close(file) } }
        while open.count < descriptors {
            let file = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else {
                guard let shortage = Shortage(code: errno, "start a process") else { return }
                throw shortage
            }
            open.append(file)
        }
    }

    /// What one has got who was let in; given back once.
    private final class Pass: Sendable {
        private let gate: Mutex<Gate?>

        init(_ gate: Gate) { self.gate = Mutex(gate) }

        func giveBack() { gate.withLock { $0.take() }?.leave() }
    }

    /// Lets in one after the other, in the order of their coming.
    private final class Gate: Sendable {
        private struct State {
            var isTaken = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let state = Mutex(State())

        func enter() async {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    defer { state.isTaken = true }
                    if state.isTaken { state.waiting.append(continuation) }
                    return !state.isTaken
                }
                if isFree { continuation.resume() }
            }
        }

        func leave() {
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard !state.waiting.isEmpty else {
                    state.isTaken = false
                    return nil
                }
                return state.waiting.removeFirst()
            }
            next?.resume()
        }
    }
}
