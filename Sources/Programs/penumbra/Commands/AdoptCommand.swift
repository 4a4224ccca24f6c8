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
        abstract: "Accept existing outputs as current.",
        discussion: """
            Use it for outputs that another program made, or that Penumbra made before its state was lost. Use it, too, \
            if a setting changed and the change is not worth rendering everything again. Penumbra reads every input and \
            output once. It accepts an output if the output and its input both have a picture's header. It does not \
            check the rest of a file. Each output is accepted on its own. The next run renders missing outputs, and \
            later those whose inputs or settings change. --delete-orphans never removes an adopted output.

            Use --moved after a manifest, its folder or its pictures were moved or renamed. The outputs that Penumbra \
            published before become this job's outputs, with their records. The next run renders those that have changed \
            since.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(
        help:
            "Accept only outputs that Penumbra published before the job, its folder or its pictures were moved or renamed. The next run renders those that are out of date."
    )
    var moved = false

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    func run() async throws {
        try await ConsoleReporter(json: false, quiet: quiet).handling { reporter in
            let farm = Farm(try Settings.load(location))
            let control = Signals().control
            let catalog = try await farm.catalogOfFirstWorker()
            var request = RunRequest(manifests, jobs)
            request.isQuiet = quiet
            let files = ManifestFiles(request, catalog: catalog, settings: farm.settings, control: control)
            let specs = try reporter.jobs(files.read())
            // Only the missing disk check of the run allows what is gone.
            var selection = request
            selection.allowsGone = false
            var preparation = try JobPreparation(
                selection, farm: farm, catalog: catalog, control: control, reread: files.rereader())
            preparation.allowsNothing = false
            return try await JobRunner(RunContext(request, preparation, reporter, memory: .outputs))
                .run(specs.map(updating), .adopt(moved: moved))
        }
    }

    /// The job with `existing: update`. Adopted outputs are those that an update would keep.
    private func updating(_ job: JobSpec) -> JobSpec {
        var job = job
        job.existing = .update
        job.minAge = 0
        return job
    }
}
