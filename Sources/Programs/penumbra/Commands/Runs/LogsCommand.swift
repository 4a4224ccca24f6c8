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
            A task is a frame's number, as 'penumbra show' prints it, or that and a kind: 37, 37/probe, 37/tile-12. \
            The attempts of the latest ten runs of each job are kept.
            """)

    @Argument(
        help: ArgumentHelp(
            "A run, by its name or the beginning of it, or a job. With --run-dir it may be left out.", valueName: "run")
    )
    var run: String?

    @Argument(help: ArgumentHelp("A frame, or one of its tasks.", valueName: "task"))
    var task: String?

    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption

    /// If the folder has one run, the first argument may be the task.
    private func wanted(of archive: RunArchive) throws -> (run: String?, task: String?) {
        guard archive.isShared, task == nil, let run, TaskFilter(run) != nil else { return (run, task) }
        // The names of runs begin with eight digits.
        let isRun = try run.count >= 8 && archive.runs().contains { $0.stored.name.hasPrefix(run) }
        return isRun ? (run, nil) : (nil, run)
    }

    func validate() throws {
        if run == nil, shared.runDir == nil {
            throw ValidationError("Name a run, as 'penumbra status' lists them, or give its folder by --run-dir.")
        }
        if let task, TaskFilter(task) == nil {
            throw ValidationError("'\(task)' is no task; give a frame's number, or that and a kind: 37/tile-12.")
        }
    }

    private func why(noAttemptsOf run: RunStatus, _ details: RunArchive.Details) -> String {
        if !run.condition.isEnded { return "no task has been tried yet" }
        if details.frames.contains(where: \.wasBegun) {
            return "its attempts are not kept any more: those of the latest ten runs of each job are"
        }
        return
            "no task was tried, since there was nothing to do; 'penumbra show \(run.stored.name)' shows the results of its frames"
    }

    func run() async throws {
        try await ConsoleReporter(json: options.json).handling { reporter in
            let archive = try options.archive(shared)
            let (name, task) = try wanted(of: archive)
            let filter = task.flatMap(TaskFilter.init)
            let run = try archive.run(name)
            let details = try archive.details(of: run)
            let attempts = details.attempts.filter { filter?.includes($0) ?? true }
            if task == nil, attempts.isEmpty { reporter.say("\(run.stored.name): \(why(noAttemptsOf: run, details))") }
            if let task, attempts.isEmpty { throw FarmError(.missingInput, "the run has no attempt of '\(task)'") }
            for attempt in attempts {
                if options.json {
                    AttemptLine(attempt).print()
                } else {
                    for line in RunText.lines(of: attempt) { Console.print(line) }
                }
            }
            return .done
        }
    }
}

/// `37`, `37p2`, `37/probe`, `37/tile-12`.
struct TaskFilter: Hashable {
    private let number: Int
    private let page: Int?
    private let kind: String?
    private let tile: Int?

    init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let frame = parts[0].split(separator: "p", omittingEmptySubsequences: false)
        guard parts.count <= 2, frame.count <= 2, let number = Int(frame[0]) else { return nil }
        self.number = number
        page = frame.count == 2 ? Int(frame[1]).map { $0 - 1 } : nil
        if frame.count == 2, page == nil { return nil }
        let words = parts.count == 2 ? parts[1].split(separator: "-", omittingEmptySubsequences: false) : []
        kind = words.first.map(String.init)
        tile = words.count == 2 ? Int(words[1]) : nil
        if words.count > 2 || words.count == 2 && tile == nil { return nil }
    }

    func includes(_ attempt: StoredAttempt) -> Bool {
        attempt.number == number && (page ?? attempt.page) == attempt.page && (kind ?? attempt.kind) == attempt.kind
            && (tile == nil || tile == attempt.tile)
    }
}
