package import Cluster
import Engines
import FoundationEssentials
package import JobModel

/// Slurm, through its commands. Each command has a deadline, because a frozen controller does not answer, and because Slurm
/// looks for a missing configuration for a minute.
package struct SlurmSystem: BatchSystem {
    /// The time limit of a command.
    package var timeout = Duration.seconds(30)
    /// The folder of the commands; nil for `PATH`.
    private let programs: String?

    package init(programs: String? = nil, timeout: Duration = .seconds(30)) {
        self.programs = programs
        self.timeout = timeout
    }

    package static let traits = BatchTraits(
        name: "Slurm", engine: .slurm, listCommand: "squeue --me",
        logName: .job, takesCoordinators: true)

    package func script(of submission: Submission) -> String { submission.slurmScript }

    package func submit(_ submission: Submission, script: String) async throws(BatchError) -> String {
        let output = try await run("sbatch", submission.slurmArguments + [script])
        guard let job = SlurmTables.job(output) else {
            throw .unanswered("sbatch printed no job's number: \(output.prefix(200))")
        }
        return job
    }

    package func query(_ jobs: JobSelection) async throws(BatchError) -> [ArrayElement] {
        let selection: String
        switch jobs {
        case .ids([]): return []
        case .ids(let ids): selection = "--jobs=\(ids.joined(separator: ","))"
        case .named(let name): selection = "--name=\(name)"
        }
        do {
            let columns = "--Format=\(SlurmTables.columns)"
            return SlurmTables.elements(
                try await run("squeue", ["--noheader", "--array", "--states=all", columns, selection]))
        } catch {
            // `squeue` prints this if it knows none of the jobs.
            guard case .refused(let words) = error, words.contains("Invalid job id") else { throw error }
            return []
        }
    }

    package func cancel(_ jobs: JobSelection) async throws(BatchError) {
        switch jobs {
        case .ids(let ids): if !ids.isEmpty { _ = try await run("scancel", ids) }
        case .named(let name): _ = try await run("scancel", ["--name=\(name)"])
        }
    }

    package func describe(withQueues: Bool) async throws(BatchError) -> BatchDescription {
        let text = try await run("scontrol", ["show", "config"])
        var queues: [String]?
        if withQueues {
            queues = try await run("sinfo", ["--noheader", "--format=%R"]).split(whereSeparator: \.isWhitespace)
                .map(String.init)
        }
        // The largest index of an array, plus one.
        return BatchDescription(largestArray: SlurmTables.setting("MaxArraySize", in: text) ?? 1001, queues: queues)
    }

    package func postpone(_ jobs: [String], by pause: Duration) async throws(BatchError) {
        for job in jobs {
            _ = try await run("scontrol", ["update", "JobId=\(job)", "StartTime=now+\(pause.components.seconds)"])
        }
    }

    /// More than a controller prints for all jobs that it can have.
    private static let longestOutput = 1 << 30

    private func run(_ program: String, _ arguments: [String]) async throws(BatchError) -> String {
        let answer: CommandRunner.Answer
        do throws(CommandError) {
            answer = try await CommandRunner(limit: timeout, longestOutput: Self.longestOutput)
                .run(programs.map { "\($0)/\(program)" } ?? program, arguments)
        } catch {
            switch error {
            case .missing:
                throw .missing(
                    "\(program): no such command; '--engine slurm' works where Slurm's commands are, for example on a login node"
                )
            case .tooLate:
                throw .unanswered(
                    "\(program) had no answer from Slurm's controller within \(timeout.components.seconds) s")
            case .tooLong: throw .refused("\(program) printed more than \(Self.longestOutput >> 20) MB")
            case .notRun(let words): throw .unanswered("\(program) cannot be run: \(words)")
            }
        }
        guard answer.isSuccess else { throw Self.error(program, answer.errors) }
        return answer.output
    }

    /// Messages of Slurm's commands that could not reach the controller.
    private static let silences = [
        "Unable to contact", "Socket timed out", "temporarily unable", "Munge encode failed", "Protocol authentication",
        "connect failure", "Zero Bytes were transmitted", "Transport endpoint", "Connection refused",
        "Connection timed out", "Connection reset",
    ]

    /// Parts of the names of limits that `sbatch` prints: `QOSMaxSubmitJobPerUserLimit`, `AssocGrpSubmitJobsLimit`.
    private static let fullness = ["MaxSubmitJob", "GrpSubmitJob"]

    /// - Parameter errors: the standard error of a command.
    package static func error(_ program: String, _ errors: String) -> BatchError {
        let lines = errors.split(separator: "\n").map(String.init)
        // The last line with an error says most. For a wrong option, the first line names it, and the last line refers to
        // the help.
        let line = lines.last { $0.contains("error") } ?? lines.first ?? "it failed without a message"
        let words = line.hasPrefix("\(program): ") ? line : "\(program): \(line)"
        if silences.contains(where: errors.contains) { return .unanswered(words) }
        return fullness.contains(where: errors.contains) ? .full(words) : .refused(words + SlurmHints.remedy(errors))
    }
}

