import ArgumentParser
import Exports
import FoundationEssentials
import JobModel
import Planning
import RenderFarm
import Runs
import Settings

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a job for another scheduler: cron, Slurm, or Open Job Description.",
        discussion: """
            Checks the manifest, makes every path absolute, and writes what the other program wants:

              penumbra export --to crontab night.yaml --schedule "15 2 * * *"    a line for a user's crontab
              penumbra export --to slurm photos.yaml --output photos-slurm       a folder with scripts for sbatch
              penumbra export --to openjd photos.yaml --output template.yaml     a template, for AWS Deadline Cloud say

            Without --output, standard output holds only the line or the template. Hints go to standard error. \
            The crontab's line runs quietly: cron sends a mail when something went wrong, and none when all is well. \
            The others cut the job into shards, parts that take about a minute by an estimate from the pictures' headers.
            """)

    enum Target: String, CaseIterable, ExpressibleByArgument {
        case crontab
        case openjd
        case slurm
    }

    @OptionGroup var manifests: ManifestOptions

    @Option(help: "What to write for.")
    var to: Target

    @OptionGroup(title: "Options of --to crontab") var cron: CronOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Engine Options") var engine: EngineOptions
    @OptionGroup(title: "Options of --to openjd and slurm") var shards: ShardOptions
    @OptionGroup(title: "Location Options") var location: LocationOptions

    func validate() throws {
        if let other = cron.pointless { throw ValidationError(other) }
        for option in cron.given + givenChoices + shards.given + givenPlaces where !option.targets.contains(to) {
            let others = option.targets.map { "--to \($0.rawValue)" }.joined(separator: " and ")
            throw ValidationError("\(option.name) belongs to \(others), not to --to \(to.rawValue).")
        }
        guard to == .crontab || manifests.manifests.count == 1 else {
            throw ValidationError("--to \(to.rawValue) takes one manifest; export each of them.")
        }
        if to == .slurm, jobs.filesFrom == "-" {
            throw ValidationError("--files-from - cannot be read again when the job is prepared; give a file.")
        }
        guard to != .slurm || shards.path != nil else {
            throw ValidationError("--to slurm writes several files: name a new folder by --output.")
        }
        guard to != .crontab || cron.schedule != nil else {
            throw ValidationError(#"--to crontab needs a time, such as --schedule "15 2 * * *"."#)
        }
    }

    private var givenChoices: [TargetOption] {
        [
            TargetOption("--only", !jobs.only.isEmpty, [.crontab, .slurm]),
            TargetOption("--limit", jobs.limit != nil, [.crontab, .openjd, .slurm]),
            TargetOption("--files-from", jobs.filesFrom != nil, [.crontab, .slurm]),
            TargetOption("--allow-empty", jobs.allowEmpty, [.crontab, .openjd, .slurm]),
            TargetOption("--allow-gone", jobs.allowGone, [.crontab, .openjd, .slurm]),
        ].filter(\.isGiven)
    }

    /// The arguments of the step that prepares the run. Templates have no parameters for patterns and
    /// lists.
    private var preparation: [String] {
        var result = jobs.only.flatMap { ["--only", $0] }
        if let limit = jobs.limit { result += ["--limit", String(limit)] }
        if let list = jobs.filesFrom { result += ["--files-from", PathText.normalized(list, in: currentFolder())] }
        if cron.force { result.append("--force") }
        if jobs.allowEmpty { result.append("--allow-empty") }
        if jobs.allowGone { result.append("--allow-gone") }
        return result
    }

    private var givenPlaces: [TargetOption] {
        [
            TargetOption("--engine", engine.engine != nil, [.crontab]),
            TargetOption("--slurm-arg", !engine.slurmArguments.isEmpty, [.crontab, .slurm]),
            TargetOption("--state-dir", location.stateDir != nil, [.crontab]),
            TargetOption("--scratch", location.scratch != nil, [.crontab]),
            // Slurm decides the number of cores.
            TargetOption("--workers", location.workers != nil, [.crontab, .openjd]),
        ].filter(\.isGiven)
    }

    func run() async throws {
        try await ConsoleReporter(json: false).handling { reporter in
            switch to {
            case .crontab:
                return try await CrontabExport(
                    manifests: manifests, options: cron, jobs: jobs, engine: engine, location: location
                ).write(reporter)
            case .openjd, .slurm:
                return try await ShardExport(
                    target: to, manifests: manifests, options: shards, slurmArguments: engine.slurmArguments,
                    jobs: jobs, preparation: preparation, location: location
                ).write(reporter)
            }
        }
    }
}

/// An option that only some targets accept.
struct TargetOption {
    let name: String
    let isGiven: Bool
    let targets: [ExportCommand.Target]

    init(_ name: String, _ isGiven: Bool, _ targets: [ExportCommand.Target]) {
        (self.name, self.isGiven, self.targets) = (name, isGiven, targets)
    }
}

