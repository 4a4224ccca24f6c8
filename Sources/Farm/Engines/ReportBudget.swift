package import Scheduling

/// How much one worker may send. A worker that floods its coordinator must not cost it memory or a core.
///
/// It is a value that gets the time, so that its limits can be tested.
package struct ReportBudget: Sendable {
    /// The number of reports at once that answer nothing: signs of life, and repetitions. While the coordinator is stopped,
    /// some 2,700 signs of life collect in the pipe.
    package static let burst = 10_000
    /// The number of such reports that a second adds. A worker sends one sign of life each second.
    package static let perSecond = 100
    /// The bytes of reports that answer nothing, in the life of a worker.
    package static let mostBytes = 64 << 20

    private var left = Double(burst)
    private var latest = Timestamp.start
    private var bytes = 0

    package init() {}

    /// Counts a report that answers nothing.
    ///
    /// - Returns: why the worker is ended. Nil if it may continue.
    package mutating func objection(toNeedless size: Int, at now: Timestamp) -> String? {
        left = min(Double(Self.burst), left + (now.elapsed - latest.elapsed) / .seconds(1) * Double(Self.perSecond))
        latest = now
        left -= 1
        bytes += size
        if left < 0 { return "more than \(Self.burst) reports that answer nothing" }
        return bytes > Self.mostBytes ? "more than \(Self.mostBytes >> 20) MiB of reports that answer nothing" : nil
    }
}

/// Slows the reading of a pipe to a number of units a second. The pipe fills, and its writer waits.
package struct ReadingPace: Sendable {
    private let most: Int
    private var begin = Timestamp.start
    private var count = 0

    package init(perSecond most: Int) { self.most = most }

    /// - Returns: how long the reader waits before it reads more. Nil if it may read at once.
    package mutating func pause(after units: Int, at now: Timestamp) -> Duration? {
        if now.elapsed - begin.elapsed >= .seconds(1) { (begin, count) = (now, 0) }
        count += units
        return count > most ? begin.elapsed + .seconds(1) - now.elapsed : nil
    }
}
