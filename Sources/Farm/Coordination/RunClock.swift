/// What time it is for a run, and how the run waits. The system's clock, or one that a test turns by hand.
package struct RunClock: Sendable {
    private let read: @Sendable () -> ContinuousClock.Instant
    private let wait: @Sendable (Duration) async throws -> Void

    /// - Parameter wait: throws when its task is cancelled.
    package init(
        now: @escaping @Sendable () -> ContinuousClock.Instant,
        wait: @escaping @Sendable (Duration) async throws -> Void
    ) {
        read = now
        self.wait = wait
    }

    package static let system = RunClock {
        ContinuousClock.now
    } wait: {
        try await Task.sleep(for: $0)
    }

    package var now: ContinuousClock.Instant { read() }

    package func sleep(for duration: Duration) async throws { try await wait(duration) }
}
