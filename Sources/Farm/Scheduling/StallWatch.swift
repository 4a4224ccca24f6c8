/// Detects times in which the coordinator itself did not listen: it was stopped, its machine slept, or a disk blocked
/// it.
///
/// Workers are not to blame for that time. The run loop reports a gap by ``Event/stalled(_:)`` before any other event,
/// and all deadlines move by the gap.
package struct StallWatch: Sendable {
    /// A tick comes every tenth of a second. Even a busy machine does not lose twenty of them.
    package static let longestPause = Duration.seconds(2)

    private var last: Timestamp

    package init(since start: Timestamp = .start) { last = start }

    /// The time since the last event, if it is too long.
    package mutating func gap(at now: Timestamp) -> Duration? {
        let pause = now.elapsed - last.elapsed
        last = now
        return pause > Self.longestPause ? pause : nil
    }
}
