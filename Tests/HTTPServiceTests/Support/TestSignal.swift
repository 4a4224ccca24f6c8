import Dispatch

/// Something that has happened, for threads of scripts, which may block.
final class TestSignal: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func send() { semaphore.signal() }
    func wait() { semaphore.wait() }
}