/// The options as words for `sbatch`.
extension ClusterOptions {
    /// For a job that carries out shards.
    package var requests: [String] { placement + needs + (arguments ?? []) }

    /// The queue, the account and the time limit of any job of a run.
    fileprivate var placement: [String] {
        var words = ["--nodes=1", "--ntasks=1"]
        if let partition { words.append("--partition=\(partition)") }
        if let account { words.append("--account=\(account)") }
        if let qos { words.append("--qos=\(qos)") }
        if let time { words.append("--time=\(max(1, Int((time / 60).rounded(.up))))") }
        return words
    }

    /// For a job that resumes the run. It mostly waits for other jobs, for as long as the run lasts.
    fileprivate var ofCoordinator: ClusterOptions {
        var options = self
        (options.time, options.memory, options.cpusPerTask) = (coordinatorTime, coordinatorMemory, 1)
        return options
    }

    /// The cores and memory of a job.
    fileprivate var needs: [String] {
        ["--cpus-per-task=\(cores)"] + (memory.map { ["--mem=\(max(1, $0 >> 20))M"] } ?? [])
    }
}

extension Submission {
    /// The arguments of `sbatch`, without the script.
    package var slurmArguments: [String] {
        let exported = variables.isEmpty ? [] : ["--export=\(variables.joined(separator: ","))"]
        switch job {
        case .array(let array):
            return exported + common(options, output: "%A_%a.out")
                + ["--array=0-\(array.count - 1)%\(options.elementsAtOnce)"] + options.needs + (options.arguments ?? [])
        case .coordinator(let job):
            let turn =
                (job.after.isEmpty ? [] : ["--dependency=afterany:\(job.after.joined(separator: ":"))"])
                + (job.delay > .zero ? ["--begin=now+\(job.delay.components.seconds)"] : [])
            // If an option is repeated, the last one counts. So options for elements do not affect the coordinator.
            return exported + (options.arguments ?? []) + common(options.ofCoordinator, output: "coordinator-%j.out")
                + options.ofCoordinator.needs + turn
        }
    }

    private func common(_ options: ClusterOptions, output: String) -> [String] {
        [
            "--parsable", "--job-name=\(job.name)", "--comment=\(job.name)",
            // In this pattern, a percent sign is written twice.
            "--output=\(logs.replacing("%", with: "%%"))/\(output)", "--open-mode=append", "--requeue",
            "--chdir=\(folder)",
        ] + options.placement
    }

    package var slurmScript: String {
        let command =
            switch job {
            case .array(let array):
                "shard --run \(folder.shellQuoted) --index \"$((SLURM_ARRAY_TASK_ID + \(array.firstShard)))\""
            case .coordinator(let job):
                "resume --run-dir \(job.runFolder.shellQuoted) --engine slurm --as-job"
            }
        return "#!/bin/sh\nexec \(program.shellQuoted) \(command)\n"
    }
}

