package import Queueing

/// When a message that could not be delivered is tried again.
///
/// The pauses are 15 s, 1 min, 4 min and so on, four times longer each, and at most 6 h. After a day Penumbra gives up:
/// most people have read the job's end elsewhere by then.
package enum RedeliveryPolicy {
    private static let first = Duration.seconds(15)
    private static let longest = Duration.seconds(6 * 3600)
    package static let patience = Duration.seconds(24 * 3600)

    /// The time of the next try. Nil if no further one follows.
    ///
    /// - Parameters:
    ///   - tries: How many tries have failed. At least 1.
    ///   - created: When the message was made.
    ///   - jitter: A random number from 0 to 1. It spreads the messages of many jobs that failed together.
    package static func next(after tries: Int, created: WallTime, now: WallTime, jitter: Double) -> WallTime? {
        let doublings = 2 * min(max(1, tries) - 1, 8)
        let pause = min(longest, first * (1 << doublings))
        let spread = 0.75 + 0.5 * min(max(0, jitter), 1)
        let next = now + .milliseconds(Int64((pause / .milliseconds(1) * spread).rounded()))
        return next - created > patience ? nil : next
    }
}
