package import Coordination
import Synchronization

/// A run's clock that a test moves.
package final class ManualClock: Sendable {
    private struct State {
        var elapsed = Duration.zero
        var latest = 0
        var sleepers: [Int: Sleeper] = [:]
        /// Tests that wait for a sleeper.
        var watchers: [CheckedContinuation<Void, Never>] = []
        var isStopped = false
    }

    private struct Sleeper {
        let end: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private let start = ContinuousClock.now
    private let state = Mutex(State())

    package init() {}

    package var clock: RunClock {
        RunClock {
            self.now
        } wait: {
            try await self.sleep(for: $0)
        }
    }

    package var now: ContinuousClock.Instant { start + state.withLock { $0.elapsed } }

    /// Waits for a sleeper, and then moves the clock. Sleepers whose time has come wake up.
    package func advance(by duration: Duration) async {
        await withCheckedContinuation { watcher in
            let isReady = state.withLock { state in
                let isReady = !state.sleepers.isEmpty || state.isStopped
                if !isReady { state.watchers.append(watcher) }
                return isReady
            }
            if isReady { watcher.resume() }
        }
        let woken = state.withLock { state in
            state.elapsed += duration
            let due = state.sleepers.filter { $0.value.end <= state.elapsed }
            for number in due.keys { state.sleepers[number] = nil }
            return due.values.map(\.continuation)
        }
        for sleeper in woken { sleeper.resume() }
    }

    /// No more sleepers will come, so nobody waits for them.
    package func stop() {
        let watchers = state.withLock { state in
            state.isStopped = true
            defer { state.watchers = [] }
            return state.watchers
        }
        for watcher in watchers { watcher.resume() }
    }

    package var isStopped: Bool { state.withLock { $0.isStopped } }

    private func sleep(for duration: Duration) async throws {
        let number = state.withLock { state in
            state.latest += 1
            return state.latest
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let watchers: [CheckedContinuation<Void, Never>]? = state.withLock { state in
                    guard !Task.isCancelled else { return nil }
                    state.sleepers[number] = Sleeper(end: state.elapsed + duration, continuation: continuation)
                    defer { state.watchers = [] }
                    return state.watchers
                }
                guard let watchers else { return continuation.resume(throwing: CancellationError()) }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }
}
