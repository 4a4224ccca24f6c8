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
    /// Entries of `inputs` may match nothing, and disks of pictures may be missing.
    var allowsEmpty = false
    /// An entry that matches nothing is no loss in later runs either. A watch alone does not say so.
    var acceptsEmpty = false
    /// Pictures and outputs that are gone since the last run were removed.
    var allowsGone = false
    /// Known troubles count as failures too.
    var isStrict = false
    var orphans = Orphans.listed
    var deadline: Deadline?
    var reports = RunReports()
    /// The command that takes options, where this one goes on with a run that another one began.
    var beginner: String?
    /// Where earlier runs are remembered, if this one is not: what they published is not lost unseen.
    var ownState: String?
    /// For whoever goes on with the run when it is killed.
    var request: RunRequest?
    /// Of this command and no other.
    let command = RunName.new()
    /// Further arguments of `sbatch`.
    var slurmArguments: [String] = []
    var sharing = Sharing.none

    /// How a run goes on without the process that began it.
    enum Sharing: Hashable {
        /// Not at all.
        case none
        /// It is handed to a cluster.
        case detached
        /// It is written down as so many shards, in this place, for whoever does them.
        case prepared(shards: Int, place: String)
        /// It was begun before, and is gone on with.
        case resumed(SharedRun, asJob: Bool)

        var isResumed: Bool { if case .resumed = self { true } else { false } }
    }
}
