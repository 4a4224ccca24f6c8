package import JobModel
package import Queueing

/// News of a job that somebody wants to be told of. Outboxes store it as JSON.
///
/// All texts are cut to a bounded length, because names and messages of pictures come from outside.
package struct Notice: Hashable, Sendable, Codable {
    package enum Event: Hashable, Sendable, Codable {
        case ended(End)
        case delayed(Delay)
        case late(Lateness)
    }

    package let job: String
    /// The name of the machine.
    package let host: String
    package let time: WallTime
    /// The command that shows more.
    package let command: String
    package let event: Event

    private static let longestName = 200
    private static let longestCommand = 500

    /// - Parameter command: Nil for the one that shows the run.
    package init(job: String, host: String, time: WallTime, command: String? = nil, event: Event) {
        self.job = job.cut(to: Self.longestName)
        self.host = host.cut(to: Self.longestName)
        self.time = time
        self.event = event
        self.command = (command ?? Self.command(for: event)).cut(to: Self.longestCommand)
    }

    private static func command(for event: Event) -> String {
        if case .ended(let end) = event, let run = end.run { return "penumbra show \(run)" }
        return "penumbra status"
    }

    /// Whether somebody has to look.
    package var isFailure: Bool {
        switch event {
        case .ended(let end): end.outcome.isFailure
        case .delayed, .late: true
        }
    }
}

extension Notice {
    /// The end of a job.
    package struct End: Hashable, Sendable, Codable {
        /// Raw values are words of webhooks.
        package enum Outcome: String, Hashable, Sendable, Codable, CaseIterable {
            case done
            case failed
            /// A deadline came first.
            case workLeft = "work_left"
            /// Trouble stopped it, and nothing continues it.
            case stopped
            case cancelled
            /// A job that it needs did not succeed.
            case skipped

            package var isFailure: Bool {
                switch self {
                case .failed, .stopped, .skipped: true
                case .done, .workLeft, .cancelled: false
                }
            }
        }

        /// The name of the run. Nil if no run began.
        package let run: String?
        package let outcome: Outcome
        package let exitCode: Int
        /// Nil if no frame was looked at.
        package let counts: RunCounts?
        /// Why the job stopped or did not start.
        package let reason: String?
        /// The first failures, a line for each.
        package let failures: [String]
        /// The first kept outputs, a line for each. Nil in notices of older versions.
        package private(set) var kept: [String]?
        /// The first pictures that are still broken, a line for each. Nil in notices of older versions.
        package private(set) var broken: [String]?

        package static let mostFailures = 10
        private static let longestRun = 100
        private static let longestLine = 300
        private static let longestReason = 1000

        package init(
            run: String?, outcome: Outcome, exitCode: Int, counts: RunCounts?, reason: String? = nil,
            failures: [String] = [], kept: [String] = [], broken: [String] = []
        ) {
            self.run = run?.cut(to: Self.longestRun)
            self.outcome = outcome
            self.exitCode = exitCode
            self.counts = counts
            self.reason = reason?.cut(to: Self.longestReason)
            self.failures = failures.prefix(Self.mostFailures).map { $0.cut(to: Self.longestLine) }
            self.kept = Self.named(kept)
            self.broken = Self.named(broken)
        }

        private static func named(_ lines: [String]) -> [String]? {
            lines.isEmpty ? nil : lines.prefix(RunTrouble.mostNamed).map { $0.cut(to: Self.longestLine) }
        }
    }

    /// A job waits for another try, because of something that a person may have to mend.
    package struct Delay: Hashable, Sendable, Codable {
        /// Nil if its process had none.
        package let exitCode: Int?
        package let reason: String
        /// When it is tried again.
        package let next: WallTime

        private static let longestReason = 1000

        package init(exitCode: Int?, reason: String, next: WallTime) {
            self.exitCode = exitCode
            self.reason = reason.cut(to: Self.longestReason)
            self.next = next
        }
    }

    /// A job has not succeeded in time.
    package struct Lateness: Hashable, Sendable, Codable {
        package let expectedBy: WallTime
        /// The rule's time of day, with its zone: `06:00 Europe/Berlin`.
        package let rule: String
        /// Nil if the job never succeeded.
        package let lastSuccess: WallTime?

        package init(expectedBy: WallTime, rule: String, lastSuccess: WallTime?) {
            self.expectedBy = expectedBy
            self.rule = rule.cut(to: 100)
            self.lastSuccess = lastSuccess
        }
    }
}

extension String {
    /// At most so many Unicode scalars. A character can consist of very many of them.
    func cut(to count: Int) -> String { String(String.UnicodeScalarView(unicodeScalars.prefix(count))) }
}
