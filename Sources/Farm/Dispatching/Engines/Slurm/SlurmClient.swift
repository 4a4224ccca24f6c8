import Subprocess
import SystemPackage

/// Slurm's commands. Each has a deadline of ours: a controller that is frozen answers nobody, and a configuration that is not
/// there is looked for by Slurm for a minute.
package struct SlurmClient: Sendable {
    /// How long a command may take.
    package var patience = Duration.seconds(30)
    /// Where the commands are; nil for `PATH`.
    package var programs: String?

    package init(programs: String? = nil, patience: Duration = .seconds(30)) {
        self.programs = programs
        self.patience = patience
    }

    package enum Trouble: Error, Hashable, Sendable {
        /// Slurm has decided. Another try would be refused alike.
        case refused(String)
        /// The user has as many jobs with Slurm as the site allows, or would have with this one. That passes.
        case full(String)
        /// Nobody knows whether what was asked for was done: the controller is away, or does not answer.
        case unanswered(String)
        /// There is no such command here.
        case missing(String)

        package var message: String {
            switch self {
            case .refused(let words), .full(let words), .unanswered(let words): words
            case .missing(let program):
                "\(program): no such command; '--engine slurm' works where Slurm's commands are, a login node say"
            }
        }
    }

    private struct Answer: Sendable {
        let status: TerminationStatus
        let output: String
        let errors: String
    }

    /// - Returns: the job's number.
    package func submit(script file: String, arguments: [String]) async throws(Trouble) -> String {
        let output = try await run("sbatch", arguments + [file])
        guard let job = SlurmTables.job(output) else {
            throw .unanswered("sbatch printed no job's number: \(output.prefix(200))")
        }
        return job
    }

    /// The elements of job arrays that Slurm still knows.
    package func elements(of jobs: [String]) async throws(Trouble) -> [ArrayElement] {
        guard !jobs.isEmpty else { return [] }
        do {
            return SlurmTables.elements(try await queue(["--jobs=\(jobs.joined(separator: ","))"], SlurmTables.columns))
        } catch {
            // So it says when it knows none of them.
            guard case .refused(let words) = error, words.contains("Invalid job id") else { throw error }
            return []
        }
    }

    /// The jobs of a name, those that ended not long ago too.
    package func jobs(named name: String) async throws(Trouble) -> [String] {
        let lines = try await queue(["--name=\(name)"], "ArrayJobID:|,Name:")
        let own = lines.split(separator: "\n").compactMap { line -> String? in
            let fields = line.split(separator: "|")
            return fields.count == 2 && fields[1] == name ? String(fields[0]) : nil
        }
        return Set(own).sorted()
    }

    /// A job of that name waits, or runs.
    package func isQueued(_ name: String) async throws(Trouble) -> Bool {
        let lines = try await run("squeue", ["--noheader", "--name=\(name)", "--Format=Name:"])
        return lines.split(separator: "\n").contains { $0 == name }
    }

    /// A job that waits begins so much later.
    func postpone(_ job: String, by pause: Duration) async throws(Trouble) {
        _ = try await run("scontrol", ["update", "JobId=\(job)", "StartTime=now+\(pause.components.seconds)"])
    }

    private func queue(_ arguments: [String], _ columns: String) async throws(Trouble) -> String {
        try await run("squeue", ["--noheader", "--array", "--states=all", "--Format=\(columns)"] + arguments)
    }

    package func cancel(_ jobs: [String]) async throws(Trouble) {
        if !jobs.isEmpty { _ = try await run("scancel", jobs) }
    }

    package func cancel(named name: String) async throws(Trouble) { _ = try await run("scancel", ["--name=\(name)"]) }

    /// The largest index of an array, plus one.
    package func largestArray() async throws(Trouble) -> Int {
        let text = try await run("scontrol", ["show", "config"])
        return SlurmTables.setting("MaxArraySize", in: text) ?? 1001
    }

    /// The names of all partitions.
    package func partitions() async throws(Trouble) -> [String] {
        try await run("sinfo", ["--noheader", "--format=%R"]).split(whereSeparator: \.isWhitespace).map(String.init)
    }

    private func run(_ program: String, _ arguments: [String]) async throws(Trouble) -> String {
        let answer: Answer?
        do {
            // Goes on when its caller is cancelled: what Slurm was asked for may be done, and has to be known of.
            answer = try await Task { try await limited(program, arguments) }.value
        } catch let error as SubprocessError where error.code == .executableNotFound {
            throw .missing(program)
        } catch {
            throw .unanswered("\(program) cannot be run: \(error)")
        }
        guard let answer else {
            throw .unanswered(
                "\(program) had no answer from Slurm's controller within \(patience.components.seconds) s")
        }
        guard answer.status.isSuccess else { throw Self.trouble(program, answer.errors) }
        return answer.output
    }

    /// Nil when it took too long; it is killed then.
    private func limited(_ program: String, _ arguments: [String]) async throws -> Answer? {
        try await withThrowingTaskGroup(of: Answer?.self) { group in
            group.addTask { try await answer(of: program, arguments) }
            group.addTask {
                try await Task.sleep(for: patience)
                return nil
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }

    /// The command writes to files of ours, and not to pipes of Subprocess's: that ends this process when it comes upon a pipe
    /// that it has not closed, and a pipe that the command's children hold is read for as long as they live.
    private func answer(of program: String, _ arguments: [String]) async throws -> Answer {
        try ProcessStart.refuseWithoutDescriptors()
        let executable = programs.map { Executable.path(FilePath("\($0)/\(program)")) } ?? .name(program)
        let (input, output, errors) = (try UnlinkedTempFile(), try UnlinkedTempFile(), try UnlinkedTempFile())
        defer { withExtendedLifetime((input, output, errors)) {} }
        let done = try await Subprocess.run(
            executable, arguments: Arguments(arguments), platformOptions: Self.platform,
            input: .fileDescriptor(input.descriptor, closeAfterSpawningProcess: false),
            output: .fileDescriptor(output.descriptor, closeAfterSpawningProcess: false),
            error: .fileDescriptor(errors.descriptor, closeAfterSpawningProcess: false))
        return Answer(status: done.terminationStatus, output: try output.text(), errors: try errors.text())
    }

    /// Where `squeue` is a site's script around Slurm's own, all of it is killed.
    private static var platform: PlatformOptions {
        var options = WorkerProcess.platform
        options.teardownSequence = [.send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .seconds(1))]
        return options
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
    package static func trouble(_ program: String, _ errors: String) -> Trouble {
        let lines = errors.split(separator: "\n").map(String.init)
        // The last line that is an error's says most; of a wrong option the first one tells, and the last where help is.
        let line = lines.last { $0.contains("error") } ?? lines.first ?? "it failed without a word"
        let words = line.hasPrefix("\(program): ") ? line : "\(program): \(line)"
        if silences.contains(where: errors.contains) { return .unanswered(words) }
        return fullness.contains(where: errors.contains) ? .full(words) : .refused(words + SlurmHints.remedy(errors))
    }
}
