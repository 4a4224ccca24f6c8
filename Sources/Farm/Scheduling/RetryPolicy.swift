/// The history of one task.
package struct AttemptHistory: Hashable, Sendable {
    /// Attempts that were leased, including the running one.
    package var attempts = 0
    /// Worker processes that it brought down: fault signals, hangs, silences, proven out-of-memory kills.
    package var crashes = 0
    /// Bare SIGKILLs from outside. Nobody is blamed for them.
    package var kills = 0
    /// The last kills in a row during which one plugin's code ran. The plugin may have killed its own process.
    package var killsInside: KillsInside?
    /// Failures that a worker reported and survived.
    package var failures = 0

    package struct KillsInside: Hashable, Sendable {
        package let plugin: String
        package var count: Int
    }

    package init() {}

    /// Kills from outside rarely hit the same plugin on the same picture this often in a row.
    private static let limitInside = 3

    /// Apparently the plugin's code sends SIGKILL, or makes the kernel send it.
    var isKilledByPlugin: Bool { (killsInside?.count ?? 0) >= Self.limitInside }

    /// Counts a kill from outside.
    ///
    /// - Parameter plugin: The plugin whose code ran in the worker.
    mutating func noteKill(inside plugin: String?) {
        kills += 1
        let before = killsInside.flatMap { $0.plugin == plugin ? $0.count : nil } ?? 0
        killsInside = plugin.map { KillsInside(plugin: $0, count: before + 1) }
    }
}

/// Decides whether a failed attempt is followed by another.
package struct RetryPolicy: Hashable, Sendable {
    /// Attempts after the first, for failures that may not happen again.
    package let retries: Int
    /// A task that brings down this many processes is quarantined with its picture.
    package let crashLimit = 2
    /// If a machine kills workers this often for one task, it will not stop doing so.
    package let killLimit = 20

    package init(retries: Int) { self.retries = retries }

    package enum Decision: Hashable, Sendable {
        case retry(after: Duration)
        case abandon
    }

    /// - Parameter jitter: 0–1, so that tasks that failed together are not retried together.
    package func decision(after history: AttemptHistory, jitter: Double) -> Decision {
        if history.crashes >= min(crashLimit, retries + 1) || history.kills >= killLimit
            || history.isKilledByPlugin || history.failures > retries
        {
            return .abandon
        }
        return .retry(after: delay(after: history.crashes + history.failures, jitter: jitter))
    }

    /// Doubles from 100 ms up to 10 s, minus up to half by jitter. After a kill from outside there is no delay.
    private func delay(after faults: Int, jitter: Double) -> Duration {
        guard faults > 0 else { return .zero }
        let full = min(10.0, 0.1 * Double(1 << min(faults - 1, 10)))
        return .seconds(full * (1 - jitter / 2))
    }
}
