package import JobModel

/// What runs jobs on a cluster, as the engine sees it: Slurm, or a site's commands. Each is a folder of `BatchSystems`.
package protocol BatchSystem: Sendable {
    var traits: BatchTraits { get }
    /// How long one answer may take.
    var timeout: Duration { get set }

    /// What a job runs, as a shell script. It replaces itself by the program, so that the system's signals reach that.
    func script(of submission: Submission) -> String

    /// - Parameter script: the path of what ``script(of:)`` gave.
    /// - Returns: the job's number.
    func submit(_ submission: Submission, script: String) async throws(BatchError) -> String

    /// The elements that the system still knows, those that ended not long ago too. A job without elements is one with index 0.
    func query(_ jobs: JobSelection) async throws(BatchError) -> [ArrayElement]

    /// Jobs that the system does not know are no error.
    func cancel(_ jobs: JobSelection) async throws(BatchError)

    /// - Parameter withQueues: whether the queues are asked for, too.
    func describe(withQueues: Bool) async throws(BatchError) -> BatchDescription

    /// Jobs that wait begin so much later. Asked only of systems that take coordinators (``BatchTraits/takesCoordinators``).
    func postpone(_ jobs: [String], by pause: Duration) async throws(BatchError)
}

package enum JobSelection: Hashable, Sendable {
    /// Of jobs, or of elements: `12`, `12_3`.
    case ids([String])
    case named(String)
}

package struct BatchDescription: Hashable, Sendable {
    /// The elements that one job array may have. A system without arrays has 1: each shard is a job.
    package let largestArray: Int
    /// Nil where they are not known.
    package let queues: [String]?

    package init(largestArray: Int, queues: [String]? = nil) {
        self.largestArray = largestArray
        self.queues = queues
    }
}

/// What is known of a system without asking it.
package struct BatchTraits: Hashable, Sendable {
    /// As sentences name it: `Slurm`.
    package let name: String
    package let engine: EngineName
    /// Commands that show a person his jobs, and those of some names; nil where none are known.
    package let lists: Lists?
    /// By what the files are named that elements print to.
    package let logName: LogName
    /// Jobs can wait for the end of others, and for a time: so a job can go on with a run as its coordinator.
    package let takesCoordinators: Bool

    package struct Lists: Hashable, Sendable {
        package let own: String
        package let named: String

        package init(own: String, named: String) {
            self.own = own
            self.named = named
        }
    }

    package enum LogName: Hashable, Sendable {
        /// The job's number: `12_3.out`.
        case job
        /// The submission's name: `penumbra-run-1-1_3.out`.
        case submission
    }

    package init(name: String, engine: EngineName, lists: Lists?, logName: LogName, takesCoordinators: Bool) {
        self.name = name
        self.engine = engine
        self.lists = lists
        self.logName = logName
        self.takesCoordinators = takesCoordinators
    }

    /// What to say where jobs could not be cancelled whose names begin with a word.
    func leftover(beginning: String) -> String {
        "jobs of the run may be left in \(name)'s queue,\(lists.map { " as '\($0.own)' tells," } ?? "") with names that begin with "
            + beginning
    }

    /// What to say where jobs could not be cancelled whose names are in a file.
    func leftover(listedIn file: String) -> String {
        "jobs of the run may be left in \(name)'s queue,\(lists.map { " as '\($0.named)' tells" } ?? "") with the names in \(file)"
    }
}

/// Why a system did not do what it was asked for. Each message is a sentence that names the command.
package enum BatchError: Error, Hashable, Sendable {
    /// The system has decided. Another try would be refused alike.
    case refused(String)
    /// The user has as many jobs as the site allows, or would have with this one. That passes.
    case full(String)
    /// Nobody knows whether what was asked for was done: the controller is away, or does not answer.
    case unanswered(String)
    /// There is no such command here.
    case missing(String)

    package var message: String {
        switch self {
        case .refused(let words), .full(let words), .unanswered(let words), .missing(let words): words
        }
    }
}

/// A job with all that a system needs to run it.
package struct Submission: Sendable {
    package let job: ClusterJob
    package let options: ClusterOptions
    /// The path of `penumbra` on the nodes.
    package let program: String
    /// The run's, on the shared file system.
    package let folder: String
    /// The folder of what jobs print.
    package let logs: String
    /// Names of the environment variables that jobs get; none for what the system chooses.
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

    /// Unique: by it a submission is found again whose answer was lost.
    package var name: String {
        switch self {
        case .array(let job): job.name
        case .coordinator(let job): job.name
        }
    }
}

/// A job array: one element a shard.
package struct ArrayJob: Hashable, Sendable {
    package let name: String
    /// The shard of the element with index 0; the others follow.
    package let firstShard: Int
    package let count: Int

    package init(name: String, firstShard: Int, count: Int) {
        self.name = name
        self.firstShard = firstShard
        self.count = count
    }

    package var shards: Range<Int> { firstShard..<(firstShard + count) }

    /// The same shards in two, for a site that takes no more at once. Nil for a single one.
    package var halves: (ArrayJob, ArrayJob)? {
        guard count > 1 else { return nil }
        let half = count / 2
        return (
            ArrayJob(name: "\(name)a", firstShard: firstShard, count: half),
            ArrayJob(name: "\(name)b", firstShard: firstShard + half, count: count - half)
        )
    }
}

/// A job that goes on with a run as its coordinator.
package struct CoordinatorJob: Hashable, Sendable {
    package let name: String
    /// The jobs that have to end first, however they do: a dependency on their success could wait for ever.
    package let after: [String]
    /// The run as `penumbra resume` takes it.
    package let runFolder: String
    /// How long it waits at least.
    package let delay: Duration
    /// How many frames the run had left when it was submitted; nil where nobody knows.
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
    /// As one word of a shell.
    package var shellQuoted: String { "'\(replacing("'", with: #"'\''"#))'" }
}

/// One element of a job array, as the system knows it.
package struct ArrayElement: Hashable, Sendable {
    package let job: String
    package let index: Int
    /// The name of the submission. Numbers are used again when a controller has lost its state; names are not.
    package let submission: String
    package let condition: Condition
    /// Why it waits, in the system's words.
    package let reason: String
    /// What is in its way and does not pass by itself, and what to do, in words for a person. Nil for one that only waits for its
    /// turn.
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
        /// Was begun, and stands still for another job's sake, say.
        case suspended
        /// Waits for somebody who may never come.
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
        /// By what it did, perhaps; in words that follow its name: `left with exit code 3`.
        case failed(String)
        /// From outside; in the same form.
        case stopped(String)
    }

    package var id: String { "\(job)_\(index)" }

    /// As messages name it.
    package var name: String { "element \(id)" + (node.isEmpty ? "" : " on \(node)") }

    /// Why it is not started, for a person who may do something; nil where nobody has to.
    package var pendingWords: String? {
        obstacle.map { "\(name) is not started\(reason.isEmpty ? "" : " (\(reason))"): \($0)" }
    }
}

/// Tells why elements wait for what may never come: of each reason one element.
package struct PendingReasons: Sendable {
    private var told: Set<Substring> = []

    package init() {}

    package mutating func news(of elements: [ArrayElement]) -> [String] {
        elements.compactMap { element in
            guard let words = element.pendingWords else { return nil }
            // What follows a comma changes with every node.
            let kind = (element.reason.isEmpty ? element.obstacle ?? "" : element.reason).prefix { $0 != "," }
            return told.insert(kind).inserted ? words : nil
        }
    }
}
