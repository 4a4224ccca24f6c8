/// Tells when the coordinator itself did not listen: it was stopped, its machine slept, a disk held it up.
///
/// Workers are not to blame for that time. Whoever sees a gap tells the scheduler of it by ``Event/stalled(_:)`` before
/// anything else, and all that would have fallen due falls due so much later.
package struct StallWatch: Sendable {
    /// Something happens every tenth of a second, if only a tick; twenty of them do not get lost on a busy machine.
    package static let longestPause = Duration.seconds(2)

    private var last: Timestamp

    package init(since start: Timestamp = .start) { last = start }

    /// How long nothing happened before this, when that was too long.
    package mutating func gap(at now: Timestamp) -> Duration? {
        let pause = now.elapsed - last.elapsed
        last = now
        return pause > Self.longestPause ? pause : nil
    }
}
