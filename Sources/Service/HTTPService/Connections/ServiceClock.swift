import Glibc
package import Queueing

/// The times of a service. Tests pass in one that they move by hand.
package struct ServiceClock: Sendable {
    /// Never goes back, and counts from any moment.
    package let now: @Sendable () -> Duration
    /// The time of day, for expiries.
    package let wallTime: @Sendable () -> WallTime
    package let sleep: @Sendable (Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> Duration, wallTime: @escaping @Sendable () -> WallTime,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.wallTime = wallTime
        self.sleep = sleep
    }

    package static let system: ServiceClock = {
        let start = ContinuousClock.now
        return ServiceClock(
            now: { ContinuousClock.now - start },
            wallTime: {
                var time = timespec()
                clock_gettime(CLOCK_REALTIME, &time)
                return WallTime(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
            },
            sleep: { try await Task.sleep(for: $0) })
    }()
}
