import ArgumentParser
import Catalogs
import Coordination
import FoundationEssentials
import InPlace
import JobModel
import Manifests
import Planning
import RenderFarm
import Reports
import Runs
import SafeFiles
import Scheduling
import Settings
import Terminals

struct BlurCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "blur",
        abstract: "Blur pictures in place, and keep their originals.",
        discussion: """
              penumbra blur photo.jpg --radius 2          photo.jpg is blurred now
              penumbra unblur photo.jpg                   photo.jpg is as before, with its time and attributes
              penumbra is-blurred photo.jpg               exit code 0: yes, 1: no
              penumbra blur photos --filter 'halftone: {size: 6}'

            A folder stands for all pictures in it and below, by their names' extensions. The command lists these, does not blur them, and \
            exits with 1:

              - links to pictures and folders elsewhere
              - hidden pictures, and hidden folders with pictures
              - pictures with other names
              - pictures in formats that Penumbra cannot read or cannot write, and films

            A picture that is blurred already stays as it is. The exit code is 1 if it was blurred with other filters: unblur \
            it first. Each picture keeps its format, metadata, permissions, owner and attributes. \
            If 'blur' is killed at any time, the path has either the original or the blurred picture, and 'unblur' works.

            Exit codes:

              0   Done, or there is nothing to do, such as in a folder without pictures.
              1   Some pictures were refused, such as pictures that were edited since they were blurred.
              64  The command line is wrong, or the filters change no pixel.
              65  The filters are wrong.
              66  A picture is missing.
              74  A disk or folder is full, read-only or forbidden.
              75  Another blur or unblur is running.
            """)

    @Argument(help: ArgumentHelp("Pictures, or folders of pictures.", valueName: "picture"), completion: .file())
    var pictures: [String] = []

    @Option(
        help: ArgumentHelp(
            "The standard deviation of a Gaussian, in pixels. Default for single pictures: 10. Folders need this option.",
            valueName: "px"))
    var radius: Double?

    @Option(help: ArgumentHelp("The same as --radius.", valueName: "px"))
    var sigma: Double?

    @Option(
        help: ArgumentHelp(
            "Any filters in place of a Gaussian, as in a manifest, divided by '|': 'halftone: {size: 6}'.",
            valueName: "chain"), completion: Completions.filters)
    var filter: String?

    @Option(
        help: ArgumentHelp(
            "Where originals are kept: 'state', in the state folder, or 'beside' the pictures, in a hidden folder "
                + ".penumbra-originals that moves with them.", valueName: "state|beside"))
    var keep: OriginalLocation = .state

    @Flag(
        help:
            "Also blur pictures that were edited since they were blurred. Their older originals are kept, too."
    )
    var force = false

    @Flag(help: "List the pictures whose originals are kept, or only the pictures that you name. Change nothing.")
    var list = false

    @OptionGroup(title: "Location Options") var location: LocationOptions

    @Option(
        help: ArgumentHelp("How long to wait for another blur or unblur to end: 90, 5m.", valueName: "time"),
        transform: TimeArgument.read)
    var lockWait: TimeArgument?

    @OptionGroup var output: OutputOptions

    /// The largest radius of the Gaussian filter.
    private static let largestRadius = 1000.0

    func validate() throws {
        if !list, pictures.isEmpty { throw ValidationError("Name the pictures to blur, or folders of them.") }
        if pictures.contains("") { throw ValidationError("A path is empty; name pictures or folders.") }
        for (name, value) in [("--radius", radius), ("--sigma", sigma)] {
            guard let value, !(value > 0 && value <= Self.largestRadius) else { continue }
            let largest = ParameterValue.number(Self.largestRadius).words
            throw ValidationError(
                "\(name) takes more than 0 and at most \(largest) px, not \(ParameterValue.number(value).words).")
        }
        if [radius != nil, sigma != nil, filter != nil].count(where: { $0 }) > 1 {
            throw ValidationError("--radius, --sigma and --filter each say how to blur; give one of them.")
        }
    }

    func run() async throws {
        try await ConsoleReporter(output).handling { reporter in
            let session = try await InPlaceSession(location)
            if list { return try await BlurList(session: session, reporter: reporter).run(pictures) }
            let request = try await request(session, reporter)
            return try await session.locked(lockWait?.seconds ?? 0) { try await blur(session, reporter, request) }
        }
    }

    /// The filters as the user would write them.
    private var chain: String {
        if let filter { return filter }
        return "gaussian: {radius: \(ParameterValue.number(radius ?? sigma ?? 10).words)}"
    }

    /// The filters of this command line.
    private struct Request {
        let job: JobSpec
        /// Whether a text describes the same filters.
        let isChain: @Sendable (String) -> Bool
    }

    private func request(_ session: InPlaceSession, _ reporter: ConsoleReporter) async throws -> Request {
        let catalog = session.catalog
        let read: ReadResult
        do throws(AppliedManifest.ChainError) {
            read = try Self.read(chain, catalog)
        } catch {
            throw FarmError(.usage, error.message)
        }
        let result = try await examined(read, session, reporter)
        let jobs = try reporter.jobs(ManifestFiles.Outcome(result, of: "blur"))
        guard let job = jobs.first else { throw FarmError(.badManifest, "\(chain): no filters could be read") }
        guard job.allFilters.allSatisfy({ $0.regionFile == nil }) else {
            throw FarmError(
                .usage,
                "--filter: 'blur' takes no regions from a file\n   = write a job with 'within: {from: …}', and run it by 'penumbra run'"
            )
        }
        guard job.pictureTemplates.isEmpty else {
            throw FarmError(
                .usage,
                "--filter: 'blur' takes no mask of each picture\n   = write a job with 'mask: masks/{stem}.png', and run it by "
                    + "'penumbra run'")
        }
        guard !job.allFilters.contains(where: { $0.templates.contains(where: \.hasNames) }) else {
            throw FarmError(
                .usage,
                "--filter: 'blur' takes no text with names of pictures\n   = write a job with '{stem}', and run it by 'penumbra run'"
            )
        }
        let preparation = try JobPreparation(
            RunRequest(manifests: [], folder: currentFolder()), farm: session.farm, catalog: catalog,
            control: session.control, reread: { _, _ in result })
        return Request(job: try await preparation.readingPictures(of: job)) { [chain = job.chain] filters in
            // A text that cannot be read describes other filters.
            (try? Self.read(filters, catalog))?.job?.chain == chain
        }
    }

    private static func read(_ chain: String, _ catalog: Catalog) throws(AppliedManifest.ChainError) -> ReadResult {
        // Only the filters of this manifest are used.
        let manifest = try AppliedManifest(
            chain: chain, named: "--filter", inputs: ["picture"], output: "picture.png"
        ) { _ in false }
        return JobReader.read(
            bytes: Array(manifest.text.utf8), path: "blur", realPath: "\(currentFolder())/blur",
            arguments: manifest.arguments, catalog: catalog, inspect: FilterPictures.inspect)
    }

    /// Adds what only workers know of the filters. The command's own Gaussian needs no such check.
    private func examined(
        _ read: ReadResult, _ session: InPlaceSession, _ reporter: ConsoleReporter
    ) async throws -> ReadResult {
        guard filter != nil, read.job != nil else { return read }
        let examination = await WorkerChecks([read], by: session.farm.worker)
        if let failure = examination.failure {
            reporter.warn("the filters could not be examined: \(failure)")
        }
        guard !examination.changeNothing(read.filters) else {
            throw FarmError(
                .usage,
                "\(PathText.visible(chain)): changes no pixel, and the pictures would stay as sharp as they are\n"
                    + "   = give other values, or another filter")
        }
        return examination.adding(to: read)
    }

    private func blur(
        _ session: InPlaceSession, _ reporter: ConsoleReporter, _ request: Request
    ) async throws -> RunOutcome {
        let search = reporter.search(pictures, session)
        if let folder = search.folders.first, radius == nil, sigma == nil, filter == nil {
            throw FarmError(
                .usage,
                "\(PathText.shown(folder.path, from: currentFolder())): a folder's pictures are blurred only with a radius that "
                    + "you choose\n   = give --radius, such as --radius 10, or --filter")
        }
        var skipped = search.passedBy()
        let (_, stopBefore) = try await session.takeBlurred(from: &skipped)
        if stopBefore != nil { return reporter.report(stopBefore, left: search.pictures.count) }
        reporter.report(skipped, all: "'penumbra is-blurred --json'")
        let wanted = search.pictures.map { RequestedPicture($0) }
        let report = InPlaceReport(.blur, reporter)
        let stop = try await session.blur(
            wanted, by: request.job, chain: chain, areSame: request.isChain, keeping: keep, isForced: force,
            observer: reporter.observer(of: "blur")
        ) { report.add($0, filters: chain) }
        let isEmpty = wanted.isEmpty && skipped.isNothing && search.problems.isEmpty
        report.end(
            isEmpty ? "there are no pictures at the given paths" : done(report, session),
            [
                ("already blurred", "already blurred"), ("blurred otherwise", "blurred with other filters before"),
                ("left", "left"),
            ], others: skipped.others)
        let searchOutcome = search.problems.isEmpty ? RunOutcome.done : .storage
        let sharp = skipped.isNothing ? RunOutcome.done : .someFailed
        return max(report.status, searchOutcome, sharp, reporter.report(stop, left: report.count("left")))
    }

    private func done(_ report: InPlaceReport, _ session: InPlaceSession) -> String {
        let count = report.count("blurred")
        guard count > 0 else { return "" }
        let whose = count == 1 ? "its original is" : "their originals are"
        let store =
            keep == .state
            ? "in \(session.originals.root)" : "beside \(count == 1 ? "it" : "them"), in \(Originals.folderName)"
        return
            "blurred \(count == 1 ? "1 picture" : "\(count) pictures") (\(PathText.visible(chain))); \(whose) kept \(store), "
            + "and 'penumbra unblur' puts \(count == 1 ? "it" : "them") back"
    }
}

