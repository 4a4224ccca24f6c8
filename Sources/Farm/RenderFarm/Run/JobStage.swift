import Runs
import Coordination
import JobModel

/// How far a job has come in a run, with what exists then.
enum JobStage {
    /// The run has a folder. Locks and plan are missing, or were refused.
    case claimed(RunClaim)
    /// It is locked and planned. Nothing of it has begun.
    case prepared(ClaimedJob)
    /// Its work has begun.
    case running(ClaimedJob)
    /// Another coordinator continues it.
    case handedOver(ClaimedJob)
    /// Its run has ended here, and its end was reported.
    case ended(JobResult)

    var job: ClaimedJob? {
        switch self {
        case .claimed: nil
        case .prepared(let job), .running(let job), .handedOver(let job): job
        case .ended(let result): result.job
        }
    }

    /// Nil unless it has ended here.
    var result: JobResult? { if case .ended(let result) = self { result } else { nil } }
    var isHandedOver: Bool { if case .handedOver = self { true } else { false } }

    /// Leaves the run's folder as its stage demands, at the end of the command.
    func leave(_ context: RunContext) {
        switch self {
        case .claimed(let folder):
            if folder.isNew { Self.remove(folder, context) } else { Self.release(folder, context) }
        case .prepared(let job):
            // An interrupted run that was not resumed stays what it is.
            if job.folder.isNew { remove(job, context) } else { Self.release(job.folder, context) }
        case .running(let job): remove(job, context)
        case .ended(let result): remove(result.job, context)
        case .handedOver(let job): Self.release(job.folder, context)
        }
    }

    private static func release(_ folder: RunClaim, _ context: RunContext) {
        if context.isShared { folder.release() }
    }

    private static func remove(_ folder: RunClaim, _ context: RunContext) {
        // A folder that comes and goes with every run would wake a watch for ever.
        if context.request.isWatching { folder.keepFolders() }
        folder.remove()
    }

    private func remove(_ job: ClaimedJob, _ context: RunContext) {
        guard job.lock?.roots.areInPlace ?? true else {
            if context.request.isWatching { job.folder.keepFolders() }
            return job.folder.leaveToNextRun()
        }
        Self.remove(job.folder, context)
    }
}

/// A prepared job with what keeps others away from it.
struct ClaimedJob {
    var prepared: PreparedJob
    let folder: RunClaim
    /// Nil for jobs without a manifest, of which several may run.
    let lock: JobLock?
    let ledger: Ledger?
    /// Nil where the manifest asks for none.
    let index: IndexFile?

    var name: String { prepared.job.name }
}
