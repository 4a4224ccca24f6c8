package import JobStorage
package import SafeFiles
import Scheduling
package import WorkerProtocol

extension FileTrouble {
    /// The limit of this process that was met; nil for troubles of files and disks.
    package var shortage: Shortage? { Shortage(code: code, "\(action) \(path)") }
}

extension StoreProblem {
    /// The limit of this process that was met, as far as one can see now: the database tells of every trouble in its own words.
    package var shortage: Shortage? { isDamaged ? nil : Shortage.found(for: "use \(path)") }
}

extension StopReason {
    /// Why a run stops where a file cannot be had that every frame needs.
    init(_ trouble: FileTrouble) {
        self = trouble.shortage.map { .resourceLimit("\($0)") } ?? .storage(trouble.message)
    }

    init(_ problem: StoreProblem) {
        self = problem.shortage.map { .resourceLimit("\($0)") } ?? .storage(problem.message)
    }
}

extension PublishProblem {
    /// - Parameter trouble: one that no other file would be spared.
    init(_ trouble: FileTrouble) {
        self = trouble.shortage.map { .resourceLimit("\($0)") } ?? .storage(trouble.message)
    }

    init(_ problem: StoreProblem) {
        self = problem.shortage.map { .resourceLimit("\($0)") } ?? .storage(problem.message)
    }
}
