import Dispatch
import Glibc
import Synchronization

/// SIGINT, SIGTERM and SIGHUP as streams, instead of an end of the process.
final class Signals: Sendable {
    private struct State {
        var received: [Int32] = []
        var listeners: [AsyncStream<Int32>.Continuation] = []
        var sources: [any DispatchSourceSignal] = []
    }

    private let state = Mutex(State())

    init() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in self?.receive(number) }
            source.activate()
            state.withLock { $0.sources.append(source) }
        }
    }

    /// What was received so far and what comes. A new stream each time: cancelling its reader ends a stream.
    var stream: AsyncStream<Int32> {
        let (stream, listener) = AsyncStream.makeStream(of: Int32.self)
        state.withLock { state in
            for number in state.received { listener.yield(number) }
            state.listeners.append(listener)
        }
        return stream
    }

    private func receive(_ number: Int32) {
        state.withLock { state in
            state.received.append(number)
            // Who asks three times is not made to wait: workers see the end of their input and leave, and what they
            // were writing is removed by the next run.
            if state.received.count >= 3 { _exit(128 + number) }
            for listener in state.listeners { listener.yield(number) }
        }
    }
}
