import ArgumentParser
import Coordination
import Glibc
import JobModel
import Manifests
import Planning
import RenderFarm
import Settings

struct ApplyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "apply",
        abstract: "Apply filters to pictures, without a manifest.",
        discussion: """
            The chain is written as in a manifest, its filters divided by '|':

              penumbra apply 'gaussian: {radius: 12}' photo.jpg -o blurred.jpg
              penumbra apply 'thumbnail: {size: 320} | gaussian: {radius: 1}' photos/*.jpg -o thumbs/

            A file that is there already stays, unless --force is given; no picture is ever written over one that is read. \
            --save-manifest keeps the job as a manifest, to be run again.
            """)

    @Argument(help: ArgumentHelp("Filters, divided by '|'.", valueName: "chain"))
    var chain: String

    @Argument(help: ArgumentHelp("Pictures.", valueName: "picture"), completion: .file())
    var pictures: [String]

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "A file for one picture, a folder (that exists, or with / at its end), or a path with fields: 'out/{stem}.png'.",
            valueName: "path"))
    var output: String

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Changes a value of the job: 'save.quality=90'. May be given again.", valueName: "path=value"))
    var overrides: [String] = []

    @Option(help: ArgumentHelp("Also writes the job to a file that does not exist yet.", valueName: "file"))
    var saveManifest: String?

    @OptionGroup(title: "Place Options") var place: LocationOptions

    @Flag(help: "Replace what is there already.")
    var force = false

    @Flag(name: .shortAndLong, help: "Print nothing when all is well.")
    var quiet = false

    @Flag(help: "Print JSON lines, the first {\"schema\":1}, the last the summary.")
    var json = false

    func validate() throws { try ManifestOptions.refuseRepeated(overrides) }

    func run() async throws {
        try await ConsoleReporter(json: json, quiet: quiet).handling { reporting in
            // Nobody remembers what a command made: whatever is there may be somebody's.
            let text = try manifest() + "existing: error\n"
            try refuseMissing()
            let installation = Farm(try Settings.load(place))
            let signals = Signals()
            let catalog = try await installation.introducedCatalog()
            let result = JobReader.read(
                bytes: Array(text.utf8), path: "apply", realPath: "\(currentFolder())/apply", catalog: catalog,
                overrides: overrides.map { Override($0) }, shared: installation.settings.sharedParameters,
                inspect: FilterPictures.inspect)
            let specs = try reporting.jobs(ManifestFiles.Outcome(result, of: "apply"))
            if let saveManifest {
                let manifest = try savedManifest(at: saveManifest, result.pictures)
                try NewFile.write(manifest, to: saveManifest, "the manifest", option: "--save-manifest")
            }
            var wishes = RunWishes()
            wishes.remembers = false
            let preparation = JobPreparation(
                installation: installation, catalog: catalog, folder: currentFolder(), selection: JobPlan.Selection(),
                list: nil,
                isForced: force, control: signals.control, deadline: nil, reread: { _, _ in result })
            return try await JobRunner(
                installation: installation, control: signals.control, reporting: reporting, preparation: preparation,
                wishes: wishes
            ).run(specs)
        }
    }

    /// Before anything is read of the others.
    private func refuseMissing() throws {
        let files = pictures.filter { !PathText.isRemote($0) }.map {
            InputFile(argument: RawArguments.bytes(of: $0), in: currentFolder())
        }
        let missing = files.filter(\.isMissing).map { PathText.shown($0.path, from: currentFolder()) }
        guard missing.isEmpty else {
            throw FarmError(.missingInput, missing.map { "\($0): no such file" }.joined(separator: "\n"))
        }
    }

    /// As patterns take them, whatever their bytes.
    private var inputs: [String] { pictures.map { NonUTF8Name.text(of: RawArguments.bytes(of: $0)) } }

    private func manifest() throws -> String { try manifest(inputs: inputs, output: output) }

    /// With what ``overrides`` say, and with whole paths where the manifest goes to another folder: relative ones start
    /// from the manifest's.
    private func savedManifest(at path: String, _ pictures: [PictureMention]) throws -> String {
        let here = currentFolder()
        let isHere = PathKey(PathText.folder(of: PathText.normalized(path, in: here))) == PathKey(here)
        func whole(_ path: String) -> String {
            PathNames.isAbsolute(path)
                ? path : PathText.normalized(path, in: here) + (PathNames.endsWithSlash(path) ? "/" : "")
        }
        let text = isHere ? try manifest() : try manifest(inputs: inputs.map(whole), output: whole(output))
        guard overrides.isEmpty else {
            return OverriddenText(
                bytes: Array(text.utf8), overrides: overrides.map { Override($0) }, pictures: pictures,
                whole: isHere ? nil : whole
            ).text
        }
        return isHere ? text : AppliedManifest.withWholePaths(text, pictures)
    }

    private func manifest(inputs: [String], output: String) throws -> String {
        let applied = AppliedManifest(chain: chain, inputs: inputs, output: output) { path in
            var found = stat()
            return stat(path, &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
        }
        do {
            return try applied.text()
        } catch {
            throw FarmError(.usage, error.message)
        }
    }
}