extension OriginalLocation: ExpressibleByArgument {}

extension Originals {
    /// Says how many folders have lost their originals.
    static func words(lost count: Int) -> String {
        (count == 1 ? "1 folder has" : "\(Figures.count(count)) folders have")
            + " no \(folderName) any more, in which originals were kept; restore it from a backup, or let 'penumbra gc "
            + "--originals' forget it"
    }
}

/// Lists the kept originals for `penumbra blur --list`.
struct BlurList {
    let session: InPlaceSession
    let reporter: ConsoleReporter

    /// - Parameter paths: pictures and folders; empty for all.
    func run(_ paths: [String]) async throws -> RunOutcome {
        let search = reporter.search(paths, session)
        let named = Set(search.pictures.filter(\.isNamed).map(\.file.exactPath))
        // A folder that has something else in place of its originals is reported, too.
        let folders =
            search.pictures.map { PathText.folder(of: $0.file.path) } + search.folders.map(\.path) + search.storeFolders
        let (known, distrusted) = session.originals.pictures(andIn: folders)
        let meant = known.filter { picture in
            paths.isEmpty || search.holds(picture) || named.contains(picture.exactPath)
        }
        // These were blurred under other names.
        let isKnown = Set(meant.map(\.exactPath))
        let renamed = search.pictures.map(\.file).filter {
            !isKnown.contains($0.exactPath) && session.originals.mayBeElsewhere($0)
        }
        let pictures = meant + renamed
        for error in distrusted { reporter.complain(error.message) }
        let (inspected, stop) = try await InspectedPicture.inspect(
            at: pictures, session.originals, readsOriginals: false, settings: session.farm.runSettings,
            loop: session.loop)
        if stop != nil { return reporter.report(stop, left: pictures.count) }
        let isWhole = reportMissing(search, isForAll: paths.isEmpty)
        print(inspected.flatMap { picture in picture.originals.map { KeptLine(picture, $0) } }, isWhole: isWhole)
        return distrusted.isEmpty && isWhole ? .done : .someFailed
    }

