import ArgumentParser
import Dispatching
import JobStorage

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a run has ended, and exit as it did.",
        discussion: "75 when --timeout came first; 137 when its coordinator was killed.")

    @OptionGroup var argument: RunArgument
    @OptionGroup var options: RunOptions
    @OptionGroup var shared: RunDirOption

    @Option(help: ArgumentHelp("How long to wait at most: 90, 5m.", valueName: "time"))
    var timeout: TimeArgument?

    private static let pause = Duration.milliseconds(200)
    /// Others read the run's folder, too.
    private static let longPause = Duration.seconds(1)
    /// With a run that has no coordinator, before it is asked whether one is to come.
    private static let patience = Duration.seconds(10)
    /// Where nobody can be asked.
    private static let longPatience = Duration.seconds(150)

    /// Nobody goes on with it by himself.
    private static func isGivenUp(
        _ run: KnownRun, _ coordinators: SlurmEngine.Coordinators, after time: Duration
    ) -> Bool {
        switch coordinators {
        case .queued: false
        case .gone: true
        // Another scheduler has it, or a person.
        case .never: run.condition == .interrupted
        case .unknown: run.condition == .interrupted && time > longPatience
        }
    }

    func run() async throws {
        try await Reporting(json: options.json).handling { reporting in
            let archive = try options.archive(shared)
            let clock = ContinuousClock()
            let end = timeout.map { clock.now + $0.duration }
            // The run that is meant now, whatever begins later.
            var run = try archive.run(argument.run)
            var lost: ContinuousClock.Instant?
            while run.condition.isGoingOn || run.condition == .interrupted && archive.isShared(run) {
                lost = [.interrupted, .detached].contains(run.condition) ? lost ?? clock.now : nil
                if let since = lost, since.duration(to: clock.now) > Self.patience {
                    let coordinators = await archive.coordinators(of: run)
                    if Self.isGivenUp(run, coordinators, after: since.duration(to: clock.now)) { break }
                    if coordinators != .unknown { lost = clock.now }
                }
                if let end, clock.now >= end {
                    reporting.complain("\(run.stored.name): goes on; the time to wait for it is over")
                    return .busy
                }
                try await clock.sleep(for: archive.isShared(run) ? Self.longPause : Self.pause)
                run = try archive.run(run.stored.name)
            }
            if options.json { JSONLine.run(RunLine(run, concluded: try archive.concluded(of: run))).print() }
            guard let code = run.exitCode else {
                let reason = run.reason ?? "its coordinator was killed"
                reporting.complain("\(run.stored.name): \(reason); 'penumbra resume' goes on")
                throw ExitCode(137)
            }
            throw ExitCode(Int32(code))
        }
    }
}
