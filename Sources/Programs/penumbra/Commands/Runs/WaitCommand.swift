import ArgumentParser
import Cluster
import Coordination
import JobModel
import JobStorage
import RenderFarm
import Runs

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until a run has ended, and exit as it did.",
        discussion: """
            'wait' has two exit codes of its own. It exits with 75 if --timeout came first and the run continues. It exits with \
            137 if the run's coordinator was killed and the run needs 'penumbra resume'. If a service will resume the run, \
            'wait' waits for it. In a folder with several runs it waits for all runs that have not ended, and for the jobs of \
            the latest command. It exits with the worst of their exit codes.
            """)

    @OptionGroup var argument: RunArgument
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption
    @OptionGroup var printing: QuietOption
    @OptionGroup(title: "Service Options") var remote: RunServerOptions

    @Option(
        help: ArgumentHelp("How long to wait at most: 90, 5m.", valueName: "time"),
        transform: TimeArgument.read)
    var timeout: TimeArgument?

    func validate() throws { try remote.check(options, shared) }

    func run() async throws {
        try await ConsoleReporter(json: options.json, quiet: printing.quiet).handling { reporter in
            if let service = remote.service {
                let (name, json, timeout) = (argument.run, options.json, timeout?.duration)
                return try await service.asking { remote in
                    let run = try remote.run(name)
                    guard let last = try remote.wait(for: run, until: timeout.map { .now + $0 }) else {
                        return Self.report(timeoutOf: run.run, reporter)
                    }
                    throw ExitCode(Self.report(last, reporter, json: json, option: ""))
                }
            }
            let archive = try options.archive(shared)
            // Runs that begin later are not waited for.
            let runs = try archive.isShared && argument.run == nil ? archive.meantRuns() : [archive.run(argument.run)]
            if runs.count > 1, !printing.quiet { reporter.note("waiting for \(runs.count) runs") }
            let waiter = RunWaiter(archive: archive, end: timeout.map { .now + $0.duration })
            var worst: Int32 = 0
            for run in runs {
                guard let last = try await waiter.wait(for: run) else {
                    return Self.report(timeoutOf: run.stored.name, reporter)
                }
                let option = last.sharedFolder.map { " --run-dir \($0)" } ?? ""
                let code = Self.report(try RunLine(last, in: archive), reporter, json: options.json, option: option)
                worst = max(worst, code)
            }
            throw ExitCode(worst)
        }
    }

    private static func report(timeoutOf run: String, _ reporter: ConsoleReporter) -> RunOutcome {
        reporter.complain("\(run): has not ended within the time limit of 'wait'")
        return .busy
    }

    /// - Parameter option: the option of 'penumbra resume' that names the run's folder, behind a space.
    /// - Returns: the exit code of the run.
    private static func report(_ line: RunLine, _ reporter: ConsoleReporter, json: Bool, option: String) -> Int32 {
        if json {
            line.print()
        } else if let code = line.exitCode {
            // Only good news are left out with --quiet.
            code == 0 ? reporter.say(RunText.ending(line)) : Console.print(RunText.ending(line))
        }
        guard let code = line.exitCode else {
            let reason = line.reason ?? "its coordinator was killed"
            reporter.complain("\(line.run): \(reason); 'penumbra resume\(option)' continues it")
            return 137
        }
        return Int32(clamping: code)
    }
}

/// Waits for the ends of runs.
private struct RunWaiter {
    let archive: RunArchive
    /// Nil for no timeout.
    let end: ContinuousClock.Instant?

    private static let pause = Duration.milliseconds(200)
    /// For runs whose folder may be on a file server.
    private static let sharedPause = Duration.seconds(1)
    /// How long a run may have no coordinator before the cluster is asked for a successor.
    private static let successorDelay = Duration.seconds(10)
    /// The same, if the cluster cannot be asked.
    private static let unknownSuccessorDelay = Duration.seconds(150)
    /// How long a service that resumes runs may be away.
    private static let serviceDelay = Duration.seconds(15)

    /// - Returns: the run after its last coordinator has ended; nil after the timeout.
    func wait(for begun: RunStatus) async throws -> RunStatus? {
        let clock = ContinuousClock()
        var run = begun
        var (lost, served): (ContinuousClock.Instant?, ContinuousClock.Instant) = (nil, clock.now)
        while true {
            if run.condition.isGoingOn {
                served = clock.now
            } else if run.condition != .interrupted {
                break
            } else if !archive.isShared(run) {
                switch await ResidentService(stateFolder: archive.state)?.answer(for: run.stored.name) {
                case .resumes: served = clock.now
                case .isAway where served.duration(to: clock.now) < Self.serviceDelay: break
                case .isAway, .doesNot, nil: return run
                }
            }
            let mayHaveSuccessor = run.condition == .detached || run.condition == .interrupted && archive.isShared(run)
            lost = mayHaveSuccessor ? lost ?? clock.now : nil
            if let since = lost, since.duration(to: clock.now) > Self.successorDelay {
                let successor = await archive.successor(of: run)
                if Self.isGivenUp(run, successor, after: since.duration(to: clock.now)) { break }
                if successor != .unknown { lost = clock.now }
            }
            if let end, clock.now >= end { return nil }
            try await clock.sleep(for: archive.isShared(run) ? Self.sharedPause : Self.pause)
            run = try archive.renewed(run)
        }
        return run
    }

    /// Whether no coordinator will continue the run.
    private static func isGivenUp(
        _ run: RunStatus, _ successor: SubmittedJobs.Successor, after time: Duration
    ) -> Bool {
        switch successor {
        case .queued: false
        case .gone: true
        // Another scheduler may continue it, or a person.
        case .never: run.condition == .interrupted
        case .unknown: run.condition == .interrupted && time > unknownSuccessorDelay
        }
    }
}
