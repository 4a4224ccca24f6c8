/// Tells a second wish to stop from the same signal sent twice.
///
/// `timeout` and some service managers send a signal to a process and at once again to its group.
package struct SignalRepeats {
    /// Signals of one kind that arrive within this time count as one.
    package static let window = Duration.milliseconds(300)

    private var last: (signal: Int32, time: ContinuousClock.Instant)?

    package init() {}

    /// - Returns: whether the signal is the last counted one, sent again.
    package mutating func isRepeat(_ signal: Int32, at time: ContinuousClock.Instant) -> Bool {
        if let last, last.signal == signal, time - last.time < Self.window { return true }
        last = (signal, time)
        return false
    }
}
