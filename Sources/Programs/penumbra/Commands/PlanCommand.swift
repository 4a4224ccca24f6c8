import ArgumentParser
import Coordination
import Geometry
import JobModel
import JobStorage
import Planning
import RenderFarm
import Runs
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
            Finds the inputs, compares them with what was published, and reads the headers of the pictures that a run would \
            render. For each frame it prints the output, why it would be rendered or not, its size, its tiles, and the halo \
            that its chain reads. With --summary it prints how many frames there are for each reason. It writes nothing.
            """)

    @OptionGroup var manifests: ManifestOptions
    @OptionGroup(title: "Selection Options") var jobs: SelectionOptions
    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(help: "Print JSON lines, with every tile and the rectangles that it reads.")
    var json = false

    @Flag(help: "Print counts of frames, with the reasons, instead of every frame.")
    var summary = false

    @Flag(help: "Plan as for 'run --force'.")
    var force = false

    /// For manifests that were handed in as text. The service keeps them in files of its own.
    @Option(
        help: ArgumentHelp(
            "The path of the manifest, where another program has copied its text from. It need not exist.",
            valueName: "path", visibility: .hidden))
    var manifestPath: String?

    func validate() throws {
        if manifestPath != nil, manifests.manifests.count != 1 {
            throw ValidationError("--manifest-path is the path of one manifest.")
        }
        if jobs.filesFrom != nil, manifests.manifests.count > 1 {
            throw ValidationError("--files-from names the files of one job; give one manifest.")
        }
    }

    func run() async throws {
        try await ConsoleReporter(json: json).handling { reporter in
            let farm = Farm(try Settings.load(location))
            let catalog = try await farm.catalogOfFirstWorker()
            reporter.warn(of: catalog)
            var request = RunRequest(manifests, jobs)
            request.isForced = force
            if let manifestPath { try request.takeText(as: manifestPath) }
            let files = ManifestFiles(request, catalog: catalog, settings: farm.settings, control: Signals.current)
            let specs = try reporter.jobs(await files.examined(by: farm.worker))
            let preparation = try JobPreparation(
                request, farm: farm, catalog: catalog, control: Signals().control, reread: files.rereader())
            var planned: [(job: PreparedJob, trouble: String?)] = []
            for spec in specs {
                do {
                    planned.append(try await preparation.plan(spec, request, reporter))
                } catch let error as FarmError where error.isEmptyJob && request.allowsEmpty {
                    continue
                }
            }
            try PreparedJob.refuseIndexes(of: planned.filter { $0.trouble == nil }.map(\.job))
            var status = RunOutcome.done
            let collisions = try SharedOutputs.problems(of: planned.map(\.job), folder: reporter.folder)
            for ((job, trouble), problems) in zip(planned, collisions) {
                var prepared = job
                prepared.fail(problems)
                reporter.hint(prepared.plan, folder: reporter.folder, more: prepared.regionHints)
                reporter.reportMadeBefore(prepared)
                if !prepared.ended.isEmpty || prepared.targets.contains(where: \.isRefused) {
                    status = max(status, .someFailed)
                }
                reporter.planned(prepared)
                show(prepared, PlanText(prepared, farm.runSettings))
                if let trouble {
                    reporter.complain(trouble)
                    status = max(status, .someFailed)
                }
                for notice in prepared.keptUpgrades { reporter.receive(.notice(.job(prepared.job.name, notice))) }
                showOrphans(prepared, reporter)
            }
            return status
        }
    }

    private func showOrphans(_ prepared: PreparedJob, _ reporter: ConsoleReporter) {
        OrphanCleanup.listUnselected(prepared, reporter)
        OrphanCleanup.listLost(prepared, reporter)
        guard !prepared.orphans.isEmpty else { return }
        reporter.list(
            "\(prepared.job.name): \(Figures.plural(prepared.orphans.count, "output")) without an input any more",
            prepared.orphans.map(\.path), all: SummaryText.planOfAll)
    }

    private func show(_ prepared: PreparedJob, _ text: PlanText) {
        if json {
            if !summary { for line in text.jsonLines { line.print() } }
            for report in prepared.ended { FrameLine(report, job: prepared.job.name).print() }
        } else {
            for line in summary ? text.summary : text.lines { Console.print(line) }
            for line in text.failures { Console.complain(line) }
        }
    }
}

extension JobPreparation {
    /// Prepares a job as a run does, and probes what the run would render. It writes nothing.
    ///
    /// - Returns: the message with which a run would refuse the folders of the job's outputs, too.
    fileprivate func plan(
        _ job: JobSpec, _ request: RunRequest, _ reporter: ConsoleReporter
    ) async throws -> (PreparedJob, trouble: String?) {
        let check = MissingDiskCheck(
            allowsEmpty: request.allowsEmpty, allowsGone: request.allowsGone, folder: reporter.folder)
        let state = farm.settings.stateFolder.value
        try check.refuseLostOutputs(of: job, state: state)
        let contents: LedgerContents
        do {
            contents = try Ledger.inspect(state: state, job: job, folders: OutputFolders.of(job))
        } catch let error as FileError {
            throw FarmError(.storage, FolderTrouble(error, state: state, farm.settings).message)
        }
        for error in contents.distrusted { reporter.note("\(job.name): \(error.message)") }
        var prepared = try await prepare(job, contents: contents)
        if request.allowsGone { prepared.abandonLost() }
        try check.refuseLostInputs(prepared)
        try check.refuseSurprises(prepared)
        var trouble: String?
        do throws(FileError) {
            try prepared.refuseForbiddenFolders(recordsOutputs: true)
        } catch {
            trouble = FolderTrouble(error, state: state, farm.settings).message
        }
        try await compare(&prepared)
        try await probeWork(&prepared)
        return (prepared, trouble)
    }
}
