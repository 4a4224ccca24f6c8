import ArgumentParser
import Coordination
import Scheduling

/// The exit codes of every command; the README's table explains them.
enum ExitStatus: Int32, Comparable, Sendable {
    case done = 0
    case someFailed = 1
    case workLeft = 3
    case usage = 64
    case badManifest = 65
    case missingInput = 66
    case unavailable = 69
    case badPlace = 74
    case busy = 75
    case hungUp = 129
    case interrupted = 130
    case terminated = 143

    static func < (a: ExitStatus, b: ExitStatus) -> Bool { a.rawValue < b.rawValue }

    /// - Parameter isStrict: whether troubles that are known, and that nobody has to act on, count too.
    init(_ summary: RunSummary, isStrict: Bool = false) {
        switch summary.stop {
        case .interrupted(let signal): self = ExitStatus(rawValue: 128 + signal) ?? .terminated
        case .place: self = .badPlace
        case .engine, .machine, .cluster, .lastSlot: self = .unavailable
        case .pluginFault, .failures: self = .someFailed
        case .deadline: self = .workLeft
        case .cancelled, .superseded: self = .interrupted
        case .detached: self = .done
        case nil where isStrict && !(summary.stillBroken.isEmpty && summary.keptOutputs.isEmpty): self = .someFailed
        case nil: self = summary.failures.isEmpty ? .done : .someFailed
        }
    }

    /// Of what a command threw.
    init(_ error: any Error) {
        switch error {
        case let error as CommandError: self = error.status
        case let exit as ExitCode: self = ExitStatus(rawValue: exit.rawValue) ?? .someFailed
        default: self = .badPlace
        }
    }

    var code: ExitCode { ExitCode(rawValue) }
}

/// An error that has its words and its exit code; printed once, by ``Console``.
struct CommandError: Error {
    let status: ExitStatus
    let message: String
    /// Something is gone that was there in the last run: that is no empty job.
    let isLoss: Bool

    init(_ status: ExitStatus, _ message: String, isLoss: Bool = false) {
        self.status = status
        self.message = message
        self.isLoss = isLoss
    }
}
