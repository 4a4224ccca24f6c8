import ArgumentParser
import Coordination
import FoundationEssentials
import Glibc
import JobModel
import JobStorage
import Planning
import RenderFarm
import Reports
import Runs
import Settings

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume a run that was interrupted or paused.",
        discussion: """
            Carries out the request of the run again. Published outputs stay, rendered tiles are used, and the rest is \
            rendered. (The next 'penumbra run' of the manifest does the same.) A run that its deadline ended is not \
            resumed: 'penumbra run', or 'penumbra retry --state left', does the rest.
            """)

    @Argument(
        help: ArgumentHelp(
            "A run, by its name or the beginning of it, or a job, for its latest run. Default: all runs that were "
                + "interrupted or paused.", valueName: "run"))
    var run: String?
    @OptionGroup var options: RunLookupOptions
    @OptionGroup var shared: RunDirOption

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

    func validate() throws {
        try LocationOptions.check(workers: workers)
        if openjd, options.json { throw ValidationError("--openjd and --json cannot both have the standard output.") }
        if asJob, shared.runDir == nil {
            throw ValidationError("--as-job resumes the run of a --run-dir; give --run-dir, too.")
        }
    }

    func run() async throws {
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
        Console.print("no run was interrupted")
        if let latest = try archive.runs().first, latest.exitCode == Int(RunOutcome.workLeft.rawValue),
            let left = Self.left(of: latest)
        {
            Console.print(left)
        }
    }

    /// - Returns: the exit code of the run.
    private func resume(_ run: RunStatus, _ archive: RunArchive) async throws -> Int32 {
        let (name, folder) = (run.stored.name, run.folder)
        func say(_ message: String) { if !options.json { Console.print("\(name): \(message)") } }
        if archive.isShared, let code = run.exitCode {
            // Its coordinator may have been killed before it removed the folder.
            await Blocking.run { RunFolder.sweep(state: archive.state) }
            say("has ended with exit code \(code)")
            return Int32(code)
        }
        switch run.condition {
        case .paused:
            folder.takeBack(.pause)
            say("resumed")
        case _ where archive.isShared:
            return try await carryOut(run, archive, RunFolder(state: archive.state, name: name))
        case .interrupted:
            let isLocal = folder.state == archive.state
            return try await carryOut(run, archive, isLocal ? nil : RunFolder(state: folder.state, name: name))
        case .detached:
            say("is with the cluster; 'penumbra resume --run-dir \(folder.state)' takes it over")
        case .running: say("is running; there is nothing to resume")
        case .done, .failed, .stopped:
            if let left = Self.left(of: run), !options.json {
                Console.print(left)
            } else {
                say("has ended; there is nothing to resume")
            }
        }
        return 0
    }

    /// The command that does the rest of a run which has ended early, by its deadline say; nil for other runs.
    private static func left(of run: RunStatus) -> String? {
        guard run.condition.isEnded, run.counts.left > 0 else { return nil }
        let (name, left) = (run.stored.name, run.counts.left)
        let manifest = PathText.shown(run.stored.manifest, from: currentFolder())
        return "\(name): has ended, with \(Figures.plural(left, "frame")) left; 'penumbra run \(manifest)' or "
            + "'penumbra retry \(name) --state left' does the rest"
    }

    /// Carries out the run's own request again.
    ///
    /// - Parameter shared: the run's folder, if it is not in this machine's state folder.
    private func carryOut(_ run: RunStatus, _ archive: RunArchive, _ shared: RunFolder?) async throws -> Int32 {
        guard var repeated = try RepeatedRun(run, options, archive) else { return RunOutcome.missingInput.rawValue }
        repeated.run.request.engine = engine ?? repeated.run.request.engine
        repeated.run.request.workers = workers ?? repeated.run.request.workers
        guard let shared else { return try await repeated.exitCode(openjd: openjd) }
        repeated.run.sharing = .resumed(shared, asJob: asJob)
        repeated.run.ownState = Settings.ownState(options.location)
        return try await TemporaryState.with(options.stateDir) { state in
            repeated.run.request.stateFolder = state
            return try await repeated.exitCode(openjd: openjd)
        }
    }
}

/// A stored run whose request is carried out again.
struct RepeatedRun {
    var run: RequestedRun
    /// The stored request, without changes for this process.
    private var stored: RunRequest
    private let isForJSON: Bool

    /// Nil if the run cannot be repeated. The reason is printed.
    init?(_ known: RunStatus, _ options: RunLookupOptions, _ archive: RunArchive) throws {
        func refuse(_ reason: String) { Console.complain("\(known.stored.name): \(reason)") }
        let text = known.stored.request
        guard let found = RunRequest(text: text), access(found.folder, X_OK) == 0 else {
            refuse("the folder in which it was started is gone; run its manifest again")
            return nil
        }
        guard found.isKnown else {
            refuse("a later version of Penumbra has begun it; resume it by that version, or run its manifest again")
            return nil
        }
        stored = try StoredArguments.request(found)
        var request = stored
        guard request.filesFrom != "-" else {
            refuse("its list of files came from the standard input; run it again with the same list")
            return nil
        }
        request.isWatching = false
        if !archive.isShared { request.stateFolder = archive.state }
        let here = currentFolder()
        request.configFile = options.configFile.map { PathText.normalized($0, in: here) } ?? request.configFile
        run = RequestedRun(resuming: request, storedText: text)
        // The current folder may be another one than the run's.
        run.shownFrom = here
        // Finished frames do not count any more.
        if let limit = request.limit, !known.condition.isEnded {
            run.remainingLimit = max(1, min(limit, known.counts.work - (try archive.concluded(of: known))))
        }
        if let left = request.leftOf { run.concluded = try archive.concludedInputs(ofRun: left) }
        run.single = (known.stored.manifest, known.stored.job)
        isForJSON = options.json || request.printsJSON
    }

    /// Makes it another run, with another request.
    mutating func change(by change: (inout RunRequest) -> Void) { run.change(&stored, by: change) }

    /// Carries out the request, with its own first and last JSON line.
    ///
    /// - Parameter notes: messages that are printed first.
    func exitCode(openjd: Bool = false, notes: [String] = []) async throws -> Int32 {
        let (run, request) = (run, run.request)
        let reporter = ConsoleReporter(
            json: isForJSON, quiet: request.isQuiet, isStrict: request.isStrict, openjd: openjd)
        do {
            try await reporter.handling { reporter in
                for note in notes { reporter.note(note) }
                return try await reporter.follow(run)
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
