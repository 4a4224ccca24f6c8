import ArgumentParser
import BatchSystems
import Cluster
import Coordination
import JobModel
import JobStorage
import RenderFarm
import Runs
import Settings
import Shards

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
            switch run.condition {
            case .running, .paused:
                try run.folder.ask(.cancel)
                reporter.say(
                    "\(run.stored.name): its coordinator was asked to end it; 'penumbra wait' waits for the end")
            case .interrupted, .detached:
                let successor = await archive.successor(of: run)
                if let scratch = run.folder.scratch {
                    try await Self.endJobs(
                        of: SubmittedJobs(of: ShardFolder(scratch)), options.location)
                }
                // The run gets the same end as if its coordinator had been stopped.
                let removal = try archive.abandon(
                    run, reason: "cancelled", outcome: .interrupted, now: currentTime())
                guard removal != .refused else {
                    throw FarmError(.busy, "\(run.stored.name): another coordinator has just taken it over")
                }
                ShardFolder.removeIfEmpty(logs: "\(run.folder.state)/logs/\(run.stored.name)")
                if removal == .complete {
                    reporter.say("\(run.stored.name): given up, and its files are removed")
                } else {
                    reporter.note(
                        "\(run.stored.name): given up; some of its files cannot be removed now, for example on a disk that is not "
                            + "mounted; a later run removes them")
                }
                if successor == .never, run.condition == .detached {
                    reporter.note(
                        "\(run.stored.name): jobs that were submitted by hand, or by scripts, are to be ended there")
                }
            case .done, .failed, .stopped:
                // The coordinator may have been killed before it removed the folder.
                await Blocking.run { RunFolder.sweep(state: archive.state) }
                reporter.say("\(run.stored.name): has ended already")
            }
            return .done
        }
    }
}

extension CancelCommand {
    /// Cancels jobs that a killed coordinator left in the queues of clusters.
    private static func endJobs(of jobs: SubmittedJobs, _ location: LocationOptions) async throws {
        try await cancelling(in: SlurmSystem()) { () throws(BatchError) in
            try await jobs.endCoordinators(on: SlurmSystem())
        }
        for engine in jobs.engines {
            // Slurm needs no settings: any node can cancel its jobs, whatever this user's state folder is on.
            let known =
                engine == .slurm ? SlurmSystem() : try Settings.loadWithoutState(location).batchSystem(for: engine)
            guard let system = known else { continue }
            try await cancelling(in: system) { () throws(BatchError) in
                try await jobs.endArrays(before: .max, on: system)
            }
        }
    }

    private static func cancelling(
        in system: any BatchSystem, _ cancel: () async throws(BatchError) -> Void
    ) async throws(FarmError) {
        do {
            try await cancel()
        } catch {
            throw FarmError(
                .unavailable,
                "the run's jobs are in \(system.traits.name)'s queue and cannot be cancelled: \(error.message)")
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
