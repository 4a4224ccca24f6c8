/// How a run, or another request to the farm, ended. Of several outcomes, the largest one counts.
///
/// Databases, `ended/` and metrics store the numbers, and commands exit with them. The numbers never change.
public enum RunOutcome: Int32, Comparable, Hashable, Sendable, CaseIterable {
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

extension RunOutcome {
    /// What happened, in whole sentences.
    package var sentence: String {
        switch self {
        case .done:
            "Everything is done, or was done before. Pictures that failed in an earlier run and have not changed are named, and "
                + "not tried again."
        case .someFailed:
            "Some frames failed. Each is named with its reason, and the others are done. Commands that only look, such as "
                + "'verify', found something wrong."
        case .workLeft: "The time of --deadline was over. The next run renders the rest."
        case .usage: "The command line is wrong. Nothing was started."
        case .badManifest:
            "A manifest, a value of --set or the config file is wrong. Or a report or an index would replace a file that is "
                + "none, or another job's. Nothing was started."
        case .missingInput:
            "A manifest, a picture or a folder of inputs is missing or cannot be read, no file matched, or a disk is not mounted."
        case .unavailable:
            "A component does not work: the worker program, a library, a plugin or a cluster. Or a limit of the machine is "
                + "too low."
        case .storage:
            "Outputs or databases cannot be read or written: the disk is full or read-only, a quota is reached, or a right is "
                + "missing."
        case .busy: "Another run of this job, or a run that writes to its folder, is running."
        case .hungUp: "The signal SIGHUP stopped the command."
        case .interrupted: "Ctrl-C or the signal SIGINT stopped the command, or 'penumbra cancel' ended the run."
        case .killed: "The process of the run was killed. Only 'penumbra wait' exits with this code."
        case .terminated: "The signal SIGTERM stopped the command."
        }
    }

    /// What the user can do, in whole sentences.
    package var remedy: String {
        switch self {
        case .done: "There is nothing to do, unless broken pictures are named."
        case .someFailed:
            "Fix the named pictures, or add them to 'exclude'. The next run does not try unchanged broken pictures again."
        case .workLeft: "There is nothing to do, as long as each run leaves fewer frames."
        case .usage: "Correct the command line. 'penumbra help COMMAND' shows the options."
        case .badManifest:
            "Correct what the message names. 'penumbra check' and 'penumbra plan' show problems in advance."
        case .missingInput:
            "Mount the disk, or correct the path. If the pictures were removed on purpose, use --allow-gone. If it is "
                + "normal that nothing matches, use --allow-empty."
        case .unavailable: "Run 'penumbra doctor'. If a limit is too low, raise it, or use fewer workers."
        case .storage: "Do what the message says, such as freeing space. Then run the job again."
        case .busy: "Wait for the other run to end. '--lock-wait 5m' waits for it."
        case .hungUp, .interrupted, .terminated: "Run the job again. It continues with the frames that are left."
        case .killed: "Run 'penumbra resume'."
        }
    }
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
    /// The place in a manifest that the request contradicts.
    package let place: Place?

    /// A place in a manifest, and the parts of a message about it.
    package struct Place: Hashable, Sendable {
        /// The manifest as messages show it.
        package let manifest: String
        /// Counted from 1. Nil if the value is not from the manifest.
        package let line: Int?
        package let message: String
        package let remedy: String

        package init(manifest: String, line: Int?, message: String, remedy: String) {
            self.manifest = manifest
            self.line = line
            self.message = message
            self.remedy = remedy
        }
    }

    package init(_ outcome: RunOutcome, _ message: String, isLoss: Bool = false, isReported: Bool = false) {
        self.isReported = isReported
        self.outcome = outcome
        self.message = message
        self.isLoss = isLoss
        place = nil
    }

    /// An error that a place in a manifest explains.
    package init(_ outcome: RunOutcome, at place: Place, isLoss: Bool) {
        isReported = false
        self.outcome = outcome
        message = "\(place.manifest): error: \(place.message)\n   = \(place.remedy)"
        self.isLoss = isLoss
        self.place = place
    }
}
