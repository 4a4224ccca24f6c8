import ArgumentParser
import Coordination
import JobModel
import Planning
import RenderFarm
import Runs
import Settings

struct AdoptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Accept outputs that are there as current.",
        discussion: """
            For outputs that another program made, or Penumbra before its state was lost, and for settings whose change \
            is not worth rendering everything again. Every input and output is read once, and of pictures the headers \
            are looked at: what has no picture's header is not accepted, nor is the output of an input that has none; \
            whether the rest of a file is whole is not looked at. Each output is accepted for itself. The next run \
            renders what is missing, and later what changes. --delete-orphans never removes an adopted output.

            With --moved: after a manifest, its folder or its pictures were moved or renamed. The outputs that Penumbra \
            published before become this job's, with what is known of the pictures that they were made of. What has \
            changed since is rendered by the next run.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Place Options") var place: LocationOptions

    @Flag(
        help:
            "Take over what Penumbra published before the job, its folder or its pictures got another name or place, and nothing else. What is out of date is rendered again."
    )
    var moved = false

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    func run() async throws {
        try await ConsoleReporter(json: false, quiet: quiet).handling { reporting in
            let installation = Farm(try Settings.load(place))
            let signals = Signals()
            let catalog = try await installation.introducedCatalog()
            let files = ManifestFiles(options: manifests, catalog: catalog, settings: installation.settings)
            let specs = try reporting.jobs(files.read())
            var preparation = JobPreparation(
                installation: installation, catalog: catalog, folder: currentFolder(), selection: jobs.selection,
                limit: jobs.limit,
                list: try jobs.list(), isForced: false, control: signals.control, deadline: nil,
                reread: files.rereader())
            preparation.allowsMissing = jobs.allowEmpty
            var request = RunRequest(manifests: [], folder: currentFolder())
            (request.allowsEmpty, request.allowsGone, request.isQuiet) = (jobs.allowEmpty, jobs.allowGone, quiet)
            return try await JobRunner(RunContext(request, preparation, reporting, memory: .outputs))
                .adopt(specs.map(updating), moved: moved)
        }
    }

    /// What is adopted is what an update would leave alone, whatever else the job does with outputs that are there.
    private func updating(_ job: JobSpec) -> JobSpec {
        var job = job
        job.existing = .update
        job.minAge = 0
        return job
    }
}
