import ArgumentParser
import Coordination
import Engines
import FoundationEssentials
import JobModel
import Planning
import RenderFarm
import Runs
import Scheduling
import Settings

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run jobs, with worker processes here or on a cluster.",
        discussion: """
            Penumbra reads and checks all manifests before anything starts. Then it finds each job's inputs, and renders, \
            verifies and publishes its outputs. An output is complete or absent at its path, even after a killed process, a \
            full disk or Ctrl-C.

            A run renders only what changed: 'penumbra plan' says why each frame would run or not. Outputs that were edited, \
            or that Penumbra did not publish, are kept.

            'penumbra help exit-codes' says what each exit code means.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Location Options") var location: LocationOptions
    @OptionGroup(title: "Engine Options") var engine: EngineOptions

    @Flag(help: "Render everything again, and replace all files at the outputs' paths.")
    var force = false

    @Flag(help: "Try pictures again that are still broken, too.")
    var retryBroken = false

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Count known problems as failures: pictures that are still broken, outputs that are kept.")
    var strict = false

    @Flag(help: "Print JSON lines. The first names their version, and the last is the summary.")
    var json = false

    @Option(
        help: ArgumentHelp("How long to wait for other runs to end: 90, 5m.", valueName: "time"),
        transform: TimeArgument.read)
    var lockWait: TimeArgument?

    @Option(
        help: ArgumentHelp("End cleanly after this time: 50m. The next run continues.", valueName: "time"),
        transform: TimeArgument.read)
    var deadline: TimeArgument?

    @Flag(
        help: "Remove unedited outputs of this job whose inputs are gone. With =all, remove them even if they are many."
    )
    var deleteOrphans = false

    /// `--delete-orphans=all`, as ``ArgumentCheck`` rewrites it. An option with an optional value loses the value if another
    /// option follows (swift-argument-parser 1.8.2).
    @Flag(name: .customLong("delete-orphans-all"), help: .hidden)
    var deleteAllOrphans = false

    @Flag(
        help:
            "Run again whenever the inputs' folders change, until a signal comes. Report only runs that did something."
    )
    var watch = false

    @Flag(
        help: "Hand the work to the cluster and return: 'penumbra status', 'wait' and 'cancel' take it by --run-dir."
    )
    var detach = false

    @Option(
        name: .customLong("run"),
        help: ArgumentHelp(
            "Name the run, which may have been interrupted under this name. By default its name is its time.",
            valueName: "name"), completion: Completions.runs,
        transform: RunNameArgument.read)
    var runName: RunNameArgument?

    /// For programs that begin runs, such as the service.
    @Flag(
        help: ArgumentHelp(
            "Give a run that a signal or an error of this machine stops no end, so that --run NAME resumes it.",
            visibility: .hidden))
    var resumable = false

    /// For manifests that were handed in as text. The service keeps them in files of its own.
    @Option(
        help: ArgumentHelp(
            "The path of the manifest, where another program has copied its text from. It need not exist.",
            valueName: "path", visibility: .hidden))
    var manifestPath: String?

    @Option(
        help: ArgumentHelp(
            "Write a page that reports the run, with pictures before and after.", valueName: "file.html"),
        completion: .file(extensions: ["html"]))
    var report: String?

    @Option(
        help: ArgumentHelp("Write figures for Prometheus' textfile collector.", valueName: "file.prom"),
        completion: .file(extensions: ["prom"]))
    var metrics: String?

    @Flag(help: "Send no notifications of the config file's on_end and on_failure.")
    var noNotify = false

    func validate() throws {
        if jobs.filesFrom != nil, manifests.manifests.count > 1 {
            throw ValidationError("--files-from names the files of one job; give one manifest.")
        }
        if manifestPath != nil, manifests.manifests.count != 1 {
            throw ValidationError("--manifest-path is the path of one manifest.")
        }
        let ending = (jobs.filesFrom == nil ? [] : ["--files-from"]) + (deadline == nil ? [] : ["--deadline"])
        if watch || detach, runName != nil {
            throw ValidationError(
                watch
                    ? "--watch begins a run at each change; --run names one run."
                    : "--detach leaves the run to jobs of the cluster; --run names a run of this machine.")
        }
        if watch, !ending.isEmpty {
            throw ValidationError(
                "--watch runs until it is stopped; leave out \(ending.joined(separator: " and ")).")
        }
        if detach, watch || deadline != nil || jobs.filesFrom == "-" {
            let wrong = watch ? "--watch" : deadline != nil ? "--deadline" : "--files-from -"
            throw ValidationError("--detach leaves the run to jobs of the cluster, which cannot use \(wrong).")
        }
    }

    func run() async throws {
        // The last message in the log of a service's run says why it failed.
        let reporter = ConsoleReporter(
            json: json, quiet: quiet, isStrict: strict, isWatching: watch, listsKnown: resumable)
        try await reporter.handling { reporter in
            var request = self.request()
            if let manifestPath { try request.takeText(as: manifestPath) }
            var run = RequestedRun(request)
            run.name = runName?.name
            run.isLeftOpen = resumable
            return try await noNotify ? reporter.follow(run) : reporter.followAndNotify(run)
        }
    }

    /// The request of this command line.
    ///
    /// - Parameter folder: the folder in which it was given.
    func request(in folder: String = currentFolder()) -> RunRequest {
        var request = RunRequest(manifests, jobs, location, in: folder)
        (request.isForced, request.isStrict, request.triesBroken) = (force, strict, retryBroken)
        request.orphans = deleteAllOrphans ? .allRemoved : deleteOrphans ? .removed : .listed
        (request.lockWait, request.deadline) = (lockWait?.seconds ?? 0, deadline?.seconds)
        (request.isWatching, request.isDetached) = (watch, detach)
        (request.engine, request.slurmArguments) = (engine.engine, engine.slurmArguments)
        (request.reportPage, request.metricsFile) = (report, metrics)
        (request.isQuiet, request.printsJSON) = (quiet, json)
        return request
    }
}