    /// Reports folders with originals beside their pictures that are not at their places.
    ///
    /// - Returns: whether there are none.
    private func reportMissing(_ search: PictureSearch, isForAll: Bool) -> Bool {
        func meant(_ folders: [String]) -> [String] {
            folders.filter {
                isForAll || search.holds(InputFile(path: PathNames.joined($0, Originals.folderName), dir: ""))
            }
        }
        let (lost, missing) = (
            meant(session.originals.foldersWithoutStore()), meant(session.originals.missingFolders())
        )
        if !lost.isEmpty { reporter.complain(Originals.words(lost: lost.count), lost, reasons: nil, all: "--json") }
        if !missing.isEmpty {
            let (are, places) = missing.count == 1 ? ("is", "its place") : ("are", "their places")
            reporter.complain(
                "\(Figures.plural(missing.count, "folder")) in which originals were kept \(are) not at \(places): mount the "
                    + "disk; or, if you moved it, give 'penumbra blur --list FOLDER' with its new place; 'penumbra gc --give-up "
                    + "FOLDER' forgets it", missing, reasons: nil, all: "--json")
        }
        return lost.isEmpty && missing.isEmpty
    }

    private func print(_ lines: [KeptLine], isWhole: Bool) {
        if reporter.json {
            for line in lines { line.print() }
        } else if lines.isEmpty {
            if isWhole { reporter.say("no originals are kept") }
        } else {
            var table = Table(["state", "since", "filters", "picture"])
            for line in lines {
                table.add(
                    line.state, LocalTime.text(line.time), PathText.visible(line.filters),
                    PathText.shown(line.path, from: currentFolder()))
            }
            for line in table.lines { Console.print(line) }
        }
    }
}

