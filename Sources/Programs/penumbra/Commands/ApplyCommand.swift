import ArgumentParser
import Catalogs
import Coordination
import Glibc
import JobModel
import Manifests
import Planning
import RenderFarm
import Runs
import SafeFiles
import Settings

struct ApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Apply filters to pictures, without a manifest.",
        discussion: """
            The chain is written as in a manifest, its filters divided by '|':

              penumbra apply 'gaussian: {radius: 12}' photo.jpg -o blurred.jpg
              penumbra apply 'thumbnail: {size: 320} | gaussian: {radius: 1}' photos/*.jpg -o thumbs/

            The chain '[]' changes only the format:

              penumbra apply '[]' scan.tif -o scan.png

            A file that exists stays, unless --force is given. Penumbra never writes over a picture that it reads. \
            --save-manifest keeps the job as a manifest, to be run again.

            A picture that is called - is read from the standard input. With -o - the picture goes to the standard output, \
            in its own format or in that of --format:

              curl -s https://example.org/a.png | penumbra apply 'gaussian: {radius: 4}' - -o - --format jpg > a.jpg
            """)

    @Argument(help: ArgumentHelp("Filters, divided by '|'.", valueName: "chain"), completion: Completions.filters)
    var chain: String

    @Argument(help: ArgumentHelp("Pictures, or - for the standard input.", valueName: "picture"), completion: .file())
    var pictures: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A file for one picture, a folder that exists or ends with /, a path with fields ('out/{stem}.png'), or - "
                + "for the standard output.",
            valueName: "path"), completion: .file())
    var output: String

    @Option(
        help: ArgumentHelp(
            "With -o -: a format, by its name or an extension. Default: that of the picture.", valueName: "name"),
        completion: Completions.formats)
    var format: String?

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Changes a value of the job: 'save.quality=90'. May be given again.", valueName: "path=value"),
        completion: Completions.keys)
    var overrides: [String] = []

    @Option(
        help: ArgumentHelp("Also writes the job to a file that does not exist yet.", valueName: "file"),
        completion: Completions.manifests)
    var saveManifest: String?

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Flag(help: "Replace files that exist.")
    var force = false

    @OptionGroup var printing: OutputOptions

    private var readsInput: Bool { pictures.contains(Self.stream) }
    private var writesOutput: Bool { output == Self.stream }
    private static let stream = "-"

    func validate() throws {
        try ManifestOptions.refuseRepeated(overrides)
        if pictures.count(where: { $0 == Self.stream }) > 1 {
            throw ValidationError("- is the standard input, which can be read only once.")
        }
        if writesOutput, pictures.count > 1 {
            throw ValidationError("-o - writes one picture, and there are \(pictures.count); name a folder.")
        }
        if format != nil, !writesOutput {
            throw ValidationError("--format belongs to -o -; the extension of a file decides its format.")
        }
        if writesOutput, printing.json {
            throw ValidationError("-o - and --json would both write to the standard output; leave one of them out.")
        }
        if saveManifest != nil, readsInput || writesOutput {
            throw ValidationError("--save-manifest cannot keep a job with - in it; name files.")
        }
    }

    func run() async throws {
        let quiet = printing.quiet || writesOutput
        try await ConsoleReporter(json: printing.json, quiet: quiet).handling { reporter in
            // Mistakes in the chain and missing pictures are reported before anything is read.
            _ = try manifest()
            try refuseMissing()
            if writesOutput, Console.outputIsTerminal {
                throw FarmError(
                    .usage,
                    "-o -: the standard output is a terminal\n   = send it to a file, as in '> picture.png', or name a file by -o"
                )
            }
            let farm = Farm(try Settings.load(location))
            let control = Signals().control
            let catalog = try await farm.catalogOfFirstWorker()
            guard readsInput || writesOutput else {
                return try await apply(try manifest(), farm, catalog, control, reporter)
            }
            let streams = try StreamedPictures(in: farm.settings.scratch.value)
            let saved = readsInput ? try await streams.saveInput(control) : nil
            let inputs = zip(pictures, inputs).map { $0 == Self.stream ? saved ?? $0 : $1 }
            guard writesOutput else {
                return try await apply(
                    try manifest(inputs: inputs, output: output), farm, catalog, control, reporter)
            }
            let path = streams.outputPath(extension: try fileExtension(for: saved ?? pictures[0], catalog))
            let outcome = try await apply(
                try manifest(inputs: inputs, output: path), farm, catalog, control, reporter)
            if outcome == .done { try await streams.sendOutput(at: path) }
            return outcome
        }
    }

    /// Renders what a manifest says.
    private func apply(
        _ manifest: AppliedManifest, _ farm: Farm, _ catalog: Catalog, _ control: RunControl,
        _ reporter: ConsoleReporter
    ) async throws -> RunOutcome {
        // Penumbra does not record these outputs, so any existing file may belong to the user.
        let text = manifest.text + "existing: error\n"
        let read = JobReader.read(
            bytes: Array(text.utf8), path: "apply", realPath: "\(currentFolder())/apply", arguments: manifest.arguments,
            catalog: catalog, overrides: overrides.map { Override($0) }, shared: farm.settings.sharedParameters,
            inspect: FilterPictures.inspect)
        let result = await WorkerChecks(forRunOf: [read], catalog, by: farm.worker).adding(to: read)
        let specs = try reporter.jobs(ManifestFiles.Outcome(result, of: "apply"))
        if let saveManifest {
            let manifest = try savedManifest(at: saveManifest, result.pictures)
            try NewFile.write(manifest, to: saveManifest, "the manifest", option: "--save-manifest")
        }
        var request = RunRequest(manifests: [], folder: currentFolder())
        request.isForced = force
        let preparation = try JobPreparation(
            request, farm: farm, catalog: catalog, control: control, reread: { _, _ in result })
        return try await JobRunner(RunContext(request, preparation, reporter, memory: .none)).run(specs)
    }

    /// The extension of the picture that goes to the standard output.
    private func fileExtension(for picture: String, _ catalog: Catalog) throws(FarmError) -> String {
        let writable = catalog.formats.filter { $0.canWrite && !$0.isFolder }
        let known = writable.map(\.name).joined(separator: ", ")
        func usable(_ word: String) -> String? {
            let word = (word.hasPrefix(".") ? String(word.dropFirst()) : word).lowercased()
            return writable.first { $0.name == word || $0.extensions.contains(word) }?.extensions.first
        }
        if let format {
            guard let ext = usable(format) else {
                throw FarmError(
                    .usage, "--format: '\(PathText.visible(format))' cannot be written\n   = the formats are \(known)")
            }
            return ext
        }
        let own = StreamedPictures.fileExtension(at: picture) ?? PathText.split(name: PathText.name(of: picture)).ext
        guard let ext = usable(own) else {
            throw FarmError(
                .usage,
                "-o -: Penumbra cannot write the format of this picture, or does not know it\n   = choose one by --format: \(known)"
            )
        }
        return ext
    }

    /// Refuses missing pictures before others are read.
    private func refuseMissing() throws {
        let files = pictures.filter { !PathText.isRemote($0) && $0 != Self.stream }.map {
            InputFile(argument: RawArguments.bytes(of: $0), in: currentFolder())
        }
        let missing = files.filter(\.isMissing).map { PathText.shown($0.path, from: currentFolder()) }
        guard missing.isEmpty else {
            throw FarmError(.missingInput, missing.map { "\($0): no such file" }.joined(separator: "\n"))
        }
    }

    /// The pictures in the form of patterns, whatever bytes their names have.
    private var inputs: [String] { pictures.map { NonUTF8Name.text(of: RawArguments.bytes(of: $0)) } }

    private func manifest() throws -> AppliedManifest { try manifest(inputs: inputs, output: output) }

    /// The manifest to save, with the values of ``overrides``. In another folder it needs absolute paths, because relative ones start
    /// from the manifest's folder.
    private func savedManifest(at path: String, _ pictures: [PictureMention]) throws -> String {
        let here = currentFolder()
        let isHere = PathKey(PathText.folder(of: PathText.normalized(path, in: here))) == PathKey(here)
        func whole(_ path: String) -> String {
            PathNames.isAbsolute(path)
                ? path : PathText.normalized(path, in: here) + (PathNames.endsWithSlash(path) ? "/" : "")
        }
        let text = try (isHere ? manifest() : manifest(inputs: inputs.map(whole), output: whole(output))).text
        guard overrides.isEmpty else {
            return OverriddenText(
                bytes: Array(text.utf8), overrides: overrides.map { Override($0) }, pictures: pictures,
                whole: isHere ? nil : whole
            ).text
        }
        return isHere ? text : AppliedManifest.withAbsolutePaths(text, pictures)
    }

    private func manifest(inputs: [String], output: String) throws(FarmError) -> AppliedManifest {
        do {
            return try AppliedManifest(
                chain: chain, inputs: inputs, output: output, isThere: { $0 == "-" || FileSystem.exists($0) }
            ) { path in
                var found = stat()
                return stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
            }
        } catch {
            throw FarmError(.usage, error.message)
        }
    }
}

