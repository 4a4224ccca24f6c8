import ArgumentParser
import Coordination
import Geometry
import JobModel
import JobStorage
import Planning
import RenderFarm
import Reports
import Scheduling
import SafeFiles
import Settings
import WorkerProtocol

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Show what a run would do, and why, without rendering.",
        discussion: """
            Finds the inputs, compares them with what was published, reads the headers of the pictures that a run would \
            render, and prints for each frame its output, why it would be rendered or not, its size, how it would be cut \
            up, and the halo that its chain reads. Writes nothing.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Place Options") var place: LocationOptions

    @Flag(help: "Print JSON lines, with every tile and the rectangles that it reads.")
    var json = false

    @Flag(help: "As if 'run --force' were planned.")
    var force = false

    func validate() throws {
        if jobs.filesFrom != nil, manifests.manifests.count > 1 {
            throw ValidationError("--files-from names the files of one job; give one manifest.")
        }
    }

    func run() async throws {
        try await ConsoleReporter(json: json).handling { reporting in
            let installation = Farm(try Settings.load(place))
            let catalog = try await installation.introducedCatalog()
            reporting.warn(ofPluginsIn: catalog)
            let files = ManifestFiles(options: manifests, catalog: catalog, settings: installation.settings)
            let specs = try reporting.jobs(await files.examined(by: installation.worker))
            var preparation = JobPreparation(
                installation: installation, catalog: catalog, folder: currentFolder(), selection: jobs.selection,
                limit: jobs.limit,
                list: try jobs.list(), isForced: force, control: Signals().control, deadline: nil,
                reread: files.rereader())
            preparation.allowsMissing = jobs.allowEmpty || jobs.allowGone
            preparation.allowsNothing = jobs.allowEmpty || jobs.allowGone
            preparation.allowsGone = jobs.allowGone
            var planned: [PreparedJob] = []
            for spec in specs {
                try await allowingEmpty(jobs.allowEmpty) {
                    let refusal = MissingDiskCheck(
                        allowsEmpty: jobs.allowEmpty, allowsGone: jobs.allowGone, folder: reporting.folder)
                    let state = installation.settings.stateFolder.value
                    try refusal.refuseLostOutputs(of: spec, state: state)
                    let contents = try Ledger.inspect(state: state, job: spec, folders: OutputFolders.of(spec))
                    for error in contents.distrusted { reporting.note("\(spec.name): \(error.message)") }
                    var prepared = try await preparation.prepare(spec, contents: contents)
                    if jobs.allowGone { prepared.giveUpLost() }
                    try refusal.refuseLostInputs(prepared)
                    try await preparation.compare(&prepared)
                    try await preparation.lookAtWork(&prepared)
                    planned.append(prepared)
                }
            }
            var status = RunOutcome.done
            for (job, problems) in zip(planned, try SharedOutputs.problems(of: planned, folder: reporting.folder)) {
                var prepared = job
                prepared.fail(problems)
                reporting.hint(prepared.plan, folder: reporting.folder)
                reporting.reportMadeBefore(prepared)
                if !prepared.ended.isEmpty || prepared.targets.contains(where: \.isRefused) { status = .someFailed }
                reporting.planned(prepared)
                show(prepared, PlanText(prepared, installation.runSettings))
                showOrphans(prepared, reporting)
            }
            return status
        }
    }

    private func showOrphans(_ prepared: PreparedJob, _ reporting: ConsoleReporter) {
        OrphanCleanup.listUnselected(prepared, reporting)
        OrphanCleanup.listLost(prepared, reporting)
        guard !prepared.orphans.isEmpty else { return }
        reporting.list(
            "\(prepared.job.name): \(Figures.plural(prepared.orphans.count, "output")) without an input any more",
            prepared.orphans.map(\.path), all: SummaryText.planOfAll)
    }

    private func show(_ prepared: PreparedJob, _ text: PlanText) {
        if json {
            for line in text.jsonLines { JSONLine.plan(line).print() }
            for report in prepared.ended { JSONLine.frame(FrameLine(report, job: prepared.job.name)).print() }
        } else {
            for line in text.lines { Console.print(line) }
            for line in text.failures { Console.complain(line) }
        }
    }
}
