import ArgumentParser
import JobModel
import RenderFarm
import Runs
import Settings

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "End a run, or give up an interrupted one.",
        discussion: "Published outputs stay. The run's temporary files beside them are removed.")

    @OptionGroup var argument: OpenRunArgument
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption

    func run() async throws {
        try await ConsoleReporter(json: options.json).handling { reporter in
            let archive = try options.archive(shared)
            guard let run = try archive.run(toEnd: argument.run) else {
                reporter.say("all runs have ended; there is nothing to cancel")
                return .done
            }
            let messages = try await archive.cancel(run) { engine in
                try Settings.loadWithoutState(options.location).batchSystem(for: engine)
            }
            for message in messages { reporter.show(message) }
            return .done
        }
    }
}

struct PauseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Begin nothing new in a run until 'penumbra resume'.",
        discussion: "Workers finish the tasks that they have begun, and their outputs are published.")

    @OptionGroup var argument: OpenRunArgument
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption

    func run() async throws {
        try await ConsoleReporter(json: options.json).handling { reporter in
            let archive = try options.archive(shared)
            guard let run = try archive.run(toEnd: argument.run) else {
                throw FarmError(.someFailed, "all runs have ended, so that none can be paused")
            }
            guard run.condition == .running || run.condition == .paused else {
                throw FarmError(.someFailed, "\(run.stored.name): is not running, so that it cannot be paused")
            }
            try run.folder.ask(.pause)
            let option = shared.runDir.map { " --run-dir \($0)" } ?? ""
            reporter.say("\(run.stored.name): paused; 'penumbra resume\(option)' continues it")
            return .done
        }
    }
}
