import Glibc
package import Scheduling
import Synchronization

/// What the owner of a request may ask of its runs while they go on. Each request has a value of its own.
///
/// Pausing begins nothing new. What was begun ends, and is published. A stop ends all runs of the request, those that have not begun
/// too.
package final class RunControl: Sendable {
    private struct State {
        var stops: [StopReason] = []
        var listeners: [Int: AsyncStream<StopReason>.Continuation] = [:]
        var latest = 0
        var isPaused = false
    }

    private let state = Mutex(State())

    package init() {}

    package var isPaused: Bool { state.withLock { $0.isPaused } }

    package func pause() { state.withLock { $0.isPaused = true } }
    package func resume() { state.withLock { $0.isPaused = false } }

    /// Ends the runs as `penumbra cancel` does.
    package func cancel() { stop(.cancelled) }

    /// Why the runs were asked to stop; nil if they were not. The first reason counts.
    package var stop: StopReason? { state.withLock { $0.stops.first } }

    /// - Returns: how often the runs were asked to stop by now.
    @discardableResult
    package func stop(_ reason: StopReason) -> Int {
        let (count, listeners) = state.withLock { state in
            state.stops.append(reason)
            return (state.stops.count, Array(state.listeners.values))
        }
        for listener in listeners { listener.yield(reason) }
        return count
    }

    /// How many streams of ``stops()`` have a reader.
    package var listeners: Int { state.withLock { $0.listeners.count } }

    /// The stops so far, and those to come. A new stream each time: cancelling its reader ends a stream.
    package func stops() -> AsyncStream<StopReason> {
        let (stream, listener) = AsyncStream.makeStream(of: StopReason.self)
        let key = state.withLock { state in
            for reason in state.stops { listener.yield(reason) }
            state.latest += 1
            state.listeners[state.latest] = listener
            return state.latest
        }
        // A request that goes on for weeks has many readers, one after the other.
        listener.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.listeners.removeValue(forKey: key) }
        }
        return stream
    }

    /// The same as numbers of signals. A stop that no signal asked for counts as SIGINT.
    package func signals() -> AsyncStream<Int32> {
        let stops = stops()
        return AsyncStream { signals in
            let reader = Task {
                for await stop in stops { signals.yield(stop.signal) }
                signals.finish()
            }
            signals.onTermination = { _ in reader.cancel() }
        }
    }
}

extension StopReason {
    fileprivate var signal: Int32 { if case .interrupted(let signal) = self { signal } else { SIGINT } }
}
