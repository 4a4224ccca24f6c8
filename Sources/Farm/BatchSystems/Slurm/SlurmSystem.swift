package import Cluster
import Engines
import JobModel

/// Slurm, by its commands. Each has a deadline of ours: a controller that is frozen answers nobody, and a configuration that is not
/// there is looked for by Slurm for a minute.
package struct SlurmSystem: BatchSystem {
    /// How long a command may take.
    package var patience = Duration.seconds(30)
    /// Where the commands are; nil for `PATH`.
    private let programs: String?

    package init(programs: String? = nil, patience: Duration = .seconds(30)) {
        self.programs = programs
        self.patience = patience
    }

    package var traits: BatchTraits {
        BatchTraits(
            name: "Slurm", engine: .slurm, lists: BatchTraits.Lists(own: "squeue --me", named: "squeue --name"),
            logName: .job, takesCoordinators: true)
    }

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
            // So it says when it knows none of them.
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

    /// More than a controller prints of all jobs that it may have.
    private static let longestOutput = 1 << 30

    private func run(_ program: String, _ arguments: [String]) async throws(BatchError) -> String {
        let answer: CommandRunner.Answer
        do throws(CommandRunner.Failure) {
            answer = try await CommandRunner(limit: patience, longestOutput: Self.longestOutput)
                .run(programs.map { "\($0)/\(program)" } ?? program, arguments)
        } catch {
            switch error {
            case .missing:
                throw .missing(
                    "\(program): no such command; '--engine slurm' works where Slurm's commands are, a login node say")
            case .tooLate:
                throw .unanswered(
                    "\(program) had no answer from Slurm's controller within \(patience.components.seconds) s")
            case .tooLong: throw .refused("\(program) printed more than \(Self.longestOutput >> 20) MB")
            case .notRun(let words): throw .unanswered("\(program) cannot be run: \(words)")
            }
        }
        guard answer.isSuccess else { throw Self.error(program, answer.errors) }
        return answer.output
    }

    /// What Slurm's commands say when they have not reached anybody who could decide.
    private static let silences = [
        "Unable to contact", "Socket timed out", "temporarily unable", "Munge encode failed", "Protocol authentication",
        "connect failure", "Zero Bytes were transmitted", "Transport endpoint", "Connection refused",
        "Connection timed out", "Connection reset",
    ]

    /// In the names of limits as `sbatch` prints them: `QOSMaxSubmitJobPerUserLimit`, `AssocGrpSubmitJobsLimit`.
    private static let fullness = ["MaxSubmitJob", "GrpSubmitJob"]

    /// - Parameter errors: what a command wrote to its standard error.
    package static func error(_ program: String, _ errors: String) -> BatchError {
        let lines = errors.split(separator: "\n").map(String.init)
        // The last line that is an error's says most; of a wrong option the first one tells, and the last where help is.
        let line = lines.last { $0.contains("error") } ?? lines.first ?? "it failed without a word"
        let words = line.hasPrefix("\(program): ") ? line : "\(program): \(line)"
        if silences.contains(where: errors.contains) { return .unanswered(words) }
        return fullness.contains(where: errors.contains) ? .full(words) : .refused(words + SlurmHints.remedy(errors))
    }
}
