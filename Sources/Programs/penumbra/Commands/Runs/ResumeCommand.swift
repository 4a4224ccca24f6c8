import ArgumentParser
import Coordination
import FoundationEssentials
import Glibc
import JobModel
import JobStorage
import Planning
import Reports
import Settings

struct ResumeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Go on with a run that was interrupted or paused.",
        discussion: """
            Gives the command of the run again, in the folder where it was given. Outputs that were published stay, tiles \
            that were rendered are used, and what had not begun is done. (The next 'penumbra run' of the manifest does the \
            same.) A run that its deadline ended is not resumed: 'penumbra run', or 'penumbra retry --state left', does the \
            rest.
            """)

    @Argument(
        help: ArgumentHelp(
            "A run, by its name or the beginning of it, or a job, whose latest run is meant. Default: all runs that were "
                + "interrupted or paused.", valueName: "run"))
    var run: String?
    @OptionGroup var options: RunOptions
    @OptionGroup var shared: RunDirOption

    @Option(help: "Who does what is left: local, worker processes here, or slurm. Default: as the run was begun.")
    var engine: EngineName?

    @Option(help: ArgumentHelp("Worker processes at once. Default: as the run was begun.", valueName: "n"))
    var workers: Int?

    @Flag(help: "Print lines that Open Job Description knows: openjd_progress, openjd_status, openjd_fail.")
    var openjd = false

    /// In a job of its own, which is followed by another one when it ends too early.
    @Flag(help: .hidden)
    var asJob = false

    func validate() throws {
        if let workers, !(1...1024).contains(workers) {
            throw ValidationError("--workers takes 1 to 1024, not \(workers).")
        }
        if openjd, options.json { throw ValidationError("--openjd and --json cannot both have the standard output.") }
        if asJob, shared.runDir == nil { throw ValidationError("--as-job goes on with the run of a --run-dir.") }
    }

    func run() async throws {
        let teller = OpenJDTeller(isOn: openjd)
        do {
            try await goOn()
        } catch let exit as ExitCode {
            if exit == .success {
                teller.tell(progress: 100)
            } else {
                teller.tell(failure: "penumbra resume has ended with exit code \(exit.rawValue)")
            }
            throw exit
        }
    }

    private func goOn() async throws {
        // The run that goes on writes JSON lines, and this command none.
        try await Reporting(json: false).handling { _ in
            let archive = try options.archive(shared)
            if archive.isShared { throw ExitCode(try await goOnWithAll(archive)) }
            let wanted =
                try run.map { [try archive.run($0)] } ?? archive.runs().filter { $0.condition.canGoOn }
            if wanted.isEmpty, options.json {
                JSONLine.header.print()
                JSONLine.summary(SummaryLine(exitCode: 0, [])).print()
            } else if wanted.isEmpty {
                Console.print("no run was interrupted")
                if let latest = try archive.runs().first, latest.exitCode == Int(ExitStatus.workLeft.rawValue),
                    let left = Self.left(of: latest)
                {
                    Console.print(left)
                }
            }
            // Whoever ends this command means all of it.
            let signals = Signals.ofRuns
            var worst: Int32 = 0
            for run in wanted where signals.first == nil { worst = max(worst, try await goOn(with: run, archive)) }
            throw ExitCode(max(worst, signals.first.map { 128 + $0 } ?? 0))
        }
    }

    private func goOn(with run: KnownRun, _ archive: RunArchive) async throws -> Int32 {
        switch run.condition {
        case .paused:
            RunRequests.takeBack(.pause, of: run.stored.name, state: run.place)
            if !options.json { Console.print("\(run.stored.name): goes on") }
            return 0
        case .interrupted:
            let place = run.place
            return try await give(
                run, archive, place == archive.state ? nil : SharedRun(place: place, name: run.stored.name))
        case .detached:
            if !options.json {
                Console.print(
                    "\(run.stored.name): is with the cluster; 'penumbra resume --run-dir \(run.place)' takes it over"
                )
            }
            return 0
        case .running, .done, .failed, .stopped:
            let what = run.condition == .running ? "is running" : "has ended"
            let words = Self.left(of: run) ?? "\(run.stored.name): \(what), there is nothing to go on with"
            if !options.json { Console.print(words) }
            return 0
        }
    }

    /// Of a run that has ended before all was done, such as by its deadline: what does the rest. Nil for all others.
    private static func left(of run: KnownRun) -> String? {
        guard run.condition.isEnded, run.counts.left > 0 else { return nil }
        let (name, left) = (run.stored.name, run.counts.left)
        let manifest = PathText.shown(run.stored.manifest, from: currentFolder())
        return "\(name): has ended, with \(Figures.plural(left, "frame")) left; 'penumbra run \(manifest)' or "
            + "'penumbra retry \(name) --state left' does what is still to be done of them"
    }

    /// Runs that several machines see: what they came to is told by their folders.
    private func goOnWithAll(_ archive: RunArchive) async throws -> Int32 {
        let signals = Signals.ofRuns
        var worst: Int32 = 0
        for run in try self.run.map({ [try archive.run($0)] }) ?? archive.meantRuns() where signals.first == nil {
            if let code = run.exitCode {
                if !options.json { Console.print("\(run.stored.name): has ended with exit code \(code)") }
                worst = max(worst, Int32(code))
            } else if run.condition == .paused {
                worst = max(worst, try await goOn(with: run, archive))
            } else {
                worst = max(worst, try await give(run, archive, SharedRun(place: archive.state, name: run.stored.name)))
            }
        }
        return max(worst, signals.first.map { 128 + $0 } ?? 0)
    }

    /// The run's own command again.
    ///
    /// - Parameter shared: where it is, if not in this machine's state folder.
    private func give(_ run: KnownRun, _ archive: RunArchive, _ shared: SharedRun? = nil) async throws -> Int32 {
        guard var command = try RepeatedRun(run, options, archive).command else {
            return ExitStatus.missingInput.rawValue
        }
        command.json = command.json || options.json
        command.openjd = openjd
        command.engine.engine = engine ?? command.engine.engine
        command.place.workers = workers ?? command.place.workers
        guard let shared else { return try await exitCode(of: command) }
        command.sharing = .resumed(shared, asJob: asJob)
        command.ownState = Settings.ownState(options.place)
        return try await PassingState.with(options.stateDir) { state in
            command.place.stateDir = state
            return try await exitCode(of: command)
        }
    }

    private func exitCode(of command: RunCommand) async throws -> Int32 {
        do {
            try await command.run()
            return 0
        } catch let exit as ExitCode {
            return exit.rawValue
        }
    }
}

