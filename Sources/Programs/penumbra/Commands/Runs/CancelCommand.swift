import ArgumentParser
import JobModel
import RenderFarm
import Runs
import ServiceClient
import Settings

struct CancelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "End a run, or give up an interrupted one.",
        discussion: "Published outputs stay. The run's temporary files beside them are removed.")

    @OptionGroup var argument: OpenRunArgument
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption
    @OptionGroup var printing: QuietOption
    @OptionGroup(title: "Service Options") var remote: RunServerOptions

    func validate() throws { try remote.check(options, shared) }

    func run() async throws {
        try await ConsoleReporter(json: options.json, quiet: printing.quiet).handling { reporter in
            if let service = remote.service {
                let name = argument.run
                return try await service.asking { try Self.cancel(name, $0, reporter) }
            }
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

    private static func cancel(
        _ name: String?, _ remote: RemoteRuns, _ reporter: ConsoleReporter
    ) throws -> RunOutcome {
        guard let run = try remote.run(toEnd: name) else {
            reporter.say("all runs have ended; there is nothing to cancel")
            return .done
        }
        if run.condition?.isEnded == true {
            reporter.say("\(run.run): has ended already")
        } else if try remote.ask(.cancel, of: run).condition?.isEnded == true {
            reporter.say("\(run.run): given up, and its files are removed")
        } else {
            reporter.say("\(run.run): its coordinator was asked to end it; 'penumbra wait' waits for the end")
        }
        return .done
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
    @OptionGroup var printing: QuietOption
    @OptionGroup(title: "Service Options") var remote: RunServerOptions

    func validate() throws { try remote.check(options, shared) }

    /// Throws unless there is a run that can be paused.
    private static func check(_ run: (name: String, condition: RunStatus.Condition?)?) throws(FarmError) {
        guard let run else { throw FarmError(.someFailed, "all runs have ended, so that none can be paused") }
        guard run.condition == .running || run.condition == .paused else {
            throw FarmError(.someFailed, "\(run.name): is not running, so that it cannot be paused")
        }
    }

    func run() async throws {
        try await ConsoleReporter(json: options.json, quiet: printing.quiet).handling { reporter in
            if let service = remote.service {
                let name = argument.run
                return try await service.asking { remote in
                    let run = try remote.run(toEnd: name)
                    try Self.check(run.map { ($0.run, $0.condition) })
                    guard let run else { return .done }
                    try remote.ask(.pause, of: run)
                    let option = " --server \(remote.client.address)"
                    reporter.say("\(run.run): paused; 'penumbra resume\(option)' continues it")
                    return .done
                }
            }
            let archive = try options.archive(shared)
            let found = try archive.run(toEnd: argument.run)
            try Self.check(found.map { ($0.stored.name, $0.condition) })
            guard let run = found else { return .done }
            try run.folder.ask(.pause)
            let option = shared.runDir.map { " --run-dir \($0)" } ?? ""
            reporter.say("\(run.stored.name): paused; 'penumbra resume\(option)' continues it")
            return .done
        }
    }
}
