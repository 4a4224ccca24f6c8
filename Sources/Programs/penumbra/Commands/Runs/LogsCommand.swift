import ArgumentParser
import Coordination
import JobModel
import JobStorage
import RenderFarm
import Runs

struct LogsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "logs",
        abstract: "Show every attempt of a run, or of one of its tasks, and what its worker wrote.",
        discussion: """
            A task is a frame's number, as 'penumbra show' prints it, or that and a kind: 37, 37/frame, 37/tile-12. \
            37p2 is the second page of a file whose pages are frames. The attempts of the latest ten runs of each job are kept.
            """)

    @Argument(
        help: ArgumentHelp(
            "A run, by its name or the beginning of it, or a job. With --run-dir it may be left out.", valueName: "run"),
        completion: Completions.runs)
    var run: String?

    @Argument(help: ArgumentHelp("A frame, or one of its tasks.", valueName: "task"))
    var task: String?

    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption
    @OptionGroup(title: "Service Options") var remote: RunServerOptions

    /// If the folder has one run, the first argument may be the task.
    private func wanted(of archive: RunArchive) throws -> (run: String?, task: String?) {
        guard archive.isShared, task == nil, let run, TaskFilter(run) != nil else { return (run, task) }
        // The names of runs begin with eight digits.
        let isRun = try run.count >= 8 && archive.runs().contains { $0.stored.name.hasPrefix(run) }
        return isRun ? (run, nil) : (nil, run)
    }

    func validate() throws {
        try remote.check(options, shared)
        if run == nil, shared.runDir == nil {
            throw ValidationError("Name a run, as 'penumbra status' lists them, or give its folder by --run-dir.")
        }
        if let task, TaskFilter(task) == nil {
            throw ValidationError(
                "'\(task)' is no task; give a frame's number, or that and a kind or a page: 37/tile-12, 37p2.")
        }
    }

    private static func why(noAttemptsOf line: RunLine, _ counts: TaskCounts) -> String {
        if line.condition?.isEnded != true { return "no task has been tried yet" }
        if counts.wasBegun {
            return "its attempts are not kept any more: those of the latest ten runs of each job are"
        }
        if let exitCode = line.exitCode, exitCode != 0 {
            return "no task was tried; exit code \(exitCode)"
                + (line.reason.map { ": \(VisibleText.message($0))" } ?? "")
        }
        return
            "no task was tried, since there was nothing to do; 'penumbra show \(line.run)' shows the results of its frames"
    }

    /// Says that a run, or a task of it, has no attempts.
    private static func report(
        noAttemptsOf line: RunLine, _ task: String?, _ counts: TaskCounts, _ reporter: ConsoleReporter
    ) throws(FarmError) {
        if let task { throw FarmError(.missingInput, "the run has no attempt of '\(task)'") }
        reporter.say("\(line.run): \(why(noAttemptsOf: line, counts))")
    }

    /// Adds to the error of an unknown run that a task was given without its run.
    private static func explaining<Found>(
        _ name: String?, _ task: String?, _ find: () throws -> Found
    ) throws -> Found {
        do {
            return try find()
        } catch let error as FarmError where error.outcome == .missingInput {
            guard let name, task == nil, TaskFilter(name) != nil else { throw error }
            throw FarmError(
                .missingInput,
                "no run or job is called '\(name)'\n   = if it is a task, name its run before it: 'penumbra logs RUN \(name)'"
            )
        }
    }

    private static func show(_ attempt: AttemptLine, json: Bool) {
        guard !json else { return attempt.print() }
        for line in RunText.lines(of: attempt) { Console.print(line) }
    }

    func run() async throws {
        try await ConsoleReporter(json: options.json).handling { reporter in
            let json = options.json
            if let service = remote.service {
                let (name, task) = (run, task)
                return try await service.asking { remote in
                    let line = try Self.explaining(name, task) { try remote.run(name) }
                    var isEmpty = true
                    try remote.forEachAttempt(of: line, task) { attempt in
                        isEmpty = false
                        Self.show(attempt, json: json)
                    }
                    if isEmpty { try Self.report(noAttemptsOf: line, task, remote.taskCounts(of: line), reporter) }
                    return .done
                }
            }
            let archive = try options.archive(shared)
            let (name, task) = try wanted(of: archive)
            let filter = task.flatMap(TaskFilter.init)
            let run = try Self.explaining(name, task) { try archive.run(name) }
            let details = try archive.details(of: run)
            let attempts = details.attempts.filter { filter?.includes($0) ?? true }
            if attempts.isEmpty {
                try Self.report(noAttemptsOf: RunLine(run, concluded: 0), task, details.taskCounts, reporter)
            }
            for attempt in attempts { Self.show(AttemptLine(attempt), json: json) }
            return .done
        }
    }
}
