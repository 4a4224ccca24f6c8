/// A job as lists, JSON lines and the API show it.
package struct QueueEntry: Hashable, Sendable, Codable {
    package let id: JobID
    package let key: String?
    package let owner: Owner
    /// The name of the owner's token. Nil for another owner, and in the service's own records.
    package let ownerName: String?
    package let name: String
    /// The path of its manifest. An uploaded text has one in its folder, where no file needs to be.
    package let manifest: String
    package let state: JobState.Name
    package let run: String?
    package let tries: Int
    package let priority: Priority
    /// When somebody asked that it run next. Nil if nobody did.
    package let runNext: WallTime?
    package let labels: Labels
    package let after: [Need]
    package let notBefore: WallTime?
    package let retryOf: JobID?
    package let submitted: WallTime
    /// When its last process was started. Nil while it waits, and if it ended without a process.
    package let started: WallTime?
    package let ended: WallTime?
    package let exitCode: Int?
    /// How it ended, in words. Nil before its end.
    package let result: String?
    /// Why frames were kept as they were, with the number of frames. Nil if there are none.
    package let keptByReason: [String: Int]?
    /// How many pictures failed in earlier runs, and were not tried again. Nil if there are none, and before its end.
    package let stillBroken: Int?
    /// Whether its run has been asked to end.
    package let cancelling: Bool?
    /// Whether somebody has paused its run. Only lists and answers about jobs know it, events do not.
    package let paused: Bool?
    /// Nil unless it waits.
    package let position: Int?
    package let waitingFor: WaitReason?

    /// The state, as people see it.
    package var stateWords: String {
        (paused == true ? "paused" : state.rawValue) + (cancelling == true ? ", to be cancelled" : "")
    }

    package init(_ job: Submission, standing: Standing? = nil, isPaused: Bool = false, ownerName: String? = nil) {
        id = job.id
        key = job.key
        owner = job.owner
        self.ownerName = ownerName
        name = job.name
        manifest = job.manifestPath
        state = job.state.name
        run = job.state.run
        tries = job.state.tries
        priority = job.priority
        runNext = job.expedited
        labels = job.labels
        after = job.needs
        notBefore = job.notBefore
        retryOf = job.retryOf
        submitted = job.submitted
        position = standing?.position
        waitingFor = standing?.reason
        let isCancelling = if case .cancel = job.state.request { true } else { false }
        cancelling = isCancelling ? true : nil
        paused = isPaused && job.state.name == .running ? true : nil
        started = job.state.started
        switch job.state {
        case .held, .waiting, .starting, .running:
            (ended, exitCode, result, keptByReason, stillBroken) = (nil, nil, nil, nil, nil)
        case .ended(let end):
            (ended, exitCode, result) = (end.time, end.end.exitCode, end.words)
            keptByReason = end.leftovers.keptByReason.isEmpty ? nil : end.leftovers.keptByReason
            stillBroken = end.leftovers.stillBroken > 0 ? end.leftovers.stillBroken : nil
        }
    }

    /// The names are those of the API.
    private enum CodingKeys: String, CodingKey {
        case id, key, owner, name, manifest, state, run, tries, priority
        case ownerName = "owner_name"
        case runNext = "run_next"
        case labels, after
        case notBefore = "not_before"
        case retryOf = "retry_of"
        case submitted, started, ended
        case exitCode = "exit_code"
        case result, cancelling, paused, position
        case keptByReason = "kept_by_reason"
        case stillBroken = "still_broken"
        case waitingFor = "waiting_for"
    }
}
