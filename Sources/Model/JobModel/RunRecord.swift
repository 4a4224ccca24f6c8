/// One run of a job, as it is stored: in a row of the database, in `run.json` of a run's folder, and in `ended/`.
package struct RunRecord: Hashable, Sendable {
    /// Where a run stands. The lock in its folder tells whether its coordinator lives, and a file there whether it is paused.
    ///
    ///     running ─► ended
    ///
    /// A coordinator that was killed leaves it running: the next one has it with a higher epoch.
    package enum State: Hashable, Sendable {
        case running
        case ended(End)

        package static func ended(at time: Int64, exitCode: Int, reason: String?) -> State {
            .ended(End(time: time, exitCode: exitCode, reason: reason))
        }

        package var isEnded: Bool { if case .ended = self { true } else { false } }
    }

    /// What a run came to.
    package struct End: Hashable, Sendable {
        package var time: Int64
        /// ``RunOutcome/number``
        package var exitCode: Int
        /// Nil when the plan was done to its end.
        package var reason: String?
        /// The frames that failed, the first thousands of them; nil in the database, and where nobody counted them.
        package var failures: [Failure]?
        /// Whether more have failed.
        package var hasMoreFailures: Bool?

        package init(
            time: Int64, exitCode: Int, reason: String?, failures: [Failure]? = nil, hasMoreFailures: Bool? = nil
        ) {
            self.time = time
            self.exitCode = exitCode
            self.reason = reason
            self.failures = failures
            self.hasMoreFailures = hasMoreFailures
        }
    }

    /// A frame that failed.
    package struct Failure: Hashable, Sendable, Codable {
        package var input: String
        package var outputs: [String]
        package var cause: String
        package var message: String

        package init(input: String, outputs: [String], cause: String, message: String) {
            self.input = input
            self.outputs = outputs
            self.cause = cause
            self.message = message
        }
    }

    package var id = RunID.unknown
    /// Of its folder below the state's.
    package var name: String
    package var job: String
    package var manifest: String
    /// How many coordinators have had it.
    package var epoch: Int
    package var state: State
    /// Nanoseconds since 1970, as all times here.
    package var started: Int64
    package var workers: Int
    /// What was asked for, as JSON.
    package var request: String
    package var counts: RunCounts
    /// With the workers, how pictures are divided follows from it; 0 in the database, which does not have it.
    package var memory: Int
    /// What all runs of one command have in common, and no others. Only run folders have it.
    package var command: String?
    /// The disks of the outputs when the run was prepared; nil in the database, and in what older versions wrote.
    package var disks: RecordedDisks?

    package init(
        id: RunID = .unknown, name: String, job: String, manifest: String, epoch: Int = 1, state: State = .running,
        started: Int64, workers: Int, memory: Int = 0, request: String, counts: RunCounts, command: String? = nil
    ) {
        self.id = id
        self.name = name
        self.job = job
        self.manifest = manifest
        self.epoch = epoch
        self.state = state
        self.started = started
        self.workers = workers
        self.memory = memory
        self.request = request
        self.counts = counts
        self.command = command
    }
}

/// One of the runs in the database.
package struct RunID: Hashable, Sendable {
    package let number: Int64

    package init(number: Int64) { self.number = number }

    /// Of a run that the database does not know.
    package static let unknown = RunID(number: 0)
}

/// On which disks the folders of a run's outputs were when it was prepared. Hours may lie between that and the work: a disk
/// that is not mounted any more would be written to from below.
package struct RecordedDisks: Hashable, Sendable, Codable {
    package struct Folder: Hashable, Sendable, Codable {
        package let path: String
        package let mount: String
        package let disk: String?

        package init(path: String, mount: String, disk: String?) {
            self.path = path
            self.mount = mount
            self.disk = disk
        }
    }

    /// Other machines may mount the same disks elsewhere.
    package let host: String
    package let folders: [Folder]

    package init(host: String, folders: [Folder]) {
        self.host = host
        self.folders = folders
    }
}
