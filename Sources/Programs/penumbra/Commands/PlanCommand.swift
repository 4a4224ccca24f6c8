import ArgumentParser
import Coordination
import Geometry
import JobModel
import Planning
import Scheduling
import Settings
import WorkerProtocol

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a run would do, and why, without rendering.",
        discussion: """
            Finds the inputs, reads each picture's header, and prints for each frame its size, its output, how it \
            would be cut up, the halo that its chain reads, and whether it would be skipped or refused.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Place Options") var place: PlaceOptions

    @Flag(help: "Print JSON lines, with every tile and the rectangles that it reads.")
    var json = false

    func run() async throws {
        try await Reporting(json: json).handling { reporting in
            let installation = Installation(try Settings.load(place))
            let catalog = try await installation.introducedCatalog()
            let specs = try reporting.jobs(ManifestFiles(options: manifests, catalog: catalog).read())
            let preparation = JobPreparation(
                installation: installation, catalog: catalog,
                selection: JobPlan.Selection(only: jobs.only, limit: jobs.limit), signals: Signals())
            var status = ExitStatus.done
            for spec in specs {
                try await allowingEmpty(jobs.allowEmpty) {
                    let prepared = try await preparation.prepare(spec, surveys: true)
                    reporting.hint(prepared.plan)
                    if !prepared.failed.isEmpty { status = .someFailed }
                    show(prepared, PlanText(prepared, installation.runSettings))
                }
            }
            return status
        }
    }

    private func show(_ prepared: PreparedJob, _ text: PlanText) {
        if json {
            for line in text.jsonLines { JSONLine.plan(line).print() }
            for report in prepared.failed { JSONLine.frame(FrameLine(report, job: prepared.job.name)).print() }
        } else {
            for line in text.lines { Console.print(line) }
            for line in text.failures { Console.complain(line) }
        }
    }
}