/// The JSON line of a kept original.
struct KeptLine: JSONLine {
    let event = "kept"
    let path: String
    let pathBase64: String?
    /// `blurred`, `edited since`, `original is there`, `missing`, `unreadable`; `older` if a later original of the
    /// picture is kept, too; `put back elsewhere` if the picture has another name, and its original is there;
    /// `another user's` if only a record of another user says that it is blurred.
    let state: String
    let filters: String
    /// Seconds since 1970.
    let time: Int
    let original: String
    let bytes: Int
    let digest: String

    private enum CodingKeys: String, CodingKey {
        case event, path, state, filters, time, original, bytes, digest
        case pathBase64 = "path_base64"
    }

    init(_ picture: InspectedPicture, _ original: StoredOriginal) {
        path = picture.picture.path
        pathBase64 = picture.picture.bytes.map { Data($0).base64EncodedString() }
        (filters, time, self.original) = (original.record.filters, original.record.time, original.path)
        (bytes, digest) = (original.record.original.bytes, original.record.original.digest.description)
        let generation = original.record.generation
        switch picture.condition {
        case .blurred(let own) where own.record.generation == generation:
            state = picture.isUntrusted ? "another user's" : "blurred"
        case .original(let own) where own.record.generation == generation: state = "original is there"
        case .edited(let own) where own.record.generation == generation: state = "edited since"
        case .missing where original.isRestored && !picture.isUnreadable, .unknown where original.isRestored:
            state = "put back elsewhere"
        case .missing(let own) where own.record.generation == generation:
            state = picture.isUnreadable ? "unreadable" : "missing"
        case .blurred, .original, .edited, .missing, .unknown: state = "older"
        }
    }

}
