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
    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(
        help:
            "Take over what Penumbra published before the job, its folder or its pictures got another name or place, and nothing else. What is out of date is rendered again."
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
