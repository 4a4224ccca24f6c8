package import Cluster
import Engines
package import JobModel

/// Any system that runs jobs, by four commands of the site. docs/commands.md is the contract; all that they print is checked.
package struct CommandSystem: BatchSystem {
    package var patience: Duration
    private let commands: ClusterCommands

    /// - Parameter patience: how long a command may take.
    package init(_ commands: ClusterCommands, patience: Duration = .seconds(60)) {
        self.commands = commands
        self.patience = patience
    }

    package var traits: BatchTraits {
        BatchTraits(name: "the cluster", engine: .commands, lists: nil, logName: .submission, takesCoordinators: false)
    }

    /// What a command may print, in bytes.
    private static let longestOutput = 16 << 20
    /// The ids that one command gets, so that they fit into its arguments.
    private static let mostIDs = 2000

    package func script(of submission: Submission) -> String { submission.commandScript }

    package func submit(_ submission: Submission, script: String) async throws(BatchError) -> String {
        guard case .array(let array) = submission.job else {
            throw .refused("jobs that go on with a run cannot be submitted by commands")
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

    /// As messages begin.
    private func name(_ command: Command) -> String { "the \(command.rawValue) command \(path(command))" }

    private func fit<Value>(
        _ command: Command, _ answer: Result<Value, CommandAnswers.Misfit>
    ) throws(BatchError) -> Value {
        switch answer {
        case .success(let value): return value
        case .failure(let misfit):
            throw .refused("\(name(command)) \(misfit.message); docs/commands.md has the contract")
        }
    }

    private func run(
        _ command: Command, _ arguments: [String], environment: [String: String?] = [:]
    ) async throws(BatchError) -> String {
        let answer: CommandRunner.Answer
        do throws(CommandRunner.Failure) {
            answer = try await CommandRunner(limit: patience, longestOutput: Self.longestOutput)
                .run(path(command), arguments, environment: environment)
        } catch {
            switch error {
            case .missing:
                throw .missing("\(name(command)): no such program; '\(command.rawValue)' under 'commands' names it")
            case .tooLate: throw .unanswered("\(name(command)) did not end within \(patience.components.seconds) s")
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

extension Submission {
    /// What `submit` is told beside its arguments.
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

    /// Gets its element's index as the first argument. What it prints goes to a file of its own, since each system names such files
    /// in its own way.
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
