import Catalogs
import BatchSystems
import Coordination
import Exports
import FoundationEssentials
import JobModel
import Planning
import RenderFarm
import Runs
import Reports
import Scheduling
import Settings

/// Exports a job to a scheduler that runs its shards.
struct ShardExport {
    let target: ExportCommand.Target
    let manifests: ManifestOptions
    let options: ShardOptions
    let slurmArguments: [String]
    let jobs: SelectionOptions
    /// Further arguments of `penumbra prepare`.
    let preparation: [String]
    let location: LocationOptions

    static let shardCounts = ExportedJob.shardCounts

    func write(_ reporter: ConsoleReporter) async throws -> RunOutcome {
        let farm = Farm(try Settings.load(location))
        let catalog = try await farm.catalogOfFirstWorker()
        reporter.warn(of: catalog)
        let request = RunRequest(manifests, jobs)
        let files = ManifestFiles(request, catalog: catalog, settings: farm.settings, control: Signals.current)
        let specs = try reporter.jobs(await files.checkedForRun(by: farm.worker))
        let jobPreparation = try JobPreparation(
            request, farm: farm, catalog: catalog, control: Signals().control, reread: files.rereader())
        for spec in specs {
            let survey = try await WorkSample(of: spec, jobPreparation)
            reporter.hint(survey.plan, folder: reporter.folder)
            let draft = ExportDraft(
                spec: spec, survey: survey, settings: farm.settings, options: options,
                slurmArguments: slurmArguments, overrides: manifests.overrides, preparation: preparation,
                configFile: location.configFile)
            if target == .slurm { try writeFolder(draft) } else { try writeTemplate(draft) }
        }
        return .done
    }

    private func writeTemplate(_ draft: ExportDraft) throws {
        let output = options.path
        let folder = output.map { realPath(PathText.folder(of: PathText.normalized($0, in: currentFolder()))) }
        let template = try exported { () throws(ExportError) in
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
        let scripts = try exported { () throws(ExportError) in
            try SlurmFolder(draft.scriptsJob(in: folder), folder: folder, requests: draft.slurmRequests)
        }
        try NewFolder.write(
            scripts.files.map { NewFolder.File(path: $0.name, text: $0.text) }, toEmpty: output, option: "--output")
        hint(draft.scriptsSize)
        hint("to submit it: sh \(ShellWord.quoted("\(folder)/submit.sh"))")
    }

    private func exported<Form>(_ form: () throws(ExportError) -> Form) throws(FarmError) -> Form {
        do {
            return try form()
        } catch {
            throw FarmError(.usage, error.message)
        }
    }

    private func hint(_ message: String) { Console.complain("hint: \(message)") }
}

/// A job in the form of its export, from the manifest, the settings and the command line.
struct ExportDraft {
    let spec: JobSpec
    let survey: WorkSample
    let settings: Settings
    let options: ShardOptions
    let slurmArguments: [String]
    let overrides: [String]
    let preparation: [String]
    /// The path as the user wrote it.
    let configFile: String?

    /// The least memory of a worker in bytes, for itself and its rows.
    private static let workerMemory = 512e6

    private var cluster: ClusterOptions { settings.clusterOptions(for: spec, arguments: slurmArguments) }

    var slurmRequests: SlurmFolder.Requests {
        SlurmFolder.Requests(options: cluster.requests, elementsAtOnce: cluster.elementsAtOnce)
    }

    /// The steps of a template share a folder beside the outputs, because all machines reach that.
    var templateJob: ExportedJob {
        let outputs = OutputFolders.of(spec)
        let shared = PathNames.joined(outputs.first ?? spec.folder, ".penumbra-openjd-\(spec.name)")
        var job = job(runFolder: shared, cores: settings.workers.value)
        let regions = spec.allFilters.compactMap(\.regionFile)
        job.folders = survey.plan.inputFolders.folders + regions.filter(\.isOfEachPicture).map(\.fixedFolder)
        job.folders += Set(spec.pictureTemplates.map(\.fixedFolder)).sorted()
        job.files =
            survey.plan.inputFolders.files + spec.picturePaths + regions.filter { !$0.isOfEachPicture }.map(\.path)
        job.outputs = outputs
        return job
    }

    /// - Parameter folder: the folder of the scripts.
    func scriptsJob(in folder: String) -> ExportedJob {
        // The whole path is used, because folders with the same name may exist.
        let shared = cluster.folder.map { PathNames.joined($0, "export\(folder)") }
        return job(runFolder: shared ?? PathNames.joined(folder, "run"), cores: cluster.cores)
    }

    private func job(runFolder: String, cores: Int) -> ExportedJob {
        var job = ExportedJob(
            name: spec.name, manifest: spec.manifestPath, program: program, runFolder: runFolder,
            size: ExportedJob.Size(
                shards: shards(cores), cores: cores, memory: memory(cores), longestTask: survey.estimate.longestTask))
        job.overrides = overrides
        job.preparation = preparation
        job.startFolder = currentFolder()
        job.configFile = configFile.map { PathText.normalized($0, in: currentFolder()) }
        job.architecture = program.contains("/") ? Self.architecture : nil
        return job
    }

    private var program: String {
        guard let program = options.program else { return CalledProgram.current(in: currentFolder()).path() }
        return program.contains("/") ? PathText.normalized(program, in: currentFolder()) : program
    }

    /// The architecture in the words of templates.
    private static var architecture: String? {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            nil
        #endif
    }

    private func shards(_ cores: Int) -> Int {
        options.shards
            ?? survey.estimate.shards(
                of: cluster.shardTime / .seconds(1), cores: cores, most: ShardExport.shardCounts.upperBound)
    }

    /// The memory of a machine in bytes, such that each worker may hold a frame with the default of `memory`. See
    /// ``RunSettings``.
    private func memory(_ cores: Int) -> Int {
        let worker = max(Self.workerMemory, Double(survey.estimate.frameBytes) * 2)
        return Int(min(worker * Double(cores) / 0.6, 1e15))
    }

    /// Warns of settings from this shell or home folder. Other machines do not have them.
    func surprises(_ environment: [String: String]) -> [String] {
        // These are in the template, or prepared runs do not use them.
        let said: Set = [
            "PENUMBRA_CONFIG", "PENUMBRA_WORKERS", "PENUMBRA_ENGINE", "PENUMBRA_STATE_DIR", "PENUMBRA_SCRATCH",
        ]
        let names = environment.keys.filter { $0.hasPrefix("PENUMBRA_") && !said.contains($0) }.sorted()
        let variables = names.isEmpty ? nil : names.joined(separator: ", ")
        let file = configFile == nil ? settings.configFile : nil
        return [
            variables.map { "a farm does not know this shell's \($0); use a config file, and give it by --config" },
            file.map { "the config file \($0) applies here; give it by --config to export it, too" },
        ].compactMap(\.self)
    }

    var templateSize: String { size(cores: settings.workers.value) + "; --shards and --workers change that" }

    var scriptsSize: String { size(cores: cluster.cores) + "; --shards and 'cpus_per_task' change that" }

    private func size(cores: Int) -> String {
        let count = shards(cores)
        let time = Figures.duration(.seconds(survey.estimate.seconds / Double(count * cores)))
        return "\(Figures.plural(count, "shard")) of about \(time) on "
            + "\(Figures.plural(cores, "core")), by the headers of \(Figures.plural(survey.sampled, "picture"))"
    }
}
