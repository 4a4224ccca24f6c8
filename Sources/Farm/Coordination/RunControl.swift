import Glibc
package import Scheduling
import Synchronization

/// What the owner of a request may ask of its runs while they go on. Each request has a value of its own, and each of its runs a
/// ``child()``, which hears what is asked of that run alone, too.
///
/// Pausing begins nothing new. What was begun ends, and is published. A stop ends all runs of the request, those that have not begun
/// too.
public final class RunControl: Sendable {
    /// Who has a run paused. It goes on when nobody has.
    package enum Pauser: Hashable, Sendable {
        case owner
        /// The file `pause` in the run's folder, or a reader of the run's events that is behind.
        case run
    }

    private struct State {
        var stops: [StopReason] = []
        var listeners: [Int: AsyncStream<StopReason>.Continuation] = [:]
        var latest = 0
        var pausers: Set<Pauser> = []
        var workerLimit: Int?
    }

    private let state = Mutex(State())
    private let parent: RunControl?

    public init() { parent = nil }

    private init(of parent: RunControl) { self.parent = parent }

    /// A control of one run: whatever is asked of this one is asked of it, too, but not the other way round.
    package func child() -> RunControl { RunControl(of: self) }

    public var isPaused: Bool { state.withLock { !$0.pausers.isEmpty } || parent?.isPaused == true }

    /// Begins nothing new until ``resume()``.
    public func pause() { pause(for: .owner) }
    public func resume() { resume(for: .owner) }
    package func pause(for pauser: Pauser) { state.withLock { _ = $0.pausers.insert(pauser) } }
    package func resume(for pauser: Pauser) { state.withLock { _ = $0.pausers.remove(pauser) } }

    /// How many workers the run uses at once; nil for as many as it was begun with.
    public var workerLimit: Int? {
        [state.withLock(\.workerLimit), parent?.workerLimit].compactMap(\.self).min()
    }

    /// The run uses at most so many workers from now on, and at least one. Those that are busy end what they do. On a cluster, each
    /// task that is handed out counts as a worker.
    ///
    /// - Parameter count: nil for as many as the run was begun with.
    public func limitWorkers(to count: Int?) { state.withLock { $0.workerLimit = count } }

    /// Ends the runs as `penumbra cancel` does.
    public func cancel() { stop(.cancelled) }

    /// Why the runs were asked to stop; nil if they were not. The first reason counts.
    package var stop: StopReason? { state.withLock { $0.stops.first } ?? parent?.stop }

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
        let leave = sequence(first: self) { $0.parent }.map { $0.add(listener) }
        // A request that goes on for weeks has many readers, one after the other.
        listener.onTermination = { _ in for leave in leave { leave() } }
        return stream
    }

    /// - Returns: ends the listening.
    private func add(_ listener: AsyncStream<StopReason>.Continuation) -> @Sendable () -> Void {
        let key = state.withLock { state in
            for reason in state.stops { listener.yield(reason) }
            state.latest += 1
            state.listeners[state.latest] = listener
            return state.latest
        }
        return { [weak self] in _ = self?.state.withLock { $0.listeners.removeValue(forKey: key) } }
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
