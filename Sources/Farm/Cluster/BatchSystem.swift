package import JobModel

/// A system that runs jobs on a cluster: Slurm, or a site's commands. Each system is a folder of `BatchSystems`.
package protocol BatchSystem: Sendable {
    static var traits: BatchTraits { get }
    /// The time limit of one answer.
    var timeout: Duration { get set }

    /// The shell script of a job. It replaces itself by the program, so that the system's signals reach the program.
    func script(of submission: Submission) -> String

    /// - Parameter script: the path of the file with the text of ``script(of:)``.
    /// - Returns: the job's number.
    func submit(_ submission: Submission, script: String) async throws(BatchError) -> String

    /// The elements that the system still knows, including those that ended recently. A job without elements counts as one
    /// with index 0.
    func query(_ jobs: JobSelection) async throws(BatchError) -> [ArrayElement]

    /// Jobs that the system does not know cause no error.
    func cancel(_ jobs: JobSelection) async throws(BatchError)

    /// - Parameter withQueues: whether the queues are listed, too.
    func describe(withQueues: Bool) async throws(BatchError) -> BatchDescription

    /// Delays the start of waiting jobs. Only for systems that take coordinators (``BatchTraits/takesCoordinators``).
    func postpone(_ jobs: [String], by pause: Duration) async throws(BatchError)
}

extension BatchSystem {
    package var traits: BatchTraits { Self.traits }
}

package enum JobSelection: Hashable, Sendable {
    /// The ids of jobs or elements: `12`, `12_3`.
    case ids([String])
    case named(String)
}

package struct BatchDescription: Hashable, Sendable {
    /// The largest number of elements in one job array. A system without arrays has 1, so that each shard is a job.
    package let largestArray: Int
    /// Nil if they are not known.
    package let queues: [String]?

    package init(largestArray: Int, queues: [String]? = nil) {
        self.largestArray = largestArray
        self.queues = queues
    }
}

/// The properties of a system that are known without asking it.
package struct BatchTraits: Hashable, Sendable {
    /// The name in messages: `Slurm`.
    package let name: String
    package let engine: EngineName
    /// The command that lists a user's jobs; nil if none is known.
    package let listCommand: String?
    /// How the log files of elements are named.
    package let logName: LogName
    /// Whether jobs can wait for the end of other jobs and for a time. Then a job can resume a run as its coordinator, and the
    /// engine takes detached runs.
    package let takesCoordinators: Bool

    package enum LogName: Hashable, Sendable {
        /// The job's number: `12_3.out`.
        case job
        /// The submission's name: `penumbra-run-1-1_3.out`.
        case submission
    }

    package init(name: String, engine: EngineName, listCommand: String?, logName: LogName, takesCoordinators: Bool) {
        self.name = name
        self.engine = engine
        self.listCommand = listCommand
        self.logName = logName
        self.takesCoordinators = takesCoordinators
    }

    /// The message if jobs with a prefix could not be cancelled.
    func leftover(beginning: String) -> String {
        "jobs of the run may be left in \(name)'s queue,\(listCommand.map { " as '\($0)' tells," } ?? "") with names that begin with "
            + beginning
    }
}

/// Why a system did not carry out a request. Each message is a sentence that names the command.
package enum BatchError: Error, Hashable, Sendable {
    /// The system has decided. Another attempt would be refused, too.
    case refused(String)
    /// The user has as many jobs as the site allows. This passes.
    case full(String)
    /// The controller is away or does not answer. Whether the request had an effect is unknown.
    case unanswered(String)
    /// The command does not exist here.
    case missing(String)

    package var message: String {
        switch self {
        case .refused(let words), .full(let words), .unanswered(let words), .missing(let words): words
        }
    }
}

/// A job with everything that a system needs to run it.
package struct Submission: Sendable {
    package let job: ClusterJob
    package let options: ClusterOptions
    /// The path of `penumbra` on the nodes.
    package let program: String
    /// The run's folder on the shared file system.
    package let folder: String
    /// The folder for the output of jobs.
    package let logs: String
    /// The names of the environment variables that jobs get; empty for the system's choice.
    package let variables: [String]

    package init(
        _ job: ClusterJob, options: ClusterOptions, program: String, folder: String, logs: String,
        variables: [String] = []
    ) {
        self.job = job
        self.options = options
        self.program = program
        self.folder = folder
        self.logs = logs
        self.variables = variables
    }
}