/// The options of `--to crontab`.
struct CronOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "When: minute, hour, day of month, month and weekday as in crontab(5), or a word like @daily.",
            valueName: "when"))
    var schedule: String?

    @Option(help: ArgumentHelp("Passed on to 'penumbra run'.", valueName: "time"))
    var deadline: String?

    @Option(help: ArgumentHelp("Passed on to 'penumbra run'.", valueName: "time"))
    var lockWait: String?

    @Flag(help: "Passed on to 'penumbra run'.")
    var force = false

    @Flag(help: "Passed on to 'penumbra run'.")
    var retryBroken = false

    @Flag(help: "Passed on to 'penumbra run'.")
    var strict = false

    @Flag(help: "Passed on to 'penumbra run'.")
    var noNotify = false

    @Flag(help: "Passed on to 'penumbra run', as is =all.")
    var deleteOrphans = false

    /// See ``RunCommand``.
    @Flag(name: .customLong("delete-orphans-all"), help: .hidden)
    var deleteAllOrphans = false

    @Flag(help: "Passed on to 'penumbra run'.")
    var detach = false

    @Option(
        help: ArgumentHelp("Passed on to 'penumbra run'.", valueName: "file.html"),
        completion: .file(extensions: ["html"]))
    var report: String?

    @Option(
        help: ArgumentHelp("Passed on to 'penumbra run'.", valueName: "file.prom"),
        completion: .file(extensions: ["prom"]))
    var metrics: String?

    /// Accepted, because the line has `--quiet` anyway.
    @Flag(name: .shortAndLong, help: .hidden)
    var quiet = false

    @Flag(help: .hidden)
    var json = false

    @Flag(help: .hidden)
    var watch = false

    @Option(name: .customLong("run"), help: .hidden)
    var runName: String?

    @Option(help: .hidden)
    var manifestPath: String?

    @Flag(help: .hidden)
    var resumable = false

    /// Refuses an option of `penumbra run` that no exported job can have.
    var pointless: String? {
        if runName != nil { return "--run names one run, and another scheduler begins one each time." }
        if manifestPath != nil || resumable {
            return "\(resumable ? "--resumable" : "--manifest-path") is for programs that begin runs themselves."
        }
        let silent = ", and cron wants lines that end silently."
        return watch ? "--watch never ends\(silent)" : json ? "--json prints lines for programs\(silent)" : nil
    }

    var given: [TargetOption] {
        [
            TargetOption("--schedule", schedule != nil, [.crontab]),
            TargetOption("--deadline", deadline != nil, [.crontab]),
            TargetOption("--lock-wait", lockWait != nil, [.crontab]),
            TargetOption("--force", force, [.crontab, .openjd, .slurm]),
            TargetOption("--retry-broken", retryBroken, [.crontab]),
            TargetOption("--strict", strict, [.crontab]),
            TargetOption("--no-notify", noNotify, [.crontab]),
            TargetOption("--delete-orphans", deleteOrphans || deleteAllOrphans, [.crontab]),
            TargetOption("--quiet", quiet, [.crontab]),
            TargetOption("--detach", detach, [.crontab]),
            TargetOption("--report", report != nil, [.crontab]),
            TargetOption("--metrics", metrics != nil, [.crontab]),
        ].filter(\.isGiven)
    }
}

/// The options of `--to openjd` and `--to slurm`.
struct ShardOptions: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A new file for the template, or a new folder for the scripts.", valueName: "path"),
        completion: .file())
    var output: String?

    @Option(
        help: ArgumentHelp(
            "Parts that the work is cut into, 1 to 1024. Default: such that each takes about a minute.",
            valueName: "n"))
    var shards: Int?

    @Option(
        help: ArgumentHelp(
            "Penumbra on the other machines: a path, or a name that they look up. Default: this program's path.",
            valueName: "program"), completion: .file())
    var program: String?

    /// Nil for standard output.
    var path: String? { output == "-" ? nil : output }

    var given: [TargetOption] {
        [
            TargetOption("--output", output != nil, [.openjd, .slurm]),
            TargetOption("--shards", shards != nil, [.openjd, .slurm]),
            TargetOption("--program", program != nil, [.openjd, .slurm]),
        ].filter(\.isGiven)
    }

    func validate() throws {
        if let shards, !ShardExport.shardCounts.contains(shards) {
            throw ValidationError("--shards takes 1 to 1024, not \(shards).")
        }
        if program?.isEmpty == true { throw ValidationError("--program is empty.") }
    }
}

/// Prints the line that runs jobs from cron.
struct CrontabExport {
    let manifests: ManifestOptions
    let options: CronOptions
    let jobs: SelectionOptions
    let engine: EngineOptions
    let location: LocationOptions

