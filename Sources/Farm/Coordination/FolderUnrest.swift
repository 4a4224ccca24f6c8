/// Decides when a folder that changes has been quiet for long enough.
///
/// A copy of pictures makes many changes, and one run is enough for all of them. A folder that never becomes quiet gets
/// a run, too. Reads no clock.
package struct FolderUnrest: Sendable {
    package typealias Instant = ContinuousClock.Instant

    /// Later changes than this long after the first one do not delay the run.
    package static let longest = Duration.seconds(30)

    /// There must be no changes for this long.
    package let quiet: Duration
    /// The first and the last change that count.
    private var counted: (first: Instant, last: Instant)?
    /// A change after those that count. The run may come too early for it.
    private var late: Instant?

    package init(quiet: Duration) { self.quiet = quiet }

    /// The same changes, with another time of quiet.
    package func with(quiet: Duration) -> FolderUnrest {
        var other = FolderUnrest(quiet: quiet)
        (other.counted, other.late) = (counted, late)
        return other
    }

    /// When the folder is quiet enough. Nil if it has not changed.
    package var due: Instant? { counted.map { $0.last.advanced(by: quiet) } }

    /// - Returns: whether ``due`` has changed.
    @discardableResult
    package mutating func change(at now: Instant) -> Bool {
        guard let (first, last) = counted else {
            counted = (now, now)
            return true
        }
        guard first.duration(to: now) <= Self.longest else {
            late = now
            return false
        }
        counted = (first, max(last, now))
        return true
    }

    /// Ends the unrest if the folder is quiet enough. A change that did not count begins the next one.
    ///
    /// - Returns: whether it was.
    package mutating func end(at now: Instant) -> Bool {
        guard let due, due <= now else { return false }
        counted = late.map { ($0, $0) }
        late = nil
        return true
    }
}
