import Coordination

/// A prepared job with what keeps others away from it.
struct StartedJob {
    let prepared: PreparedJob
    let directory: RunDirectory
    /// Nil for jobs without a manifest, of which several may run.
    let lock: JobLock?
    let ledger: Ledger?
    /// Nil where the manifest asks for none.
    let index: IndexFile?
    /// Nil for a run that nobody remembers.
    let history: RunHistory?
}
