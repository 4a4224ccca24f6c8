import ArgumentParser
import Catalogs
import Coordination
import Engines
import Geometry
import Glibc
import JobModel
import Manifests
import Planning
import RenderFarm
import Scheduling
import Settings
import WorkerProtocol

struct PreviewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "preview",
        abstract: "Show a part of what a job would make of a picture.",
        discussion: """
            Renders a crop with exactly the pixels that a run would give (before they are encoded), at about the cost of \
            the crop. Without a picture, the job's first input is shown.

              penumbra preview job.yaml scan.tif --at 40%,30% --size 800 -o p.png
              penumbra preview job.yaml --sweep radius=4,8,16 --compare side -o p.png
              penumbra preview job.yaml --sweep motion.radius=20,40 -o p.png    (where several filters have a radius)

            --compare shows the picture before all filters that change pixels beside what they make of it: split (left \
            half before, right half after, a line between), side (before to the left), blink (an animation, to .gif or \
            .webp).
            """)

    @Argument(
        help: ArgumentHelp("A job manifest.", valueName: "manifest"), completion: .file(extensions: ["yaml", "yml"]))
    var manifest: String

    @Argument(
        help: ArgumentHelp("A picture; the job's first input when there is none.", valueName: "picture"),
        completion: .file())
    var picture: String?

    @Option(help: ArgumentHelp("The middle of the crop, in px or % of the output.", valueName: "x,y"))
    var at = "50%,50%"

    @Option(help: ArgumentHelp("The size of the crop in px: 800, or 800x600.", valueName: "size"))
    var size = "800"

    @Option(help: ArgumentHelp("Renders a panel for each value: 'radius=4,8,16'.", valueName: "parameter=values"))
    var sweep: String?

    @Option(help: "Shows the picture before the filters too: split, side or blink.")
    var compare: PreviewTask.Comparison?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file that is written; only an earlier preview is replaced.",
            valueName: "file"),
        completion: .file())
    var output: String

    @Flag(help: "Replace any file that is there, unless it is an input of the job.")
    var force = false

    @Option(help: ArgumentHelp("Which of the job's outputs, from 1.", valueName: "n"))
    var outputNumber = 1

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Changes a value of the manifest: 'filters[0].gaussian.radius=14'. May be given again.",
            valueName: "path=value"))
    var overrides: [String] = []

    @OptionGroup(title: "Place Options") var place: LocationOptions

    /// A preview that takes longer than this hangs.
    private static let limit = Duration.seconds(600)

    func validate() throws { try ManifestOptions.refuseRepeated(overrides) }

    func run() async throws {
        try await ConsoleReporter(json: false).handling { reporting in
            let view = try self.view()
            let installation = Farm(try Settings.load(place))
            let signals = Signals()
            let catalog = try await installation.introducedCatalog()
            let format = try fileFormat(catalog)
            let (spec, filters) = try job(reporting, catalog, installation.settings, set: [])
            guard spec.outputs.indices.contains(outputNumber - 1) else {
                throw FarmError(
                    .usage,
                    spec.outputs.count == 1
                        ? "--output-number: \(spec.name) has only one output"
                        : "--output-number takes 1 to \(spec.outputs.count), the outputs of \(spec.name)")
            }
            let (labels, specs) = try swept(spec, filters, reporting, catalog, installation.settings)
            let input = try self.input(spec, catalog)
            let outputs = spec.outputs.indices.map { outputSpec(spec, $0, input, catalog) }
            let target = PreviewTarget(output)
            let temporary = try target.temporaryPath(showing: input, of: spec, catalog)
            let book = PreviewRegistry(state: installation.settings.stateFolder.value)
            if !force { try target.refuseForeign(book) }
            defer { unlink(temporary) }
            // A swept value, such as a tint, may ask for sRGB. All panels are in one picture.
            let color = specs.contains { $0.color == .srgb } ? .srgb : spec.color
            let task = PreviewTask(
                input: InputSpec(path: input.path, bytes: input.bytes, maxPixels: spec.maxPixels, color: color),
                chains: specs.map { $0.chain + $0.outputs[outputNumber - 1].shownChain },
                output: outputs[outputNumber - 1],
                others: outputs.indices.filter { $0 != outputNumber - 1 }.map { outputs[$0] }, view: view,
                comparison: compare, fileFormat: format, path: temporary,
                memory: installation.runSettings.frameMemory)
            let receipt = try await rendered(task, installation, signals)
            if !force { try target.refuseForeign(book) }
            try put(temporary)
            target.remember(book)
            show(receipt, labels, input.path)
            return .done
        }
    }
}

extension PreviewCommand {
    private func view() throws -> PreviewTask.View {
        do {
            let (at, size) = (try PreviewRequest.place(at), try PreviewRequest.size(size))
            return PreviewTask.View(x: at.x, y: at.y, width: size.width, height: size.height)
        } catch {
            throw FarmError(.usage, error.message)
        }
    }

    private func fileFormat(_ catalog: Catalog) throws -> String {
        let ext = PathText.split(name: PathText.name(of: output)).ext
        let writable = catalog.formats.filter { $0.canWrite && !$0.isFolder }
        guard let format = catalog.format(forExtension: ext), format.canWrite, !format.isFolder else {
            let known = writable.flatMap { $0.extensions.prefix(1) }.map { ".\($0)" }.joined(separator: ", ")
            let found =
                ext.isEmpty
                ? "the name has no extension, which decides the format"
                : "no format is written to '.\(PathText.visible(ext))'"
            throw FarmError(.usage, "\(PathText.visible(output)): \(found); a preview is written to \(known)")
        }
        if compare == .blink, !format.holdsAnimation {
            throw FarmError(
                .usage, "\(PathText.visible(output)): --compare blink is an animation; write it to .gif or .webp")
        }
        return format.name
    }

