import ArgumentParser
import Coordination
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Queueing
import RenderFarm
import Runs
import Settings

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume a run that was interrupted or paused.",
        discussion: """
            Carries out the request of the run again. Published outputs stay, rendered tiles are used, and the rest is \
            rendered. The next 'penumbra run' of the manifest does the same. A run that its deadline ended is not resumed: \
            'penumbra run', or 'penumbra retry --state left', does the rest.

            With --server, paused runs are resumed. The service itself resumes runs of its jobs that were interrupted.
            """)

    @Argument(
        help: ArgumentHelp(
            "A run, by its name or the beginning of it, or a job, for its latest run. Default: all runs that were "
                + "interrupted or paused.", valueName: "run"), completion: Completions.runs)
    var run: String?
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption
    @OptionGroup var printing: QuietOption
    @OptionGroup(title: "Service Options") var remote: RunServerOptions

    @Option(
        help:
            "Where the rest is done: local, by worker processes here, slurm, or commands. Default: as the run was begun."
    )
    var engine: EngineName?

    @Option(help: ArgumentHelp("Worker processes at once. Default: as the run was begun.", valueName: "n"))
    var workers: Int?

    @Flag(help: "Print lines that Open Job Description knows: openjd_progress, openjd_status, openjd_fail.")
    var openjd = false

    /// This process is a job on the cluster. If it ends too early, another job follows.
    @Flag(help: .hidden)
    var asJob = false

    @Flag(help: "Send no notifications of the config file's on_end and on_failure.")
    var noNotify = false

    func validate() throws {
        try LocationOptions.check(workers: workers)
        try remote.check(
            options, shared,
            [
                ("--engine", engine != nil), ("--workers", workers != nil), ("--openjd", openjd), ("--as-job", asJob),
                ("--no-notify", noNotify),
            ])
        if openjd, options.json { throw ValidationError("--openjd and --json cannot both have the standard output.") }
        if asJob, shared.runDir == nil {
            throw ValidationError("--as-job resumes the run of a --run-dir; give --run-dir, too.")
        }
    }

    func run() async throws {
        if let service = remote.service {
            let name = run
            return try await ConsoleReporter(json: options.json, quiet: printing.quiet).handling { reporter in
                try await service.asking { try Self.resume(name, $0, reporter) }
            }
        }
        let openJD = OpenJDOutput(isOn: openjd)
        do {
            // The resumed run writes the JSON lines. This command writes none.
            try await ConsoleReporter(json: false).handling { _ in
                let archive = try options.archive(shared)
                // Nobody else removes what a killed coordinator left of shared runs that have ended.
                if archive.isShared { await Blocking.run { RunFolder.sweep(state: archive.state) } }
                let runs = try wanted(of: archive)
                if runs.isEmpty, !archive.isShared { try reportNothing(archive) }
                // A signal ends all of the runs.
                let signals = Signals.ofRuns
                var worst: Int32 = 0
                for run in runs where signals.first == nil { worst = max(worst, try await resume(run, archive)) }
                throw ExitCode(max(worst, signals.first.map { 128 + $0 } ?? 0))
            }
        } catch let exit as ExitCode {
            if exit == .success {
                openJD.report(progress: 100)
            } else {
                openJD.report(failure: "penumbra resume has ended with exit code \(exit.rawValue)")
            }
            throw exit
        }
    }

    /// Resumes paused runs of a service.
    private static func resume(
        _ name: String?, _ remote: RemoteRuns, _ reporter: ConsoleReporter
    ) throws -> RunOutcome {
        let runs = name == nil ? try remote.runs(ended: 0).filter { $0.condition == .paused } : [try remote.run(name)]
        if runs.isEmpty { reporter.say("no run is paused") }
        for run in runs {
            switch run.condition {
            case .paused:
                try remote.ask(.resume, of: run)
                reporter.say("\(run.run): resumed")
            case .running: reporter.say("\(run.run): is running; there is nothing to resume")
            case .done, .failed, .stopped: reporter.say("\(run.run): has ended; there is nothing to resume")
            case .interrupted where try remote.job(of: run).map { !$0.state.isEnd } ?? false:
                reporter.say("\(run.run): the service resumes it by itself")
            case .interrupted, .detached, nil:
                throw FarmError(
                    .usage,
                    "\(run.run): was not begun by the service, which does not resume it\n   = resume it on its machine: 'penumbra "
                        + "resume \(run.run)'")
            }
        }
        return .done
    }

    private func wanted(of archive: RunArchive) throws -> [RunStatus] {
        if let run { return [try archive.run(run)] }
        return archive.isShared ? try archive.meantRuns() : try archive.runs().filter { $0.condition.canBeResumed }
    }

    private func reportNothing(_ archive: RunArchive) throws {
        guard !options.json else {
            HeaderLine().print()
            SummaryLine(exitCode: 0, []).print()
            return
        }
        guard !printing.quiet else { return }
        Console.print("no run was interrupted")
        if let latest = try archive.runs().first, latest.exitCode == Int(RunOutcome.workLeft.rawValue),
            let left = latest.leftFrames(shownFrom: currentFolder())
        {
            Console.print(left)
        }
    }

    /// - Returns: the exit code of the run.
    private func resume(_ run: RunStatus, _ archive: RunArchive) async throws -> Int32 {
        switch await Resumption(of: run, in: archive, shownFrom: currentFolder()) {
        case .carriedOut(let shared): return try await carryOut(run, archive, shared)
        case .unpaused(let message):
            if !options.json, !printing.quiet { Console.print(message) }
            return 0
        case .refused(let message, let code):
            if !options.json { Console.print(message) }
            return Int32(code)
        }
    }

    /// Carries out the run's own request again.
    ///
    /// - Parameter shared: the run's folder, if it is not in this machine's state folder.
    private func carryOut(_ known: RunStatus, _ archive: RunArchive, _ shared: RunFolder?) async throws -> Int32 {
        var run: RequestedRun
        do {
            run = try RepeatedRun(known, in: archive, from: options.place).run
        } catch let error as FarmError where error.outcome == .missingInput {
            // Other runs may still be resumed.
            Console.complain(error.message)
            return error.outcome.rawValue
        }
        run.request.engine = engine ?? run.request.engine
        run.request.workers = workers ?? run.request.workers
        guard let shared else {
            return try await run.exitCode(options, quiet: printing.quiet, openjd: openjd, notifies: !noNotify)
        }
        run.sharing = .resumed(shared, asJob: asJob)
        run.ownState = Settings.ownState(options.location)
        return try await TemporaryState.with(options.stateDir) { state in
            var run = run
            run.request.stateFolder = state
            return try await run.exitCode(options, quiet: printing.quiet, openjd: openjd, notifies: !noNotify)
        }
    }
}

