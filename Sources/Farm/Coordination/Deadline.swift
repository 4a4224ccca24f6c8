/// When a run has to be over.
package struct Deadline: Hashable, Sendable {
    /// No frame is begun after this.
    package let end: ContinuousClock.Instant
    /// Frames that are being rendered may take so much longer.
    package let grace: Duration

    /// A tenth of the time, and at most half a minute, is for frames that have begun.
    package init(start: ContinuousClock.Instant, allowed: Duration) {
        grace = min(allowed / 10, .seconds(30))
        end = start + allowed - grace
    }

    package var lastEnd: ContinuousClock.Instant { end + grace }

    /// For what has to be known before frames are begun: half of the time that is left.
    package func half(at now: ContinuousClock.Instant) -> Deadline {
        Deadline(start: now, allowed: max(.zero, lastEnd - now) / 2)
    }
}