    func write(_ reporter: ConsoleReporter) async throws -> RunOutcome {
        let arguments = runArguments(in: currentFolder())
        try Self.refuse(arguments)
        let (schedule, line) = try written(arguments)
        let settings = try Settings.load(location, engine: engine.engine)
        try refuseEngine(settings)
        let request = RunRequest(manifests, jobs)
        try request.refuseEmptyPatterns()
        let files = ManifestFiles(
            request, catalog: try await Farm(settings).catalog(), settings: settings, control: Signals.current)
        _ = try reporter.jobs(files.read())
        // `penumbra run` would refuse these every night.
        if let report = options.report { _ = try ReportFile(report, .page, in: currentFolder()) }
        if let metrics = options.metrics { _ = try ReportFile(metrics, .metrics, in: currentFolder()) }
        _ = try ListedFiles.list(request.filesFrom, in: request.folder, control: Signals.current)
        Console.print(line.text)
        for hint in schedule.hints { Console.complain("hint: \(hint.message)") }
        if let hint = environmentHint(ProcessInfo.processInfo.environment) { Console.complain("hint: \(hint)") }
        return .done
    }

    private func written(_ arguments: [String]) throws(FarmError) -> (CronSchedule, CrontabLine) {
        do {
            let schedule = try CronSchedule(options.schedule ?? "")
            let line = try CrontabLine(
                schedule: schedule, program: CalledProgram.current(in: currentFolder()).path(),
                arguments: ["run"] + arguments,
                folder: countsFromHere ? currentFolder() : nil)
            return (schedule, line)
        } catch {
            throw FarmError(.usage, error.message)
        }
    }

    /// The arguments of `penumbra run`, with absolute paths.
    private func runArguments(in folder: String) -> [String] {
        func whole(_ path: String) -> String { PathText.normalized(path, in: folder) }
        func option(_ name: String, _ value: String?) -> [String] { value.map { [name, $0] } ?? [] }
        return ["--quiet"]
            + option("--config", location.configFile.map(whole))
            + option("--state-dir", location.stateDir.map(whole))
            + option("--scratch", location.scratch.map(whole))
            + option("--workers", location.workers.map(String.init))
            + option("--deadline", options.deadline)
            + option("--lock-wait", options.lockWait)
            + (options.force ? ["--force"] : []) + (options.retryBroken ? ["--retry-broken"] : [])
            + (options.strict ? ["--strict"] : [])
            + (options.noNotify ? ["--no-notify"] : [])
            + (options.deleteAllOrphans ? ["--delete-orphans=all"] : options.deleteOrphans ? ["--delete-orphans"] : [])
            + option("--report", options.report.map(whole)) + option("--metrics", options.metrics.map(whole))
            + option("--engine", engine.engine?.rawValue) + engine.slurmArguments.flatMap { ["--slurm-arg", $0] }
            + (options.detach ? ["--detach"] : [])
            + jobs.only.flatMap { ["--only", $0] } + option("--limit", jobs.limit.map(String.init))
            + option("--files-from", jobs.filesFrom.map { $0 == "-" ? $0 : whole($0) })
            + (jobs.allowEmpty ? ["--allow-empty"] : []) + (jobs.allowGone ? ["--allow-gone"] : [])
            + manifests.overrides.flatMap { ["--set", $0] }
            + manifests.manifests.map(whole)
    }

    /// Whether patterns or a list start from the current folder.
    private var countsFromHere: Bool { !jobs.only.isEmpty || jobs.filesFrom != nil }

    private func refuseEngine(_ settings: Settings) throws(FarmError) {
        try settings.check(slurmArguments: engine.slurmArguments)
        if options.detach, let refusal = settings.engine.value.detachRefusal { throw FarmError(.usage, refusal) }
    }

    /// Refuses what `penumbra run` would refuse every night, with the same message.
    private static func refuse(_ arguments: [String]) throws(FarmError) {
        if arguments.contains("-") {
            throw FarmError(.usage, "--files-from - is the standard input, and cron gives none\n   = give a file")
        }
        do {
            let checked = try ArgumentCheck(["run"] + arguments)
            _ = try RunCommand.parse(Array(checked.arguments.dropFirst()))
        } catch let error as FarmError {
            throw error
        } catch {
            throw FarmError(.usage, RunCommand.message(for: error))
        }
    }

    /// Warns of environment variables that cron does not have.
    private func environmentHint(_ environment: [String: String]) -> String? {
        var names = Set(
            environment.keys.filter {
                $0.hasPrefix("PENUMBRA_") || $0 == "XDG_CONFIG_HOME" || $0 == "XDG_STATE_HOME"
            })
        if location.configFile != nil { names.subtract(["PENUMBRA_CONFIG", "XDG_CONFIG_HOME"]) }
        if location.stateDir != nil { names.subtract(["PENUMBRA_STATE_DIR", "XDG_STATE_HOME"]) }
        if location.scratch != nil { names.remove("PENUMBRA_SCRATCH") }
        if location.workers != nil { names.remove("PENUMBRA_WORKERS") }
        guard !names.isEmpty else { return nil }
        let list = names.sorted().joined(separator: ", ")
        return "cron does not know this shell's \(list); write NAME=value lines above the job's, or use options and a "
            + "config file"
    }
}
