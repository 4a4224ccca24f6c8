import ArgumentParser
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
    /// With a run that lost its coordinator where others may take it over.
    private static let patience = Duration.seconds(10)

    func run() async throws {
        try await Reporting(json: options.json).handling { reporting in
            let archive = try options.archive(shared)
            let clock = ContinuousClock()
            let end = timeout.map { clock.now + $0.duration }
            // The run that is meant now, whatever begins later.
            var run = try archive.run(argument.run)
            var lost: ContinuousClock.Instant?
            while run.condition.isGoingOn || run.condition == .interrupted && archive.isShared(run) {
                lost = run.condition == .interrupted ? lost ?? clock.now : nil
                if let since = lost, since.duration(to: clock.now) > Self.patience {
                    guard await archive.awaitsCoordinator(run) else { break }
                    lost = clock.now
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
                reporting.complain("\(run.stored.name): its coordinator was killed; 'penumbra resume' goes on")
                throw ExitCode(137)
            }
            throw ExitCode(Int32(code))
        }
    }
}
