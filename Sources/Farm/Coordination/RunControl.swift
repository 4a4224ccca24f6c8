import Glibc
package import Scheduling
import Synchronization

/// Controls the runs of a request while they are active. Each request has a control, and each of its runs a ``child()``,
/// which can be controlled alone.
///
/// A pause begins nothing new. Frames that have begun end, and are published. A stop ends all runs of the request,
/// including those that have not begun.
public final class RunControl: Sendable {
    /// Who pauses a run. The run continues when nobody does.
    package enum Pauser: Hashable, Sendable {
        case owner
        /// The file `pause` in the run's folder, or a slow reader of the run's events.
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

    /// The control of one run. It inherits the requests to this control, but not the other way round.
    package func child() -> RunControl { RunControl(of: self) }

    public var isPaused: Bool { state.withLock { !$0.pausers.isEmpty } || parent?.isPaused == true }

    /// Begins nothing new until ``resume()``.
    public func pause() { pause(for: .owner) }
    public func resume() { resume(for: .owner) }
    package func pause(for pauser: Pauser) { state.withLock { _ = $0.pausers.insert(pauser) } }
    package func resume(for pauser: Pauser) { state.withLock { _ = $0.pausers.remove(pauser) } }

    /// The largest number of workers at a time; nil for the initial number.
    public var workerLimit: Int? {
        [state.withLock(\.workerLimit), parent?.workerLimit].compactMap(\.self).min()
    }

    /// Limits the number of workers that have a task. Busy workers finish their tasks. On a cluster, each task that is
    /// handed out counts as a worker.
    ///
    /// - Parameter count: nil for the initial number. With 0 nothing new begins.
    public func limitWorkers(to count: Int?) { state.withLock { $0.workerLimit = count } }

    /// Ends the runs as `penumbra cancel` does.
    public func cancel() { stop(.cancelled) }

    /// The first reason to stop the runs; nil if there was none.
    package var stop: StopReason? { state.withLock { $0.stops.first } ?? parent?.stop }

    /// - Returns: the number of requests to stop so far.
    @discardableResult
    package func stop(_ reason: StopReason) -> Int {
        let (count, listeners) = state.withLock { state in
            state.stops.append(reason)
            return (state.stops.count, Array(state.listeners.values))
        }
        for listener in listeners { listener.yield(reason) }
        return count
    }

    /// The number of readers of ``stops()``.
    package var listeners: Int { state.withLock { $0.listeners.count } }

    /// All past and future stops. Each call makes a new stream, because cancelling a reader ends its stream.
    package func stops() -> AsyncStream<StopReason> {
        let (stream, listener) = AsyncStream.makeStream(of: StopReason.self)
        let leave = sequence(first: self) { $0.parent }.map { $0.add(listener) }
        // A request that is active for weeks has many readers, one after the other.
        listener.onTermination = { _ in for leave in leave { leave() } }
        return stream
    }

    /// - Returns: a function that removes the listener.
    private func add(_ listener: AsyncStream<StopReason>.Continuation) -> @Sendable () -> Void {
        let key = state.withLock { state in
            for reason in state.stops { listener.yield(reason) }
            state.latest += 1
            state.listeners[state.latest] = listener
            return state.latest
        }
        return { [weak self] in _ = self?.state.withLock { $0.listeners.removeValue(forKey: key) } }
    }

    /// The stops as numbers of signals. A stop without a signal counts as SIGINT.
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
