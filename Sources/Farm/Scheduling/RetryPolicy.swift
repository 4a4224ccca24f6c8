/// What one task has gone through so far.
package struct AttemptHistory: Hashable, Sendable {
    /// Attempts that were leased, the running one included.
    package var attempts = 0
    /// Worker processes that it took down: fault signals, hangs, silences, proven out-of-memory kills.
    package var crashes = 0
    /// Bare SIGKILLs from outside; they count against nobody.
    package var kills = 0
    /// The last of them, one after the other, while the code of one plugin ran: it may have killed its own process.
    package var killsInside: KillsInside?
    /// Failures that a worker reported and lived on.
    package var failures = 0

    package struct KillsInside: Hashable, Sendable {
        package let plugin: String
        package var count: Int
    }

    package init() {}

    /// Whoever kills from outside rarely meets one plugin on one picture this often, and no other moment in between.
    private static let limitInside = 3

    /// As it seems: the plugin's code sends SIGKILL, or has the kernel send it.
    var isKilledByPlugin: Bool { (killsInside?.count ?? 0) >= Self.limitInside }

    /// A worker was killed from outside.
    ///
    /// - Parameter plugin: whose code it was in.
    mutating func noteKill(inside plugin: String?) {
        kills += 1
        let before = killsInside.flatMap { $0.plugin == plugin ? $0.count : nil } ?? 0
        killsInside = plugin.map { KillsInside(plugin: $0, count: before + 1) }
    }
}

/// Whether an attempt that came to nothing is followed by another.
package struct RetryPolicy: Hashable, Sendable {
    /// Attempts after the first, for failures that another attempt may not meet.
    package let retries: Int
    /// A task that takes down this many processes is quarantined with its picture.
    package let crashLimit = 2
    /// A machine that kills workers this often for one task will not stop by itself.
    package let killLimit = 20

    package init(retries: Int) { self.retries = retries }

    package enum Decision: Hashable, Sendable {
        case retry(after: Duration)
        case abandon
    }

    /// - Parameter jitter: 0–1, so that tasks which failed together do not come back together.
    package func decision(after history: AttemptHistory, jitter: Double) -> Decision {
        if history.crashes >= min(crashLimit, retries + 1) || history.kills >= killLimit
            || history.isKilledByPlugin || history.failures > retries
        {
            return .abandon
        }
        return .retry(after: delay(after: history.crashes + history.failures, jitter: jitter))
    }

    /// Doubles from 100 ms up to 10 s, less up to half by jitter. A kill from outside waits for nothing.
    private func delay(after faults: Int, jitter: Double) -> Duration {
        guard faults > 0 else { return .zero }
        let full = min(10.0, 0.1 * Double(1 << min(faults - 1, 10)))
        return .seconds(full * (1 - jitter / 2))
    }
}
