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
        abstract: "Run jobs here, with worker processes.",
        discussion: """
            All manifests are read and checked before anything starts. Then each job's inputs are found, its outputs \
            rendered, verified and put at their final paths in one step each. A process that is killed, a full disk, \
            Ctrl-C: an output is there whole or not at all.

            Exit codes: 0 done; 1 some frames failed; 64 usage; 65 a manifest or config is wrong; 66 inputs are \
            missing; 69 a component is missing; 74 the disk is full or read-only; 75 another run of the job holds \
            the lock; 129, 130, 143 interrupted.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Place Options") var place: PlaceOptions

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Print JSON lines, the first {\"schema\":1}, the last the summary.")
    var json = false

    @Option(help: ArgumentHelp("How long to wait for another run of the job to end.", valueName: "seconds"))
    var lockWait = 0.0

    func validate() throws {
        if !(0...604_800).contains(lockWait) { throw ValidationError("--lock-wait takes 0 to 604800 seconds.") }
    }

    func run() async throws {
        try await Reporting(json: json, quiet: quiet).handling { reporting in
            let installation = Installation(try Settings.load(place))
            let signals = Signals()
            let catalog = try await installation.introducedCatalog()
            let specs = try reporting.jobs(ManifestFiles(options: manifests, catalog: catalog).read())
            let preparation = JobPreparation(
                installation: installation, catalog: catalog,
                selection: JobPlan.Selection(only: jobs.only, limit: jobs.limit), signals: signals)
            var prepared: [PreparedJob] = []
            for spec in specs {
                try await allowingEmpty(jobs.allowEmpty) {
                    let job = try await preparation.prepare(spec, surveys: false)
                    reporting.hint(job.plan)
                    prepared.append(job)
                }
            }
            return try await JobRunner(
                installation: installation, signals: signals, reporting: reporting, lockWait: lockWait
            ).run(prepared)
        }
    }
}

/// With `--allow-empty`, a job without inputs is left out and is no error.
func allowingEmpty(_ allowed: Bool, _ body: () async throws -> Void) async throws {
    do {
        try await body()
    } catch let error as CommandError where allowed && error.status == .missingInput {
        return
    }
}