extension KnownRun.Condition {
    var canGoOn: Bool { self == .interrupted || self == .paused }
}

/// A run's command, to be given again in its folder.
struct RepeatedRun {
    /// Nil when it cannot be given again; that was told.
    let command: RunCommand?

    init(_ run: KnownRun, _ options: RunOptions, _ archive: RunArchive) throws {
        guard let request = RunRequest(text: run.stored.request), chdir(request.folder) == 0 else {
            Console.complain("\(run.stored.name): the folder in which it was started is gone; run its manifest again")
            command = nil
            return
        }
        guard
            var command = try Penumbra.parseAsRoot(["run"] + ArgumentCheck.withOrphans(request.arguments))
                as? RunCommand
        else {
            command = nil
            return
        }
        guard command.jobs.filesFrom != "-" else {
            Console.complain(
                "\(run.stored.name): its list of files came from the standard input; run it again with the same list")
            self.command = nil
            return
        }
        command.firstLimit = command.jobs.limit
        // What is done of it counts no more.
        if let limit = command.jobs.limit, !run.condition.isEnded {
            command.jobs.limit = max(1, min(limit, run.counts.work - (try archive.concluded(of: run))))
        }
        command.request = request
        command.retried = request.inputs.map { Set($0.map(PathKey.init)) }
        command.leftOf = request.leftOf
        if let left = request.leftOf { command.done = try archive.concludedInputs(ofRun: left) }
        command.single = (run.stored.manifest, run.stored.job)
        if !archive.isShared { command.place.stateDir = archive.state }
        command.place.configFile = options.configFile ?? command.place.configFile
        // It comes to an end, whatever the command was.
        command.watch = false
        command.detach = false
        self.command = command
    }
}