/// Remedies for messages of Slurm's commands.
package enum SlurmHints {
    private static let advices = [
        ("configuration source", "Slurm's configuration is not found here; 'SLURM_CONF' names its file"),
        ("invalid partition", "name another one with 'partition' under 'slurm'; 'sinfo' lists them"),
        ("Invalid account", "name another one with 'account' under 'slurm'"),
        ("Invalid qos", "name another one with 'qos' under 'slurm'"),
        ("time limit", "set a shorter 'time' or 'coordinator_time' under 'slurm'"),
        ("Memory specification", "request less with 'memory' or 'coordinator_memory' under 'slurm'"),
        (
            "node configuration is not available",
            "no node has the requested resources; request less with 'cpus_per_task', 'memory' or 'arguments' under 'slurm'"
        ),
        ("More processors requested", "request less with 'cpus_per_task' under 'slurm'"),
        ("unrecognized option", "'arguments' under 'slurm' and --slurm-arg are options of sbatch"),
        ("invalid option", "'arguments' under 'slurm' and --slurm-arg are options of sbatch"),
    ]

    /// The message for a missing configuration. Slurm's commands would look for it for a minute.
    package static func missingConfiguration(_ environment: [String: String]) -> String? {
        guard let file = environment["SLURM_CONF"], !file.isEmpty, !FileManager.default.fileExists(atPath: file) else {
            return nil
        }
        return "SLURM_CONF names \(file), which does not exist\n   = name the configuration file of your cluster"
    }

    /// A line of its own; empty if no remedy is known.
    static func remedy(_ errors: String) -> String {
        let words = errors.lowercased()
        return advices.first { words.contains($0.0.lowercased()) }.map { "\n   = \($0.1)" } ?? ""
    }
}

/// Slurm's reasons for not starting a job that do not pass by themselves, with remedies for people. The reasons are listed
/// in `squeue`'s manual.
enum SlurmReasons {
    /// Nil if the job only waits for its turn.
    static func obstacle(_ reason: String, job: String) -> String? {
        switch reason {
        case "PartitionTimeLimit": "it requests more time than its partition allows; set a shorter 'time' under 'slurm'"
        case "PartitionNodeLimit", "PartitionConfig": "its partition takes no such job; name another one by 'partition'"
        case "PartitionDown", "PartitionInactive":
            "its partition starts no jobs now; name another one by 'partition', or wait"
        case "BadConstraints":
            "no node has the requested resources; request less with 'cpus_per_task', 'memory' or 'arguments' under 'slurm'"
        case "JobHeldUser": "it is held; 'scontrol release \(job)' lets it go"
        case "AccountNotAllowed", "InvalidAccount":
            "its account may not use the partition; name another one with 'account'"
        case "QOSNotAllowed", "InvalidQOS": "its quality of service is not allowed; name another one with 'qos'"
        case _ where isOfNodes(reason): "the nodes that it could have are down, drained or reserved"
        case _ where isBeyondLimit(reason): "it requests more than the site allows one job; request less under 'slurm'"
        default: nil
        }
    }

    private static func isOfNodes(_ reason: String) -> Bool {
        let plain = reason.replacing("_", with: " ")
        return plain.hasPrefix("ReqNodeNotAvail") || plain.hasPrefix("Nodes required for job are DOWN")
    }

    /// `QOSMaxWallDurationPerJobLimit`, `AssocMaxCpuPerJobLimit`, `QOSMaxMemoryPerNode`: the end of another job does not
    /// help.
    private static func isBeyondLimit(_ reason: String) -> Bool {
        ["QOS", "Assoc", "Max"].contains { reason.hasPrefix($0) }
            && ["PerJob", "PerNode"].contains { reason.contains($0) }
    }
}