    /// The job with more of its values set, and where its filters are.
    private func job(
        _ reporting: ConsoleReporter, _ catalog: Catalog, _ settings: Settings, set more: [String]
    ) throws -> (spec: JobSpec, filters: [FilterMention]) {
        var options = ManifestOptions()
        options.manifests = [manifest]
        options.overrides = overrides + more
        let outcome = ManifestFiles(options: options, catalog: catalog, settings: settings).read()
        guard let job = try reporting.jobs(outcome).first, let filters = outcome.filters.first else {
            throw RunOutcome.badManifest.code
        }
        return (job, filters)
    }

    /// A job for each value of the sweep, and what its panel is called.
    private func swept(
        _ spec: JobSpec, _ filters: [FilterMention], _ reporting: ConsoleReporter, _ catalog: Catalog,
        _ settings: Settings
    ) throws -> (labels: [String], specs: [JobSpec]) {
        guard let sweep else { return ([], [spec]) }
        do {
            let sweep = try PreviewRequest.Sweep(sweep)
            let path = try sweep.path(in: spec, filters, output: outputNumber - 1, catalog)
            let specs = try sweep.values.map { try job(reporting, catalog, settings, set: ["\(path)=\($0)"]).spec }
            return (sweep.values.map { "\(sweep.name) \($0)" }, specs)
        } catch let problem as PreviewRequest.Problem {
            throw FarmError(.usage, problem.message)
        }
    }

    private func input(_ spec: JobSpec, _ catalog: Catalog) throws -> InputFile {
        if let picture {
            let file = InputFile(argument: RawArguments.bytes(of: picture), in: currentFolder())
            guard FileStamp(of: file) != nil else {
                throw FarmError(.missingInput, "\(PathText.shown(file.path, from: currentFolder())): no such file")
            }
            return file
        }
        do {
            let plan = try JobPlan(spec, catalog: catalog, date: "", selection: JobPlan.Selection(limit: 1))
            guard let frame = plan.frames.first else { throw PlanProblem.nothingMatched(patterns: spec.inputs) }
            return frame.input
        } catch let problem as PlanProblem {
            throw FarmError(
                problem.isMissingInput ? .missingInput : .badManifest,
                "\(PathText.visible(manifest)): error: \(problem.message)")
        }
    }

    /// With its whole chain.
    private func outputSpec(_ spec: JobSpec, _ index: Int, _ input: InputFile, _ catalog: Catalog) -> OutputSpec {
        let output = spec.outputs[index]
        let naming = OutputNaming(spec, date: "")
        let name = naming.path(output.template, for: input, index: 1, page: 0, measures: nil)
        // An input's own format may be one that is only read; the pixels are shown as PNG would hold them.
        let format = catalog.format(forExtension: PathText.split(name: PathText.name(of: name)).ext)
        return OutputSpec(
            chain: spec.chain + output.shownChain, format: format.flatMap { $0.canWrite ? $0.name : nil } ?? "png",
            save: output.save)
    }

    private func rendered(
        _ task: PreviewTask, _ installation: Farm, _ signals: Signals
    ) async throws -> PreviewReceipt {
        do {
            let receipt = try await installation.engine().ask(
                .preview(task), signals: signals.control.signals(), limit: Self.limit)
            guard case .preview(let preview) = receipt else {
                throw FarmError(
                    .unavailable, "the worker answered another question; reinstall both programs together")
            }
            return preview
        } catch let reason as EngineError {
            throw Self.error(reason, task, output)
        }
    }

    private static func error(
        _ reason: EngineError, _ task: PreviewTask, _ output: String
    ) -> FarmError {
        switch reason {
        case .failed(let failure):
            let status: RunOutcome =
                failure.kind == .storage ? .storage : failure.kind == .resourceLimit ? .unavailable : .someFailed
            return FarmError(
                status, VisibleText.message(failure.message.replacing(task.path, with: output)))
        case .died(let death):
            let words = death.lastWords.isEmpty ? "" : ": \(death.lastWords)"
            return FarmError(
                .someFailed, "\(PathText.visible(task.input.path)): the worker ended (\(death.manner))\(words)")
        case .refused(let reason): return FarmError(.unavailable, StopWords.describe(reason))
        case .interrupted(let signal):
            return FarmError(RunOutcome(signal: signal), "interrupted; nothing was written")
        case .tookTooLong:
            return FarmError(.someFailed, "\(PathText.visible(task.input.path)): no preview after \(limit)")
        }
    }

    private func put(_ temporary: String) throws {
        guard rename(temporary, output) == 0 else {
            throw FarmError(
                .storage, "\(PathText.visible(output)): cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    private func show(_ receipt: PreviewReceipt, _ labels: [String], _ input: String) {
        let picture = PathText.shown(input, from: currentFolder())
        let panel = receipt.panels[0]
        Console.print(
            "\(PathText.visible(output)): \(panel.part.width)×\(panel.part.height) px at \(panel.part.x),\(panel.part.y) of \(picture), "
                + "\(panel.width)×\(panel.height) px")
        let panels = (compare == .side || compare == .blink ? ["before"] : []) + (labels.isEmpty ? ["after"] : labels)
        if panels.count > 1 || compare == .split {
            let order = compare == .blink ? "by turns" : "from left to right"
            let split = compare == .split ? "before | " : ""
            Console.print("  \(order): " + panels.map { split + $0 }.joined(separator: ", "))
        }
    }
}

extension PreviewTask.Comparison: ExpressibleByArgument {}
