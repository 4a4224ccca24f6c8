import ArgumentParser
import Exports
import FoundationEssentials
import JobModel
import Planning
import RenderFarm
import Settings

/// Prints the line that runs jobs from cron.
struct CrontabExport {
    let manifests: ManifestOptions
    let options: CronOptions
    let jobs: SelectionOptions
    let engine: EngineOptions
    let place: LocationOptions

    func write(_ reporting: ConsoleReporter) async throws -> RunOutcome {
        let arguments = runArguments(in: currentFolder())
        try Self.refuse(arguments)
        let (schedule, line) = try written(arguments)
        let settings = try Settings.load(place, engine: engine.engine)
        try refuseEngine(settings)
        let installation = Farm(settings)
        let files = ManifestFiles(
            options: manifests, catalog: try await installation.catalog(), settings: installation.settings)
        _ = try reporting.jobs(files.read())
        // Each would be refused every night.
        if let report = options.report { _ = try ReportFile(report, .page, in: currentFolder()) }
        if let metrics = options.metrics { _ = try ReportFile(metrics, .metrics, in: currentFolder()) }
        _ = try jobs.list()
        Console.print(line.text)
        for hint in schedule.hints { Console.complain("hint: \(hint.message)") }
        if let hint = environmentHint(ProcessInfo.processInfo.environment) { Console.complain("hint: \(hint)") }
        return .done
    }

    private func written(_ arguments: [String]) throws(FarmError) -> (CronSchedule, CrontabLine) {
        do {
            let schedule = try CronSchedule(options.schedule ?? "")
            let line = try CrontabLine(
                schedule: schedule, program: programPath(), arguments: ["run"] + arguments,
                folder: countsFromHere ? currentFolder() : nil)
            return (schedule, line)
        } catch {
            throw FarmError(.usage, error.message)
        }
    }

    /// What comes after `penumbra run`, the same wherever it is started.
    private func runArguments(in folder: String) -> [String] {
        func whole(_ path: String) -> String { PathText.normalized(path, in: folder) }
        func option(_ name: String, _ value: String?) -> [String] { value.map { [name, $0] } ?? [] }
        return ["--quiet"]
            + option("--config", place.configFile.map(whole))
            + option("--state-dir", place.stateDir.map(whole))
            + option("--scratch", place.scratch.map(whole))
            + option("--workers", place.workers.map(String.init))
            + option("--deadline", options.deadline)
            + option("--lock-wait", options.lockWait)
            + (options.force ? ["--force"] : []) + (options.strict ? ["--strict"] : [])
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

    /// Patterns and the entries of a list count from the folder in which the command was given.
    private var countsFromHere: Bool { !jobs.only.isEmpty || jobs.filesFrom != nil }

    private func refuseEngine(_ settings: Settings) throws(FarmError) {
        try settings.check(slurmArguments: engine.slurmArguments)
        if options.detach, settings.engine.value != .slurm {
            throw FarmError(.usage, "--detach needs a cluster: give --engine slurm, too")
        }
    }

    /// What `penumbra run` would refuse every night is refused now, in its words.
    private static func refuse(_ arguments: [String]) throws(FarmError) {
        if arguments.contains("-") {
            throw FarmError(.usage, "--files-from - is the standard input, and cron gives none; give a file")
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

    /// Cron starts a job with nothing of the environment that decided what was just checked.
    private func environmentHint(_ environment: [String: String]) -> String? {
        var names = Set(
            environment.keys.filter {
                $0.hasPrefix("PENUMBRA_") || $0 == "XDG_CONFIG_HOME" || $0 == "XDG_STATE_HOME"
            })
        if place.configFile != nil { names.subtract(["PENUMBRA_CONFIG", "XDG_CONFIG_HOME"]) }
        if place.stateDir != nil { names.subtract(["PENUMBRA_STATE_DIR", "XDG_STATE_HOME"]) }
        if place.scratch != nil { names.remove("PENUMBRA_SCRATCH") }
        if place.workers != nil { names.remove("PENUMBRA_WORKERS") }
        guard !names.isEmpty else { return nil }
        let list = names.sorted().joined(separator: ", ")
        return "cron does not know this shell's \(list); write NAME=value lines above the job's, or use options and a "
            + "config file"
    }
}
