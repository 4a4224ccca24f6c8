import Coordination
import JobModel
import Planning
package import Runs
import Settings

/// What all parts of a run share: its request, and what carries it out.
package struct RunContext {
    package let preparation: JobPreparation
    package let listener: any RunListener
    package let request: RunRequest
    package let memory: Memory
    var sharing = RunSharing.none
    var reports = RunReports()
    /// Nil unless the jobs are watched.
    var watch: WatchMemory?
    /// The command that takes options, if another one began the run.
    var originalCommand: String?
    /// Where earlier runs are remembered, if this one is not: what they published is not lost unseen.
    var ownState: String?
    /// Of this command and no other.
    let command = RunName.new()

    /// What stays of a run.
    package enum Memory: Hashable, Sendable {
        /// Outputs alone: the job has no manifest, and several runs of it may go on at once.
        case none
        /// The job's outputs are remembered. One run of a job goes on at a time.
        case outputs
        /// The run is stored, too, with its request as JSON. Another process can resume it.
        case run(request: String)
    }

    package init(
        _ request: RunRequest, _ preparation: JobPreparation, _ listener: any RunListener, memory: Memory
    ) {
        self.request = request
        self.preparation = preparation
        self.listener = listener
        self.memory = memory
    }

    var farm: Farm { preparation.installation }
    var control: RunControl { preparation.control }
    var deadline: Deadline? { preparation.deadline }
    /// The folder that holds the database and the runs.
    var state: String { farm.settings.stateFolder.value }
    var folder: String { preparation.folder }

    var remembersOutputs: Bool { memory != .none }
    var isRecorded: Bool { storedRequest != nil }
    var storedRequest: String? { if case .run(let request) = memory { request } else { nil } }
    var isShared: Bool { sharing != .none }

    /// A watch goes on if its inputs are gone for a moment.
    var allowsEmpty: Bool { request.allowsEmpty || request.isWatching }
    /// Only what somebody has to know is reported. What is to be reported once is then remembered as reported.
    var isSilent: Bool { request.isQuiet && !request.printsJSON }

    var missingDiskCheck: MissingDiskCheck {
        MissingDiskCheck(
            allowsEmpty: allowsEmpty, allowsGone: request.allowsGone, folder: folder, originalCommand: originalCommand)
    }

    /// Whether another coordinator continues the run if this process ends.
    func isContinued(_ directory: RunClaim) -> Bool {
        switch sharing {
        case .none, .detached: false
        // There is something to lose where it was prepared before.
        case .prepared: !directory.isNew
        case .resumed: true
        }
    }

    /// If pictures that are known to be broken cannot be passed on, the next coordinator tries them again.
    func passOn(_ kind: RunLog.BrokenPictures, of ledger: Ledger?, to run: RunFolder) {
        if isShared { try? ledger?.shareBroken(kind, to: run.log) }
    }
}

/// How a run goes on without the process that began it.
package enum RunSharing: Hashable, Sendable {
    /// Not at all.
    case none
    /// It is handed to a cluster.
    case detached
    /// It is written down as so many shards, in this folder, for whoever does them.
    case prepared(shards: Int, place: String)
    /// It was begun before. The cluster's job of the run resumes it, or a person.
    case resumed(RunFolder, asJob: Bool)

    var isResumed: Bool { if case .resumed = self { true } else { false } }
    /// A person took it from a cluster's job.
    var isTakenFromJob: Bool { if case .resumed(_, asJob: false) = self { true } else { false } }
    /// It is a cluster's job that resumes it.
    var isResumedByJob: Bool { if case .resumed(_, asJob: true) = self { true } else { false } }
}

extension RunClaim {
    /// No earlier coordinator had the run.
    var isNew: Bool { epoch == 1 }
}
