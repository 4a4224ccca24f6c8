/// The stored form of a run: a row of the database, `run.json` in the run's folder, or a file in `ended/`.
package struct RunRecord: Hashable, Sendable {
    /// The state of a run. The lock in its folder shows whether its coordinator lives, and a file there whether it is
    /// paused.
    ///
    ///     running ─► ended
    ///
    /// If a coordinator is killed, the state stays `running`. The next coordinator has a higher epoch.
    package enum State: Hashable, Sendable {
        case running
        case ended(End)

        package static func ended(at time: Int64, exitCode: Int, reason: String?) -> State {
            .ended(End(time: time, exitCode: exitCode, reason: reason))
        }

        package var isEnded: Bool { if case .ended = self { true } else { false } }
    }

    /// The end of a run.
    package struct End: Hashable, Sendable {
        package var time: Int64
        /// ``RunOutcome/number``
        package var exitCode: Int
        /// Nil if the plan was completed.
        package var reason: String?
        /// The first few thousand failed frames; nil in the database, and if they were not counted.
        package var failures: [Failure]?
        /// Whether more frames failed.
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
    /// The name of its folder in the state folder.
    package var name: String
    package var job: String
    package var manifest: String
    /// The number of coordinators that have had the run.
    package var epoch: Int
    package var state: State
    /// In nanoseconds since 1970, as all times here.
    package var started: Int64
    package var workers: Int
    /// The request, as JSON.
    package var request: String
    package var counts: RunCounts
    /// Together with the number of workers, it determines how pictures are divided. 0 in the database, which does not store
    /// it.
    package var memory: Int
    /// An identifier that all runs of one command share. Only run folders store it.
    package var command: String?
    /// The disks of the outputs when the run was prepared; nil in the database, and in records of older versions.
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

/// The number of a run in the database.
package struct RunID: Hashable, Sendable {
    package let number: Int64

    package init(number: Int64) { self.number = number }

    /// For a run that the database does not know.
    package static let unknown = RunID(number: 0)
}

/// The disks of a run's output folders when the run was prepared. Hours may pass before the work. If a disk is not mounted
/// any more, outputs would be written below its mount point.
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
