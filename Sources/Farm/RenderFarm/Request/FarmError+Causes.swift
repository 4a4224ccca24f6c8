import Coordination
import Engines
package import JobModel
import JobStorage
import SafeFiles
import WorkerProtocol

extension FarmError {
    /// What callers of the farm see of an error: the only type that crosses the boundary.
    package init(_ error: any Error) {
        switch error {
        case let error as FarmError: self = error
        case let shortage as ResourceLimitError: self.init(.unavailable, "\(shortage)")
        case let problem as StoreProblem: self.init(problem.limitError, or: problem.message)
        case let trouble as FileTrouble: self.init(trouble.limitError, or: trouble.message)
        default: self.init(.storage, "\(error)")
        }
    }

    /// Whether it has words of its own.
    package static func knows(_ error: any Error) -> Bool {
        error is FarmError || error is ResourceLimitError || error is StoreProblem || error is FileTrouble
    }

    private init(_ shortage: ResourceLimitError?, or message: String) {
        self.init(shortage == nil ? .storage : .unavailable, shortage.map { "\($0)" } ?? message)
    }
}

/// With `--allow-empty`, a job without inputs is left out and is no error.
package func allowingEmpty(_ allowed: Bool, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let error as FarmError where allowed && error.outcome == .missingInput && !error.isLoss {
        return
    }
}
