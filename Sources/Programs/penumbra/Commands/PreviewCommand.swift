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
import Runs
import SafeFiles
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

              penumbra preview job.yaml
              penumbra preview job.yaml scan.tif --at 40%,30% --size 800 -o p.png
              penumbra preview job.yaml --sweep radius=4,8,16 --compare side -o p.png
              penumbra preview job.yaml --sweep motion.radius=20,40 -o p.png    (where several filters have a radius)

            --compare shows the picture before and after the filters that change pixels:

              split   The left half is before, the right half is after, with a line between.
              side    The picture before is to the left of the picture after.
              blink   An animation shows both in turns. It needs a .gif or .webp file.

            Without -o the terminal shows the preview, if it knows the kitty protocol or sixels. Other terminals, files and \
            pipes get the path of a temporary PNG file.
            """)

    @Argument(
        help: ArgumentHelp("A job manifest.", valueName: "manifest"), completion: Completions.manifests)
    var manifest: String

    @Argument(
        help: ArgumentHelp("A picture. Default: the job's first input.", valueName: "picture"),
        completion: .file())
    var picture: String?

    @Option(help: ArgumentHelp("The middle of the crop, in px or % of the output.", valueName: "x,y"))
    var at = "50%,50%"

    @Option(help: ArgumentHelp("The size of the crop in px: 800, or 800x600.", valueName: "size"))
    var size = "800"

    @Option(
        help: ArgumentHelp("Renders a panel for each value: 'radius=4,8,16'.", valueName: "parameter=values"),
        completion: Completions.sweeps)
    var sweep: String?

    @Option(help: "Shows the picture before the filters too: split, side or blink.")
    var compare: PreviewTask.Comparison?

    @Flag(help: "Writes the values above the panels, so that a saved preview shows them.")
    var labels = false

    @Option(
        help: ArgumentHelp(
            "The font of the labels. Default: that of the job's first 'text', or DejaVu Sans.", valueName: "file"),
        completion: .file())
    var font: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The file to write. Only an earlier preview is replaced. Default: the terminal, or a temporary file.",
            valueName: "file"),
        completion: .file())
    var output: String?

    @Flag(help: "Replace any file that is there, unless it is an input of the job.")
    var force = false

    @Option(help: ArgumentHelp("Which of the job's outputs, from 1.", valueName: "n"))
    var outputNumber = 1

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Changes a value of the manifest: 'filters[0].gaussian.radius=14'. May be given again.",
            valueName: "path=value"), completion: Completions.keys)
    var overrides: [String] = []

    @OptionGroup(title: "Location Options") var location: LocationOptions

    /// For manifests that were handed in as text. The service keeps them in files of its own.
    @Option(
        help: ArgumentHelp(
            "The path of the manifest, where another program has copied its text from. It need not exist.",
            valueName: "path", visibility: .hidden))
    var manifestPath: String?

    /// A preview that takes longer is considered stuck.
    private static let limit = Duration.seconds(600)

    func validate() throws {
        try ManifestOptions.refuseOddName(manifest)
        try ManifestOptions.refuseRepeated(overrides)
        if compare == .blink, output == nil {
            throw ValidationError("--compare blink is an animation; name a .gif or .webp file by -o.")
        }
    }

    func run() async throws {
        try await ConsoleReporter(json: false).handling { reporter in
            let view = try self.view()
            let farm = Farm(try Settings.load(location))
            let signals = Signals()
            let catalog = try await farm.catalogOfFirstWorker()
            let named = try output.map { try fileFormat($0, catalog) }
            let (spec, filters) = try job(reporter, catalog, farm.settings, set: [])
            guard spec.outputs.indices.contains(outputNumber - 1) else {
                throw FarmError(
                    .usage,
                    spec.outputs.count == 1
                        ? "--output-number: \(spec.name) has only one output"
                        : "--output-number takes 1 to \(spec.outputs.count), the outputs of \(spec.name)")
            }
            let (values, specs) = try swept(spec, filters, reporter, catalog, farm.settings)
            let input = try self.input(spec, catalog)
            let regions = try RegionLookup(
                specs.reduce(spec.allFilters) { $0 + $1.allFilters },
                inputs: try inputs(of: spec, with: input, catalog),
                shownFrom: currentFolder())
            let pictures = try OwnPictures(
                specs.reduce(spec.allFilters) { $0 + $1.allFilters }, shownFrom: currentFolder())
            let naming = OutputNaming(spec, date: UTCTime(secondsSince1970: time(nil)).day)
            func chain(_ filters: [FilterInvocation]) throws -> [FilterInvocation] {
                do throws(FrameFailure) {
                    let own = try pictures.resolved(try regions.resolved(filters, for: input), for: input)
                    return naming.filling(own, for: input, index: 1, page: 0)
                } catch {
                    throw FarmError(.someFailed, error.message)
                }
            }
            let outputs = try spec.outputs.indices.map { try outputSpec(spec, $0, input, catalog, chain) }
            let target = output.map(PreviewTarget.init)
            let display = try output == nil ? PreviewDisplay() : nil
            let own = outputs.flatMap(\.chain).picturePaths
            let path = try target?.temporaryPath(showing: input, reading: own, of: spec, catalog) ?? display?.path ?? ""
            let book = PreviewRegistry(state: farm.settings.stateFolder.value)
            if !force { try target?.refuseForeign(book) }
            defer { if target != nil { unlink(path) } }
            // If one value of the sweep needs sRGB, such as a tint, all panels are in sRGB.
            let color = specs.contains { $0.color == .srgb } ? .srgb : spec.color
            let task = PreviewTask(
                input: InputSpec(
                    path: input.path, bytes: input.bytes, maxPixels: spec.maxPixels, color: color, dpi: spec.dpi),
                chains: try specs.map { try chain($0.chain + $0.outputs[outputNumber - 1].shownChain) },
                output: outputs[outputNumber - 1],
                others: outputs.indices.filter { $0 != outputNumber - 1 }.map { outputs[$0] }, view: view,
                comparison: compare, labels: try labels(values, spec), fileFormat: named ?? display?.format ?? "png",
                path: path,
                memory: farm.runSettings.frameMemory)
            let receipt = try await rendered(task, farm, signals)
            if let target {
                if !force { try target.refuseForeign(book) }
                try target.put(path)
                target.remember(book)
            }
            let isShown = try display?.show() ?? false
            show(receipt, values, input.path, isShown ? nil : output ?? path)
            return .done
        }
    }
}

extension PreviewCommand {
    private func view() throws -> PreviewTask.View {
        do {
            let (at, size) = (try PreviewRequest.point(at), try PreviewRequest.size(size))
            return PreviewTask.View(x: at.x, y: at.y, width: size.width, height: size.height)
        } catch {
            throw FarmError(.usage, error.message)
        }
    }

    private func fileFormat(_ output: String, _ catalog: Catalog) throws -> String {
        let ext = PathText.split(name: PathText.name(of: output)).ext
        let writable = catalog.formats.filter { $0.canWrite && !$0.isFolder && !$0.isVideo }
        guard let format = catalog.format(forExtension: ext), format.canWrite, !format.isFolder, !format.isVideo else {
            let known = writable.flatMap { $0.extensions.prefix(1) }.map { ".\($0)" }.joined(separator: ", ")
            let found =
                ext.isEmpty
                ? "the name has no extension, which decides the format"
                : "no format is written to '.\(PathText.visible(ext))'"
            throw FarmError(.usage, "\(PathText.visible(output)): \(found)\n   = a preview is written to \(known)")
        }
        if compare == .blink, !format.holdsAnimation {
            throw FarmError(
                .usage, "\(PathText.visible(output)): --compare blink is an animation\n   = write it to .gif or .webp")
        }
        return format.name
    }

    /// Reads the job with more overrides.
    private func job(
        _ reporter: ConsoleReporter, _ catalog: Catalog, _ settings: Settings, set more: [String]
    ) throws -> (spec: JobSpec, filters: [FilterMention]) {
        var options = ManifestOptions()
        options.manifests = [manifest]
        options.overrides = overrides + more
        var request = RunRequest(options)
        if let manifestPath { try request.takeText(as: manifestPath) }
        let outcome = ManifestFiles(request, catalog: catalog, settings: settings, control: Signals.current).read()
        guard let job = try reporter.jobs(outcome).first, let filters = outcome.filters.first else {
            throw RunOutcome.badManifest.code
        }
        return (job, filters)
    }

    /// A job for each value of the sweep, and the label of its panel.
    private func swept(
        _ spec: JobSpec, _ filters: [FilterMention], _ reporter: ConsoleReporter, _ catalog: Catalog,
        _ settings: Settings
    ) throws -> (labels: [String], specs: [JobSpec]) {
        guard let sweep else { return ([], [spec]) }
        do {
            let sweep = try PreviewRequest.Sweep(sweep)
            let path = try sweep.path(in: spec, filters, output: outputNumber - 1, catalog)
            let specs = try sweep.values.map { try job(reporter, catalog, settings, set: ["\(path)=\($0)"]).spec }
            return (sweep.values.map { "\(sweep.name) \($0)" }, specs)
        } catch let problem as PreviewRequest.OptionError {
            throw FarmError(.usage, problem.message)
        }
    }

    /// The pictures of the job, and the shown one, if it is another.
    private func inputs(of spec: JobSpec, with input: InputFile, _ catalog: Catalog) throws(FarmError) -> [InputFile] {
        guard spec.allFilters.contains(where: { $0.regionFile != nil || !$0.pictureTemplates.isEmpty }) else {
            return []
        }
        let own: [InputFile]
        do throws(PlanError) {
            own = try JobPlan.pictures(of: spec, catalog: catalog)
        } catch {
            throw refusal(error)
        }
        return own.contains { $0.exactPath == input.exactPath } ? own : own + [input]
    }

    private func input(_ spec: JobSpec, _ catalog: Catalog) throws -> InputFile {
        if let picture {
            let file = InputFile(argument: RawArguments.bytes(of: picture), in: currentFolder())
            guard FileStamp(of: file) != nil else {
                throw FarmError(.missingInput, "\(PathText.shown(file.path, from: currentFolder())): no such file")
            }
            // The job may have found it below a folder, which names of files with regions and of masks may contain.
            return try inputs(of: spec, with: file, catalog).first { $0.exactPath == file.exactPath } ?? file
        }
        do {
            let plan = try JobPlan(spec, catalog: catalog, date: "", selection: JobPlan.Selection(limit: 1))
            guard let frame = plan.frames.first else { throw PlanError.nothingMatched(patterns: spec.inputs) }
            return frame.input
        } catch let problem as PlanError {
            throw refusal(problem)
        }
    }

    private func refusal(_ problem: PlanError) -> FarmError {
        FarmError(
            problem.isMissingInput ? .missingInput : .badManifest,
            "\(PathText.visible(manifest)): error: \(problem.message(in: manifestPath == nil ? .preview : .submission))"
        )
    }

    /// An output with its whole chain.
    ///
    /// - Parameter resolved: fills in the regions of the picture.
    private func outputSpec(
        _ spec: JobSpec, _ index: Int, _ input: InputFile, _ catalog: Catalog,
        _ resolved: ([FilterInvocation]) throws -> [FilterInvocation]
    ) throws -> OutputSpec {
        let output = spec.outputs[index]
        let naming = OutputNaming(spec, date: "")
        let name = naming.path(output.template, for: input, index: 1, page: 0, measures: nil)
        // If the format can only be read, the preview shows the pixels that PNG would hold.
        let format = catalog.format(forExtension: PathText.split(name: PathText.name(of: name)).ext)
        return OutputSpec(
            chain: try resolved(spec.chain + output.shownChain),
            format: format.flatMap { $0.canWrite ? $0.name : nil } ?? "png",
            save: output.save)
    }

    private func rendered(
        _ task: PreviewTask, _ farm: Farm, _ signals: Signals
    ) async throws -> PreviewReceipt {
        do {
            let receipt = try await farm.engine().ask(
                .preview(task), signals: signals.control.signals(), limit: Self.limit)
            guard case .preview(let preview) = receipt else {
                throw FarmError(
                    .unavailable, "the worker answered another question\n   = reinstall both programs together")
            }
            return preview
        } catch let reason as EngineError {
            throw Self.error(reason, task, output ?? task.path)
        }
    }

    private static func error(
        _ reason: EngineError, _ task: PreviewTask, _ output: String
    ) -> FarmError {
        let shown = PathText.shown(task.input.path, from: currentFolder())
        switch reason {
        case .failed(let failure):
            let status: RunOutcome =
                failure.kind == .storage ? .storage : failure.kind == .resourceLimit ? .unavailable : .someFailed
            let message = failure.message.replacing(task.path, with: output)
            let words = message.hasPrefix(task.input.path) ? shown + message.dropFirst(task.input.path.count) : message
            return FarmError(status, VisibleText.message(words))
        case .died(let death):
            let words = death.lastWords.isEmpty ? "" : ": \(death.lastWords)"
            return FarmError(
                .someFailed, "\(shown): the worker ended (\(death.manner))\(words)")
        case .refused(let reason): return FarmError(.unavailable, reason.message())
        case .interrupted(let signal):
            return FarmError(RunOutcome(signal: signal), "interrupted; nothing was written")
        case .tookTooLong:
            return FarmError(.someFailed, "\(shown): no preview after \(limit)")
        }
    }

    /// What the panels show, in their order.
    private func panels(_ values: [String]) -> [String] {
        let split = compare == .split ? "before | " : ""
        return (compare == .side || compare == .blink ? ["before"] : [])
            + (values.isEmpty ? ["after"] : values).map { split + $0 }
    }

    /// The font that Debian's fonts-dejavu-core installs.
    private static let usualFont = "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

    /// Nil without labels.
    private func labels(_ values: [String], _ spec: JobSpec) throws -> PreviewTask.Labels? {
        guard labels || font != nil else { return nil }
        let own = spec.allFilters.first { $0.filter == "text" }?.pictures["font"]?.path
        let path = font.map { PathText.normalized($0, in: currentFolder()) } ?? own ?? Self.usualFont
        guard FileStamp(of: path) != nil else {
            throw FarmError(
                .missingInput,
                "\(PathText.shown(path, from: currentFolder())): the font of the labels is not there\n"
                    + "   = name a .ttf or .otf file by --font"
                    + (path == Self.usualFont ? ", or install Debian's package fonts-dejavu-core" : ""))
        }
        return PreviewTask.Labels(texts: panels(values), font: PictureReference(path: path))
    }

    /// - Parameter path: the preview's file; nil if the terminal shows the preview.
    private func show(_ receipt: PreviewReceipt, _ values: [String], _ input: String, _ path: String?) {
        let picture = PathText.shown(input, from: currentFolder())
        let panel = receipt.panels[0]
        Console.print(
            "\(path.map { "\(PathText.visible($0)): " } ?? "")\(panel.part.width)×\(panel.part.height) px at \(panel.part.x),\(panel.part.y) of \(picture), "
                + "\(panel.width)×\(panel.height) px")
        let panels = panels(values)
        if panels.count > 1 || compare == .split {
            let order = compare == .blink ? "by turns" : "from left to right"
            Console.print("  \(order): " + panels.joined(separator: ", "))
        }
    }
}

extension PreviewTask.Comparison: ExpressibleByArgument {}

/// Reads the options of `penumbra preview`.
enum PreviewRequest {
    /// An option has a wrong value.
    struct OptionError: Error, Hashable {
        let message: String
    }

    /// A point of the output: `40%,30%` or `1200,800`.
    static func point(_ text: String) throws(OptionError) -> (x: Length, y: Length) {
        let parts = text.filter { $0 != " " }.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 2, let x = length(parts[0]), let y = length(parts[1]) else {
            throw OptionError(message: "--at takes a point like 40%,30% or 1200,800, not '\(text)'")
        }
        return (x, y)
    }

    private static func length(_ text: Substring) -> Length? {
        let isPercent = text.hasSuffix("%")
        let digits = isPercent ? text.dropLast() : text
        guard let first = digits.first, first.isNumber,
            digits.allSatisfy({ $0.isASCII && ($0.isNumber || $0 == ".") }), let number = Double(digits),
            number <= (isPercent ? 100 : 10_000_000)
        else { return nil }
        return isPercent ? .percent(number) : .pixels(number)
    }

    static let largestSide = 8192

    /// The size of the preview: `800` or `800x600`.
    static func size(_ text: String) throws(OptionError) -> (width: Int, height: Int) {
        let parts = text.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard let width = parts[0], let height = parts.count == 1 ? width : parts.count == 2 ? parts[1] : nil,
            (1...largestSide).contains(width), (1...largestSide).contains(height)
        else {
            throw OptionError(message: "--size takes 1 to \(largestSide) pixels like 800 or 800x600, not '\(text)'")
        }
        return (width, height)
    }

    /// A parameter and the values to show.
    struct Sweep: Hashable {
        /// `radius`, or `filters[0].gaussian.radius`.
        let name: String
        let values: [String]

        static let most = 16

        /// `radius=4,8,16`
        init(_ text: String) throws(OptionError) {
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let values = parts.count == 2 ? parts[1].split(separator: ",").map(String.init) : []
            guard !values.isEmpty, !parts[0].isEmpty, values.count <= Self.most else {
                throw OptionError(
                    message: "--sweep takes a parameter and up to \(Self.most) values like radius=4,8,16, not '\(text)'"
                )
            }
            name = parts[0]
            self.values = values
        }

        /// The parameter's path in the manifest: `filters[1].motion.radius`.
        ///
        /// - Parameter filters: the filters of the job, then those of each output.
        func path(
            in job: JobSpec, _ filters: [FilterMention], output: Int, _ catalog: Catalog
        ) throws(OptionError) -> String {
            let parts = name.split(separator: ".").map(String.init)
            if name.contains("[") || parts.count > 2 { return name }
            let (wantedFilter, parameter) = (parts.count == 2 ? parts[0] : nil, parts.last ?? name)
            let before = job.outputs[..<output].reduce(job.chain.count) { $0 + $1.chain.count }
            let common = filters.prefix(job.chain.count).map { ($0.path, $0.invocation.filter) }
            let own = filters.dropFirst(before).prefix(job.outputs[output].chain.count)
                .map { ("outputs[\(output)].\($0.path)", $0.invocation.filter) }
            let paths = (common + own).filter { _, filter in
                guard filter == wantedFilter ?? filter else { return false }
                return catalog.filter(named: filter)?.parameters.contains {
                    $0.name == parameter || $0.synonyms.contains { $0.name == parameter }
                } ?? false
            }.map { filter, _ in "\(filter).\(parameter)" }
            guard let path = paths.first else {
                throw OptionError(
                    message:
                        "--sweep: no filter of the job has a parameter '\(name)'\n   = 'penumbra filters NAME' lists the parameters of a filter"
                )
            }
            guard paths.count == 1 else {
                throw OptionError(
                    message: "--sweep: several filters have a parameter '\(name)'\n   = write one of "
                        + paths.joined(separator: ", "))
            }
            return path
        }
    }
}

/// The file of a preview.
struct PreviewTarget {
    /// The path as the user wrote it.
    private let output: String
    private let path: String

    init(_ output: String) {
        self.output = output
        path = PathText.normalized(output, in: currentFolder())
    }

    /// A temporary file beside the preview, which a rename then puts in place.
    ///
    /// - Parameters:
    ///   - picture: the picture that the preview shows.
    ///   - paths: the pictures that its filters read.
    ///   - job: a job whose inputs must not be overwritten. The preview must not become one of them.
    func temporaryPath(
        showing picture: InputFile, reading paths: [String], of job: JobSpec, _ catalog: Catalog
    ) throws(FarmError) -> String {
        try refuseInputs(picture, pictures: Set(job.picturePaths + paths).sorted(), InputLookup(job, catalog: catalog))
        guard !FileSystem.isOwnFolder(path) else {
            throw FarmError(.usage, "\(PathText.visible(output)): is a folder\n   = choose another name")
        }
        let folder = PathText.folder(of: path)
        do {
            try WritableFolder.refuseForbidden(folder)
        } catch {
            throw FarmError(.storage, error.message(orChoose: "another file by -o"))
        }
        guard FileStamp(of: folder) != nil else {
            throw FarmError(
                .storage,
                "\(PathText.visible(output)): its folder does not exist\n   = create it, or choose another folder")
        }
        return "\(folder)/.penumbra-preview-\(getpid())"
    }

    /// Renames a temporary file to the preview.
    func put(_ temporary: String) throws {
        guard rename(temporary, output) == 0 else {
            throw FarmError(
                .storage, "\(PathText.visible(output)): cannot be written: \(String(cString: strerror(errno)))")
        }
    }

    /// Refuses to replace a file that no preview wrote, such as a published output or an edited preview.
    func refuseForeign(_ book: PreviewRegistry) throws {
        guard try !book.mayReplace(path) else { return }
        throw FarmError(
            .usage,
            "\(PathText.visible(output)): the file exists, and 'penumbra preview' did not write it\n   = choose another name, or let --force replace it"
        )
    }

    /// Remembers that the next preview may replace the file. If that fails, the next preview needs `--force`.
    func remember(_ book: PreviewRegistry) {
        do {
            try book.add(path)
        } catch {
            Console.complain(
                "warning: \(PathText.visible(output)): the next preview will not replace it without --force: its name could not be kept in the "
                    + "state folder")
        }
    }

    private func refuseInputs(
        _ picture: InputFile, pictures: [String], _ question: InputLookup
    ) throws(FarmError) {
        let there = FileStamp(of: path)?.identity
        if let there, there == FileStamp(of: picture)?.identity {
            throw FarmError(
                .usage, "\(PathText.visible(output)): the preview would overwrite the picture that it shows")
        }
        for read in pictures where there != nil && there == FileStamp(of: read)?.identity {
            let shown = PathText.shown(read, from: currentFolder())
            throw FarmError(
                .usage, "\(PathText.visible(output)): the preview would overwrite \(shown), which a filter reads")
        }
        if let there, let input = question.input(being: there) {
            let shown = PathText.shown(input, from: currentFolder())
            throw FarmError(
                .usage, "\(PathText.visible(output)): the preview would overwrite \(shown), an input of the job")
        }
        if let entry = question.entry(taking: path) {
            let shown = PathText.shown(entry, from: currentFolder())
            throw FarmError(
                .usage,
                "\(PathText.visible(output)): the preview would be an input of the job, by '\(shown)'\n   = write it to another folder"
            )
        }
    }
}
