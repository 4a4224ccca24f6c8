import Coordination

/// What a command line asks of a run.
struct RunWishes {
    /// What becomes of outputs whose inputs are gone.
    enum Orphans {
        case listed
        /// Removed, unless they are many.
        case removed
        case allRemoved
    }

    /// Whether the jobs have manifests: then their outputs are remembered, and one run of a job goes on at a time.
    var remembers = true
    /// Whether it is a run, which is written down and can be gone on with.
    var isRecorded: Bool { request != nil }
    /// How long to wait for other runs, in seconds.
    var lockWait = 0.0
    var allowsEmpty = false
    /// Known troubles count as failures too.
    var isStrict = false
    var orphans = Orphans.listed
    var deadline: Deadline?
    var reports = RunReports()
    /// For whoever goes on with the run when it is killed.
    var request: RunRequest?
    /// Further arguments of `sbatch`.
    var slurmArguments: [String] = []
}
