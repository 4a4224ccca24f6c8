package import Cluster
import Engines
import Glibc
package import JobModel

/// Any batch system, through four commands of the site. docs/reference/cluster-commands.md is the contract. All output of the
/// commands is checked.
package struct CommandSystem: BatchSystem {
    package var timeout: Duration
    private let commands: ClusterCommands

    /// - Parameter timeout: the time limit of a command.
    package init(_ commands: ClusterCommands, timeout: Duration = .seconds(60)) {
        self.commands = commands
        self.timeout = timeout
    }

    package static let traits = BatchTraits(
        name: "the cluster", engine: .commands, listCommand: nil, logName: .submission, takesCoordinators: false)

    /// The largest output of a command, in bytes.
    private static let longestOutput = 16 << 20
    /// The most ids of one command, so that they fit into its arguments.
    private static let mostIDs = 2000

    package func script(of submission: Submission) -> String { submission.commandScript }

    package func submit(_ submission: Submission, script: String) async throws(BatchError) -> String {
        guard case .array(let array) = submission.job else {
            throw .refused("a site's commands cannot submit a job that continues a run")
        }
        let output = try await run(
            .submit, [script, array.name, "\(array.count)"], environment: submission.commandEnvironment)
        return try fit(.submit, CommandAnswers.job(output))
    }

    package func query(_ jobs: JobSelection) async throws(BatchError) -> [ArrayElement] {
        var elements: [ArrayElement] = []
        for arguments in Self.arguments(of: jobs) {
            let lines = try fit(.status, CommandAnswers.elements(try await run(.status, arguments)))
            elements += lines.filter { element in
                switch jobs {
                case .ids: arguments.contains(element.job) || arguments.contains(element.id)
                case .named(let name): element.submission == name
                }
            }
        }
        return elements
    }

    package func cancel(_ jobs: JobSelection) async throws(BatchError) {
        for arguments in Self.arguments(of: jobs) { _ = try await run(.cancel, arguments) }
    }

    package func describe(withQueues: Bool) async throws(BatchError) -> BatchDescription {
        try fit(.describe, CommandAnswers.description(try await run(.describe, [])))
    }

    package func postpone(_ jobs: [String], by pause: Duration) async throws(BatchError) {
        throw .refused("jobs cannot be postponed by commands")
    }

    private static func arguments(of jobs: JobSelection) -> [[String]] {
        switch jobs {
        case .named(let name): [["name", name]]
        case .ids(let ids):
            stride(from: 0, to: ids.count, by: mostIDs).map { ["id"] + ids[$0..<min($0 + mostIDs, ids.count)] }
        }
    }

    private enum Command: String {
        case submit, status, cancel, describe
    }

    private func path(_ command: Command) -> String {
        switch command {
        case .submit: commands.submit
        case .status: commands.status
        case .cancel: commands.cancel
        case .describe: commands.describe
        }
    }

    /// The beginning of messages.
    private func name(_ command: Command) -> String { "the \(command.rawValue) command \(path(command))" }

    private func fit<Value>(
        _ command: Command, _ answer: Result<Value, CommandAnswerError>
    ) throws(BatchError) -> Value {
        switch answer {
        case .success(let value): return value
        case .failure(let error):
            throw .refused(
                "\(name(command)) \(error.message); the page 'Commands of a cluster' of the documentation has the contract"
            )
        }
    }

    private func run(
        _ command: Command, _ arguments: [String], environment: [String: String?] = [:]
    ) async throws(BatchError) -> String {
        let answer: CommandRunner.Answer
        do throws(CommandError) {
            answer = try await CommandRunner(limit: timeout, longestOutput: Self.longestOutput)
                .run(path(command), arguments, environment: environment)
        } catch {
            switch error {
            case .missing:
                throw .missing("\(name(command)): \(Self.reason(unstarted: path(command), named: command.rawValue))")
            case .tooLate: throw .unanswered("\(name(command)) did not end within \(timeout.components.seconds) s")
            case .tooLong: throw .refused("\(name(command)) printed more than \(Self.longestOutput >> 20) MB")
            case .notRun(let words): throw .unanswered("\(name(command)) cannot be run: \(words)")
            }
        }
        guard !answer.isSuccess else { return answer.output }
        let words = answer.errors.split(separator: "\n").last.map { ": \($0.prefix(500))" } ?? ""
        let message = "\(name(command)) ended with \(answer.status)\(words)"
        throw CommandAnswers.error(answer.exitCode, message)
    }
}

extension CommandSystem {
    /// Why a program did not start.
    private static func reason(unstarted path: String, named key: String) -> String {
        var found = stat()
        guard stat(path, &found) == 0 else { return "no such program; '\(key)' under 'commands' names it" }
        guard found.st_mode & S_IFMT == S_IFREG else { return "is no program; '\(key)' under 'commands' names it" }
        return access(path, X_OK) == 0
            ? "cannot be started; its first line must name a program that is there"
            : "may not be executed; 'chmod +x \(path)' allows it"
    }
}

extension Submission {
    /// The environment of `submit`.
    fileprivate var commandEnvironment: [String: String?] {
        [
            "PENUMBRA_JOB_CORES": "\(options.cores)", "PENUMBRA_JOB_AT_ONCE": "\(options.elementsAtOnce)",
            "PENUMBRA_JOB_MEMORY": options.memory.map(String.init),
            "PENUMBRA_JOB_SECONDS": options.time.map { String(Int($0.rounded(.up))) },
            "PENUMBRA_JOB_QUEUE": options.partition, "PENUMBRA_JOB_ACCOUNT": options.account,
            "PENUMBRA_JOB_QOS": options.qos, "PENUMBRA_JOB_FOLDER": folder, "PENUMBRA_JOB_LOGS": logs,
            "PENUMBRA_JOB_VARIABLES": variables.joined(separator: ","),
        ]
    }

    /// The script gets the element's index as its first argument. It writes its output to a file, because each system names
    /// output files differently.
    fileprivate var commandScript: String {
        guard case .array(let array) = job else { return "#!/bin/sh\nexit 64\n" }
        let memory = options.memory.map { "export PENUMBRA_JOB_MEMORY=\($0)\n" } ?? ""
        return """
            #!/bin/sh
            index="${1:-0}"
            exec >> \("\(logs)/\(array.name)_".shellQuoted)"$index.out" 2>&1 < /dev/null
            export PENUMBRA_JOB_ELEMENT=\(array.name)_"$index"
            export PENUMBRA_JOB_NODE="$(uname -n)"
            export PENUMBRA_JOB_CORES=\(options.cores)
            \(memory)exec \(program.shellQuoted) shard --run \(folder.shellQuoted) --index "$((index + \(array.firstShard)))"

            """
    }
}
