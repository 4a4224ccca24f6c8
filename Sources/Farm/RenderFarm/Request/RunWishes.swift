package import Coordination
package import Runs

/// What a command line asks of a run.
package struct RunWishes {
    package init() {}

    /// Whether the jobs have manifests: then their outputs are remembered, and one run of a job goes on at a time.
    package var remembers = true
    /// Whether it is a run, which is written down and can be gone on with.
    package var isRecorded: Bool { request != nil }
    /// How long to wait for other runs, in seconds.
    package var lockWait = 0.0
    /// Entries of `inputs` may match nothing, and disks of pictures may be missing.
    package var allowsEmpty = false
    /// An entry that matches nothing is no loss in later runs either. A watch alone does not say so.
    package var acceptsEmpty = false
    /// Pictures and outputs that are gone since the last run were removed.
    package var allowsGone = false
    /// Known troubles count as failures too.
    package var isStrict = false
    /// The jobs are repeated until somebody stops them.
    package var isWatching = false
    /// Only what somebody has to know is told. What needs to be told once is then remembered as told.
    package var isSilent = false
    package var orphans = RunRequest.Orphans.listed
    package var deadline: Deadline?
    package var reports = RunReports()
    /// The command that takes options, where this one goes on with a run that another one began.
    package var beginner: String?
    /// Where earlier runs are remembered, if this one is not: what they published is not lost unseen.
    package var ownState: String?
    /// What is stored of the request, as JSON, for who resumes the run; nil for what is no run.
    package var request: String?
    /// Of this command and no other.
    package let command = RunName.new()
    /// Further arguments of `sbatch`.
    package var slurmArguments: [String] = []
    package var sharing = Sharing.none

    /// How a run goes on without the process that began it.
    package enum Sharing: Hashable {
        /// Not at all.
        case none
        /// It is handed to a cluster.
        case detached
        /// It is written down as so many shards, in this place, for whoever does them.
        case prepared(shards: Int, place: String)
        /// It was begun before, and is gone on with.
        case resumed(RunFolder, asJob: Bool)

        var isResumed: Bool { if case .resumed = self { true } else { false } }
    }
}