/// The manifest for a command line of `penumbra apply`.
struct AppliedManifest {
    let text: String
    /// The argument that each line of the text was made of. Nil for lines without one.
    let arguments: [ArgumentLine?]

    /// The command line does not describe a job.
    enum ChainError: Error, Hashable {
        case emptyChain
        /// Counted from 1.
        case emptyFilter(number: Int, count: Int)
        case oneFileForMany(count: Int)
        /// The shell divided the chain at its blanks.
        case unquoted(beginning: String, next: String)

        var message: String {
            switch self {
            case .emptyChain:
                "the chain has no filter\n   = write a filter, such as 'gaussian: {radius: 12}', or '[]' to change only the "
                    + "format"
            case .emptyFilter(let number, let count):
                "filter \(number) of \(count) of the chain is empty\n   = write a filter there, or remove a '|'"
            case .unquoted(let beginning, let next):
                "the chain ends with \(beginning.quoted), and \(next.quoted) was taken for a picture\n   = put quotes around the whole "
                    + "chain, as in 'gaussian: {radius: 12}'"
            case .oneFileForMany(let count):
                "--output is one file, and there are \(count) pictures\n   = end it with / for a folder, or use fields "
                    + "such as out/{stem}.png"
            }
        }
    }

    /// - Parameters:
    ///   - chain: Filters in the syntax of manifests, divided by `|`, or `[]` for none.
    ///   - chainName: The argument with the chain, in messages.
    ///   - inputs: The pictures as the user wrote them, in the form of ``NonUTF8Name/text(of:)``. Relative paths start from the
    ///     current folder.
    ///   - isThere: Whether a picture exists.
    ///   - isFolder: Whether a path is an existing folder.
    init(
        chain: String, named chainName: String = "the chain", inputs: [String], output: String,
        isThere: (String) -> Bool = { _ in true }, isFolder: (String) -> Bool
    ) throws(ChainError) {
        let filters = chain.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmed }
        guard !filters.allSatisfy(\.isEmpty) else { throw .emptyChain }
        if let empty = filters.firstIndex(of: "") { throw .emptyFilter(number: empty + 1, count: filters.count) }
        if let last = filters.last, let next = inputs.first, !isThere(next), Self.continues(last, next) {
            throw .unquoted(beginning: last, next: next)
        }
        var text = ""
        var arguments: [ArgumentLine?] = []
        func add(_ line: String, _ argument: ArgumentLine? = nil) {
            text += line + "\n"
            arguments.append(argument)
        }
        func add(_ beginning: String, quoted value: String, of name: String) {
            add(
                beginning + SyntaxNode.Scalar.quoted(value),
                ArgumentLine(name, before: beginning.unicodeScalars.count + 1, behind: 1))
        }
        add("job: apply")
        add("inputs:")
        for input in inputs { add("  - ", quoted: GlobPattern.matching(input), of: "picture \(input)") }
        let isEmptyList = filters.count == 1 && filters[0].filter { !$0.isWhitespace } == "[]"
        if isEmptyList {
            add("filters: []", ArgumentLine(chainName, before: "filters: ".count))
        } else {
            add("filters:")
        }
        for filter in filters where !isEmptyList {
            let lines = filter.split(omittingEmptySubsequences: false, whereSeparator: \.isBreak)
            for (index, line) in lines.enumerated() {
                let beginning = index == 0 ? "  - " : ""
                add(beginning + line, ArgumentLine(chainName, before: beginning.count))
            }
        }
        let template = try Self.template(for: inputs, output: output, isFolder)
        add("output: ", quoted: template, of: "--output \(output)")
        (self.text, self.arguments) = (text, arguments)
    }

    /// Whether the shell has cut a chain without quotes before a word: `motion: {angle: 90}` at its blanks, and
    /// `motion:{radius:40,angle:90}` at its braces into `motion:radius:40` and `motion:angle:90`.
    private static func continues(_ filter: String, _ next: String) -> Bool {
        guard let colon = filter.firstIndex(of: ":") else { return false }
        let isOpen = filter.count { $0 == "{" } > filter.count { $0 == "}" }
        return filter.hasSuffix(":") || isOpen || next.hasPrefix(filter[...colon])
    }

    /// In a folder the outputs keep the pictures' names. A text with fields is a template already.
    private static func template(
        for inputs: [String], output: String, _ isFolder: (String) -> Bool
    ) throws(ChainError) -> String {
        if PathNames.endsWithSlash(output) || isFolder(output) {
            return (PathNames.endsWithSlash(output) ? output : output + "/") + "{stem}.{ext}"
        }
        guard inputs.count == 1 || output.contains("{") else { throw .oneFileForMany(count: inputs.count) }
        return output
    }
}

extension Character {
    /// Whether it ends a line of a manifest.
    fileprivate var isBreak: Bool { ["\n", "\r", "\r\n"].contains(self) }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}

extension AppliedManifest {
    /// The text of a manifest with absolute paths of the pictures that its filters read.
    static func withAbsolutePaths(_ text: String, _ mentions: [PictureMention]) -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        // From right to left, because each change moves the text behind it.
        let mentions = mentions.filter { $0.span.source == .file }.sorted { $0.span.start > $1.span.start }
        for mention in mentions where lines.indices.contains(mention.span.start.line - 1) {
            let line = Array(lines[mention.span.start.line - 1].unicodeScalars)
            let start = min(mention.span.start.column - 1, line.count)
            let end = min(start + mention.span.length, line.count)
            var changed = String.UnicodeScalarView(line[..<start])
            changed.append(contentsOf: SyntaxNode.Scalar.quoted(mention.path).unicodeScalars)
            changed.append(contentsOf: line[end...])
            lines[mention.span.start.line - 1] = String(changed)
        }
        return lines.joined(separator: "\n")
    }
}
