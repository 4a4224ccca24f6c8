import Synchronization

/// The signals that a process was sent, for everybody who wants to know of them.
package final class SignalInbox: Sendable {
    private struct State {
        var received: [Int32] = []
        var listeners: [Int: AsyncStream<Int32>.Continuation] = [:]
        var latest = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// What was received first; nil for nothing.
    package var first: Int32? { state.withLock { $0.received.first } }

    /// How many streams have a reader.
    package var listeners: Int { state.withLock { $0.listeners.count } }

    /// What was received so far and what comes. A new stream each time: cancelling its reader ends a stream.
    package func stream() -> AsyncStream<Int32> {
        let (stream, listener) = AsyncStream.makeStream(of: Int32.self)
        let key = state.withLock { state in
            for number in state.received { listener.yield(number) }
            state.latest += 1
            state.listeners[state.latest] = listener
            return state.latest
        }
        // It forgets who has stopped listening, as a command that runs for weeks has many.
        listener.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: key) }
        }
        return stream
    }

    /// - Returns: how many were received by now.
    package func receive(_ number: Int32) -> Int {
        let (count, listeners) = state.withLock { state in
            state.received.append(number)
            return (state.received.count, Array(state.listeners.values))
        }
        for listener in listeners { listener.yield(number) }
        return count
    }
}
