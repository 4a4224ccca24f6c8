import ArgumentParser
import JobModel

/// The exit codes of every command are the numbers of outcomes; the README's table explains them.
extension RunOutcome {
    var code: ExitCode { ExitCode(rawValue) }

    /// Of what a command threw.
    init(_ error: any Error) {
        switch error {
        case let error as FarmError: self = error.outcome
        case let exit as ExitCode: self = RunOutcome(rawValue: exit.rawValue) ?? .someFailed
        default: self = .storage
        }
    }
}