extension RunLookupOptions {
    var place: RepeatedRun.Place {
        let here = currentFolder()
        return RepeatedRun.Place(
            folder: here, configFile: configFile.map { PathText.normalized($0, in: here) },
            adapt: StoredArguments.request)
    }
}

extension RequestedRun {
    /// Carries out the request, with its own first and last JSON line.
    ///
    /// - Parameters:
    ///   - quiet: as if the request had been quiet.
    ///   - notifies: whether the targets of the config file are told how the run ended.
    ///   - notes: messages that are printed first.
    func exitCode(
        _ options: RunLookupOptions, quiet: Bool, openjd: Bool = false, notifies: Bool = true, notes: [String] = []
    ) async throws -> Int32 {
        let reporter = ConsoleReporter(
            json: options.json || request.printsJSON, quiet: quiet || request.isQuiet, isStrict: request.isStrict,
            openjd: openjd)
        do {
            try await reporter.handling { reporter in
                for note in notes { reporter.note(note) }
                return try await notifies ? reporter.followAndNotify(self) : reporter.follow(self)
            }
            return 0
        } catch let exit as ExitCode {
            return exit.rawValue
        }
    }
}

/// Requests of version 1, which are command lines.
private enum StoredArguments {
    /// The request of a stored command line. Later versions are returned unchanged.
    static func request(_ stored: RunRequest) throws -> RunRequest {
        guard let arguments = stored.arguments else { return stored }
        let words = ArgumentCheck.withOrphans(arguments)
        guard let command = try Penumbra.parseAsRoot(["run"] + words) as? RunCommand else {
            throw FarmError(.storage, "the stored command of the run is none of 'penumbra run'")
        }
        var request = command.request(in: stored.folder)
        (request.inputs, request.leftOf) = (stored.inputs, stored.leftOf)
        return request
    }
}
