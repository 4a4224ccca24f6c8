import Exports
import FoundationEssentials
import JobModel
import Planning
import RenderFarm
import Settings

/// Writes a job down for a scheduler that hands out its shards.
struct ShardExport {
    let target: ExportCommand.Target
    let manifests: ManifestOptions
    let options: ShardOptions
    let slurmArguments: [String]
    let jobs: SelectionOptions
    /// Further arguments of `penumbra prepare`.
    let preparation: [String]
    let place: LocationOptions

    static let shardCounts = ExportedJob.shardCounts

    func write(_ reporting: ConsoleReporter) async throws -> RunOutcome {
        let installation = Farm(try Settings.load(place))
        let catalog = try await installation.introducedCatalog()
        reporting.warn(ofPluginsIn: catalog)
        let files = ManifestFiles(options: manifests, catalog: catalog, settings: installation.settings)
        let specs = try reporting.jobs(await files.withExaminedPictures(by: installation.worker))
        var jobPreparation = JobPreparation(
            installation: installation, catalog: catalog, folder: currentFolder(), selection: jobs.selection,
            limit: jobs.limit,
            list: try jobs.list(), isForced: false, control: Signals().control, deadline: nil, reread: files.rereader())
        jobPreparation.allowsMissing = jobs.allowEmpty || jobs.allowGone
        for spec in specs {
            let survey = try await WorkSample(of: spec, jobPreparation)
            reporting.hint(survey.plan, folder: reporting.folder)
            let draft = ExportDraft(
                spec: spec, survey: survey, settings: installation.settings, options: options,
                slurmArguments: slurmArguments, overrides: manifests.overrides, preparation: preparation,
                configFile: place.configFile)
            if target == .slurm { try writeFolder(draft) } else { try writeTemplate(draft) }
        }
        return .done
    }

    private func writeTemplate(_ draft: ExportDraft) throws {
        let output = options.path
        let folder = output.map { realPath(PathText.folder(of: PathText.normalized($0, in: currentFolder()))) }
        let template = try exported { () throws(ExportProblem) in
            try OpenJobTemplate(draft.templateJob, folder: folder)
        }
        if let output {
            try NewFile.write(template.text, to: output, "the template", option: "--output")
        } else {
            Console.draw(template.text, to: .output)
        }
        hint(draft.templateSize)
        for surprise in draft.surprises(ProcessInfo.processInfo.environment) { hint(surprise) }
        let saved = output == nil ? " when it is saved as template.yaml" : ""
        hint("to run it on this machine\(saved): \(template.runCommand(output ?? "template.yaml"))")
    }

    private func writeFolder(_ draft: ExportDraft) throws {
        let output = options.path ?? ""
        let folder = realPath(PathText.normalized(output, in: currentFolder()))
        let scripts = try exported { () throws(ExportProblem) in
            try SlurmFolder(draft.scriptsJob(in: folder), folder: folder, requests: draft.slurmRequests)
        }
        try NewFolder.write(
            scripts.files.map { NewFolder.File(path: $0.name, text: $0.text) }, toEmpty: output, option: "--output")
        hint(draft.scriptsSize)
        hint("to submit it: sh \(ShellWord.quoted("\(folder)/submit.sh"))")
    }

    private func exported<Form>(_ form: () throws(ExportProblem) -> Form) throws(FarmError) -> Form {
        do {
            return try form()
        } catch {
            throw FarmError(.usage, error.message)
        }
    }

    private func hint(_ message: String) { Console.complain("hint: \(message)") }
}
