import HTTPService
import Queueing
import Synchronization

/// A clock that a test moves by hand. Sleepers wake when their time has come.
final class ManualClock: Sendable {
    private struct Sleeper {
        let end: Duration
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Duration.zero
        var sleepers: [Int: Sleeper] = [:]
        var cancelled: Set<Int> = []
        var last = 0
        var watchers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    private let start = WallTime(seconds: 1_800_000_000)

    var clock: ServiceClock {
        ServiceClock(
            now: { self.state.withLock { $0.now } }, wallTime: { self.start + self.state.withLock { $0.now } },
            sleep: { try await self.sleep($0) })
    }

    func advance(by duration: Duration) {
        let woken = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.sorted { $0.end < $1.end }
        }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Returns once so many sleep.
    func sleepers(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.sleepers.count >= count { return true }
                state.watchers.append((count, continuation))
                return false
            }
            if isDone { continuation.resume() }
        }
    }

    private func sleep(_ duration: Duration) async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                begin(id, duration, continuation)
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.cancelled.insert(id)
                return state.sleepers.removeValue(forKey: id)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func begin(_ id: Int, _ duration: Duration, _ continuation: CheckedContinuation<Void, any Error>) {
        enum Start {
            case now
            case cancelled
            case later([CheckedContinuation<Void, Never>])
        }
        let start = state.withLock { state -> Start in
            if state.cancelled.contains(id) { return .cancelled }
            if duration <= .zero { return .now }
            state.sleepers[id] = Sleeper(end: state.now + duration, continuation: continuation)
            let ready = state.watchers.filter { $0.count <= state.sleepers.count }.map(\.continuation)
            state.watchers.removeAll { $0.count <= state.sleepers.count }
            return .later(ready)
        }
        switch start {
        case .now: continuation.resume()
        case .cancelled: continuation.resume(throwing: CancellationError())
        case .later(let watchers): for watcher in watchers { watcher.resume() }
        }
    }
}
