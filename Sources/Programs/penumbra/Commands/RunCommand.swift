import ArgumentParser
import Coordination
import Dispatching
import FoundationEssentials
import JobModel
import Planning
import Scheduling
import Settings

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run jobs, with worker processes here or on a cluster.",
        discussion: """
            All manifests are read and checked before anything starts. Then each job's inputs are found, its outputs \
            rendered, verified and put at their final paths in one step each. A process that is killed, a full disk, \
            Ctrl-C: an output is there whole or not at all.

            A run does only what changed: 'penumbra plan' says why each frame would run or not. Outputs that were edited, \
            or that Penumbra did not publish, are left as they are.

            Exit codes: 0 done; 1 some frames failed; 3 a deadline was reached, work is left; 64 usage; 65 a manifest or \
            config is wrong; 66 inputs are missing; 69 a component is missing; 74 the disk is full or read-only; 75 \
            another run of the job, or into its folder, is going on; 129, 130, 143 interrupted.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Place Options") var place: PlaceOptions
    @OptionGroup(title: "Engine Options") var engine: EngineOptions

    @Flag(help: "Make everything again, and replace whatever is at the outputs' paths.")
    var force = false

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Count known troubles as failures: pictures that are still broken, outputs that are kept.")
    var strict = false

    @Flag(help: "Print JSON lines, the first {\"schema\":1}, the last the summary.")
    var json = false

    @Option(
        help: ArgumentHelp("How long to wait for other runs to end: 90, 5m.", valueName: "time"),
        transform: TimeArgument.read)
    var lockWait: TimeArgument?

    @Option(
        help: ArgumentHelp("End cleanly after this time: 50m. The next run goes on.", valueName: "time"),
        transform: TimeArgument.read)
    var deadline: TimeArgument?

    @Flag(help: "Remove unedited outputs of this job whose inputs are gone; =all even when they are many.")
    var deleteOrphans = false

    /// `--delete-orphans=all`, as ``Penumbra/main()`` rewrites it: an option that may have a value loses it when another
    /// option follows (swift-argument-parser 1.8.2).
    @Flag(name: .customLong("delete-orphans-all"), help: .hidden)
    var deleteAllOrphans = false

    @Flag(
        help:
            "Run again whenever the inputs' folders change, until a signal comes. Tells only of runs that did something."
    )
    var watch = false

    @Flag(
        help: "Hand the work to the cluster and return: 'penumbra status', 'wait' and 'cancel' take it by --run-dir."
    )
    var detach = false

    @Option(
        help: ArgumentHelp(
            "Write a page that says what was done, with pictures before and after.", valueName: "file.html"))
    var report: String?

    @Option(help: ArgumentHelp("Write figures for Prometheus' textfile collector.", valueName: "file.prom"))
    var metrics: String?

    /// A file that has just appeared may still be written.
    private static func resting(_ job: JobSpec) -> JobSpec {
        var job = job
        if job.minAge == 0 { job.minAge = 2 }
        return job
    }

    /// What it is known by, when this command goes on with an earlier one.
    var request: RunRequest?

    /// Of several jobs the one that is gone on with, by its manifest and name; nil for all.
    var single: (manifest: String, job: String)?

    /// The inputs that `penumbra retry` has chosen; broken ones are tried again.
    var retried: Set<PathKey>?

    /// The run of which 'penumbra retry --state left' does what was left, and the inputs that it passes by therefore.
    var leftOf: String?
    var done: Set<PathKey> = []

    /// What 'penumbra retry' says of the frames that it was asked for.
    var notes: [String] = []

    /// What `--limit` said when the run began that this one goes on with; nil for what it says now.
    var firstLimit: Int?

    /// How the run goes on without this process; nil for what ``detach`` says.
    var sharing: RunWishes.Sharing?

    /// The user's state folder, where the run has another one.
    var ownState: String?

    /// Progress is told to a scheduler of Open Job Description.
    var openjd = false

    enum CodingKeys: CodingKey {
        case manifests, jobs, place, engine, force, quiet, strict, json, lockWait, deadline, deleteOrphans,
            deleteAllOrphans, watch, detach, report, metrics
    }

    private var wishes: RunWishes {
        var wishes = RunWishes()
        let own = RunRequest(arguments: Array(CommandLine.arguments.dropFirst(2)), folder: currentFolder())
        wishes.request = RunRequest(
            arguments: (request ?? own).arguments, folder: (request ?? own).folder, inputs: retried, leftOf: leftOf)
        wishes.lockWait = lockWait?.seconds ?? 0
        wishes.allowsEmpty = jobs.allowEmpty || watch
        wishes.acceptsEmpty = jobs.allowEmpty
        wishes.allowsGone = jobs.allowGone
        wishes.isStrict = strict
        wishes.slurmArguments = engine.slurmArguments
        wishes.sharing = sharing ?? (detach ? .detached : .none)
        wishes.ownState = ownState
        switch wishes.sharing {
        case .resumed: wishes.beginner = "penumbra prepare"
        case .none, .detached: if request != nil { wishes.beginner = "penumbra run" }
        case .prepared: break
        }
        wishes.deadline = deadline.map { Deadline(start: .now, allowed: $0.duration) }
        if deleteOrphans { wishes.orphans = .removed }
        if deleteAllOrphans { wishes.orphans = .allRemoved }
        return wishes
    }

    func validate() throws {
        if jobs.filesFrom != nil, manifests.manifests.count > 1 {
            throw ValidationError("--files-from names the files of one job; give one manifest.")
        }
        let ending = (jobs.filesFrom == nil ? [] : ["--files-from"]) + (deadline == nil ? [] : ["--deadline"])
        if watch, !ending.isEmpty {
            throw ValidationError(
                "--watch goes on until it is stopped; leave out \(ending.joined(separator: " and ")).")
        }
        if detach, watch || deadline != nil || jobs.filesFrom == "-" {
            let wrong = watch ? "--watch" : deadline != nil ? "--deadline" : "--files-from -"
            throw ValidationError("--detach leaves the run to others, who cannot have \(wrong).")
        }
    }

    func run() async throws {
        let wishes = wishes
        try await Reporting(
            json: json, quiet: quiet, isStrict: strict, isWatching: watch, openjd: openjd
        ).handling { reporting in
            for note in notes { reporting.note(note) }
            if deleteOrphans || deleteAllOrphans, !jobs.narrowing.isEmpty {
                reporting.warn(
                    "--delete-orphans does nothing together with \(jobs.narrowing.joined(separator: " and ")): a run of some "
                        + "frames knows of no outputs whose inputs are gone")
            }
            var wishes = wishes
            wishes.reports.page = try report.map { try ReportFile($0, .page) }
            wishes.reports.metrics = try metrics.map { try ReportFile($0, .metrics) }
            let installation = Installation(try Settings.load(place, engine: engine.engine))
            // What goes on with a run may have another engine than the one that began it.
            if request == nil, sharing == nil { try engine.check(against: installation.settings) }
            if wishes.sharing == .detached, installation.settings.engine.value != .slurm {
                throw CommandError(.usage, "--detach needs a cluster: give --engine slurm, too")
            }
            let signals = Signals.ofRuns
            let catalog = try await installation.introducedCatalog()
            reporting.warn(ofPluginsIn: catalog)
            let files = ManifestFiles(options: manifests, catalog: catalog, settings: installation.settings)
            func read() async throws -> (specs: [JobSpec], runner: JobRunner) {
                let read = await files.withExaminedPictures(by: installation.worker)
                let specs = try reporting.jobs(read).filter { spec in
                    single.map { spec.manifestPath == $0.manifest && spec.name == $0.job } ?? true
                }
                var preparation = JobPreparation(
                    installation: installation, catalog: catalog,
                    selection: jobs.selection(of: retried, without: done), limit: jobs.limit,
                    firstLimit: firstLimit ?? jobs.limit, list: try jobs.list(),
                    isForced: force, signals: signals, deadline: wishes.deadline, reread: files.rereader())
                preparation.allowsMissing = wishes.allowsEmpty || wishes.allowsGone
                preparation.allowsNothing = wishes.acceptsEmpty || wishes.allowsGone
                preparation.allowsGone = wishes.allowsGone
                let runner = JobRunner(
                    installation: installation, signals: signals, reporting: reporting, preparation: preparation,
                    wishes: wishes)
                return (specs, runner)
            }
            var texts = files.texts()
            let (specs, runner) = try await read()
            guard watch else { return try await runner.runTellingMetrics(specs) }
            func watched(_ specs: [JobSpec], _ runner: JobRunner) -> WatchedJobs {
                let resting = specs.map(Self.resting)
                return WatchedJobs(jobs: resting) { try await runner.runTellingMetrics(resting) }
            }
            var loop = WatchLoop(
                watched(specs, runner), manifests: files.paths, signals: signals, reporting: reporting
            ) {
                let now = files.texts()
                guard now != texts else { return nil }
                texts = now
                let (specs, runner) = try await read()
                return watched(specs, runner)
            }
            return try await loop()
        }
    }
}

/// With `--allow-empty`, a job without inputs is left out and is no error.
func allowingEmpty(_ allowed: Bool, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let error as CommandError where allowed && error.status == .missingInput && !error.isLoss {
        return
    }
}