package enum ClusterJob: Hashable, Sendable {
    case array(ArrayJob)
    case coordinator(CoordinatorJob)

    /// A unique name. It identifies a submission whose answer was lost.
    package var name: String {
        switch self {
        case .array(let job): job.name
        case .coordinator(let job): job.name
        }
    }
}

/// A job array with one element per shard.
package struct ArrayJob: Hashable, Sendable {
    package let name: String
    /// The shard of the element with index 0. The other elements follow.
    package let firstShard: Int
    package let count: Int

    package init(name: String, firstShard: Int, count: Int) {
        self.name = name
        self.firstShard = firstShard
        self.count = count
    }

    package var shards: Range<Int> { firstShard..<(firstShard + count) }

    /// The two halves of the array, for a site that takes no more at once. Nil for a single shard.
    package var halves: (ArrayJob, ArrayJob)? {
        guard count > 1 else { return nil }
        let half = count / 2
        return (
            ArrayJob(name: "\(name)a", firstShard: firstShard, count: half),
            ArrayJob(name: "\(name)b", firstShard: firstShard + half, count: count - half)
        )
    }
}

/// A job that resumes a run as its coordinator.
package struct CoordinatorJob: Hashable, Sendable {
    package let name: String
    /// The jobs that have to end first. Failed jobs count, too, or the coordinator could wait for ever.
    package let after: [String]
    /// The run's folder, as `penumbra resume` takes it.
    package let runFolder: String
    /// The shortest time before it starts.
    package let delay: Duration
    /// The number of frames that the run had left at the submission; nil if it is not known.
    package let left: Int?

    package init(
        name: String, after: [String], runFolder: String, delay: Duration = .zero, left: Int? = nil
    ) {
        self.name = name
        self.after = after
        self.runFolder = runFolder
        self.delay = delay
        self.left = left
    }
}

extension String {
    /// The text as one word of a shell.
    package var shellQuoted: String { "'\(replacing("'", with: #"'\''"#))'" }
}

/// One element of a job array, as the system reports it.
package struct ArrayElement: Hashable, Sendable {
    package let job: String
    package let index: Int
    /// The name of the submission. A controller that has lost its state reuses numbers, but not names.
    package let submission: String
    package let condition: Condition
    /// The system's reason for waiting.
    package let reason: String
    /// For people: what blocks the element, and what to do. Nil for an element that only waits for its turn.
    package let obstacle: String?
    package let restarts: Int
    package let node: String

    package init(
        job: String, index: Int, of submission: String, _ condition: Condition, reason: String = "",
        obstacle: String? = nil, restarts: Int = 0, node: String = ""
    ) {
        self.job = job
        self.index = index
        self.submission = submission
        self.condition = condition
        self.reason = reason
        self.obstacle = obstacle
        self.restarts = restarts
        self.node = node
    }

    package enum Condition: Hashable, Sendable {
        /// Waits, or will be started again.
        case waiting
        case running
        /// Has begun, and is stopped in favour of another job, for instance.
        case suspended
        /// Waits for a person, who may never come.
        case stuck
        case ended(Ending)

        package var isOver: Bool { if case .ended = self { true } else { false } }
    }

    package enum Ending: Hashable, Sendable {
        case done
        case outOfTime
        case outOfMemory
        case nodeLost
        case cancelled
        case preempted
        /// Perhaps because of its own work. The text follows the element's name: `left with exit code 3`.
        case failed(String)
        /// From outside. The text has the same form.
        case stopped(String)
    }

    package var id: String { "\(job)_\(index)" }

    /// The name in messages.
    package var name: String { "element \(id)" + (node.isEmpty ? "" : " on \(node)") }

    /// For people: why it does not start. Nil if nobody has to act.
    package var pendingWords: String? {
        obstacle.map { "\(name) is not started\(reason.isEmpty ? "" : " (\(reason))"): \($0)" }
    }
}

/// Reports why elements are blocked. Each reason is reported for one element.
package struct PendingReasons: Sendable {
    private var reported: Set<Substring> = []

    package init() {}

    package mutating func new(in elements: [ArrayElement]) -> [String] {
        elements.compactMap { element in
            guard let words = element.pendingWords else { return nil }
            // The text behind a comma changes with every node.
            let kind = (element.reason.isEmpty ? element.obstacle ?? "" : element.reason).prefix { $0 != "," }
            return reported.insert(kind).inserted ? words : nil
        }
    }
}
