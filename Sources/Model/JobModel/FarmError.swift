/// How a run, or another request to the farm, ended. Of several outcomes, the largest one counts.
///
/// Databases, `ended/` and metrics store the numbers, and commands exit with them. The numbers never change.
public enum RunOutcome: Int32, Comparable, Hashable, Sendable {
    case done = 0
    case someFailed = 1
    /// The run's deadline came first.
    case workLeft = 3
    /// The request contradicts itself, or does not say enough.
    case usage = 64
    case badManifest = 65
    /// A requested picture, run or other file is missing.
    case missingInput = 66
    /// A plugin, the workers, a cluster, or a limit of the machine failed.
    case unavailable = 69
    /// Files or databases cannot be read or written.
    case storage = 74
    /// Another run holds what this run needs.
    case busy = 75
    case hungUp = 129
    case interrupted = 130
    /// The process of the run was killed.
    case killed = 137
    case terminated = 143

    public var number: Int { Int(rawValue) }

    /// Nil for a number that no version of Penumbra stores.
    package init?(number: Int) { self.init(rawValue: Int32(clamping: number)) }

    public static func < (a: RunOutcome, b: RunOutcome) -> Bool { a.rawValue < b.rawValue }

    /// The outcome of a request that SIGHUP, SIGINT or SIGTERM ended.
    package init(signal: Int32) { self = RunOutcome(rawValue: 128 + signal) ?? .terminated }
}

/// Why the farm did not carry out a request.
public struct FarmError: Error, Hashable {
    public let outcome: RunOutcome
    /// One line that says where and what. Lines that begin with `   = ` may follow, and say what to do.
    public let message: String
    /// Whether files of the last run are missing. A job with lost files does not count as empty.
    package let isLoss: Bool
    /// Whether listeners got the details.
    public let isReported: Bool

    package init(_ outcome: RunOutcome, _ message: String, isLoss: Bool = false, isReported: Bool = false) {
        self.isReported = isReported
        self.outcome = outcome
        self.message = message
        self.isLoss = isLoss
    }
}
