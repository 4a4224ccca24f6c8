import Catalogs
import Coordination
import Glibc
import InPlace
import JobModel
import Planning
import RenderFarm
import Reports
import Runs
import Scheduling
import Settings

/// What commands that change pictures in place have in common.
struct InPlaceSession {
    let installation: Farm
    let originals: Originals
    let reporting: ConsoleReporter
    let signals = Signals()
    let catalog: Catalog

    var state: String { installation.settings.stateFolder.value }

    init(_ place: LocationOptions, _ reporting: ConsoleReporter) async throws {
        installation = Farm(try Settings.load(place))
        originals = Originals(state: installation.settings.stateFolder.value)
        self.reporting = reporting
        catalog = try await installation.introducedCatalog()
    }

    func loop() -> RunLoop { RunLoop(engine: installation.engine(), control: signals.control) }

    func search(_ paths: [String]) -> PictureSearch {
        let search = PictureSearch(
            paths.map(RawArguments.bytes), in: currentFolder(), catalog: catalog, without: originals.root)
        for problem in search.problems { reporting.complain(problem) }
        return search
    }

    /// Keeps other commands away that change pictures in place.
    func locked(_ wait: Double, _ body: () async throws -> RunOutcome) async throws -> RunOutcome {
        guard let lock = try await Originals.lock(state: state, wait: .seconds(wait)) else {
            throw FarmError(
                .busy,
                "another 'penumbra blur' or 'penumbra unblur' is going on; --lock-wait TIME, such as 5m, waits for it")
        }
        defer { withExtendedLifetime(lock) {} }
        RunFolder.sweep(state: state)
        return try await body()
    }

    /// Those of folders of which something is kept, too: their names may not be those of pictures.
    func withKept(_ search: PictureSearch, _ passedBy: PictureSearch.SkippedFiles) -> [RequestedPicture] {
        let found = search.pictures.map { RequestedPicture($0) }
        var known = Set(found.map(\.picture.exactPath))
        let kept = search.folders.isEmpty ? [] : originals.pictures(andIn: []).known.filter { search.holds($0) }
        func more(_ pictures: [InputFile]) -> [RequestedPicture] {
            pictures.filter { known.insert($0.exactPath).inserted }.map {
                let folder = InputFile(path: PathText.folder(of: $0.path), dir: "")
                return RequestedPicture($0, isNamed: false, folder: FileStamp(of: folder)?.identity)
            }
        }
        // They may be copies, for which no original is kept that was put back under its own name.
        let unnamed = more((passedBy.unnamed + passedBy.hidden.flatMap(\.pictures)).filter { isKept($0) })
        return unnamed + found.filter { $0.isNamed || isKept($0.picture) } + more(kept)
    }

    private func isKept(_ picture: InputFile) -> Bool {
        !originals.all(of: picture).isNothing || originals.mayBeElsewhere(picture)
    }

    /// Finds the blurred ones among the pictures that a search passed by, and takes them off its list.
    func takeBlurred(
        from passedBy: inout PictureSearch.SkippedFiles
    ) async throws -> (blurred: [InspectedPicture], stop: StopReason?) {
        var seen: Set<[UInt8]> = []
        let found = passedBy.unnamed + passedBy.hidden.flatMap(\.pictures) + passedBy.links.map(\.target)
        let pictures = found.filter { seen.insert($0.exactPath).inserted }
        let (looked, stop) = try await InspectedPicture.inspect(
            at: pictures, originals, readsOriginals: false, settings: installation.runSettings, loop: loop)
        let blurred = looked.filter(\.isBlurred)
        let paths = Set(blurred.map(\.picture.exactPath))
        passedBy.unnamed.removeAll { paths.contains($0.exactPath) }
        for place in passedBy.hidden.indices {
            passedBy.hidden[place].pictures.removeAll { paths.contains($0.exactPath) }
        }
        passedBy.hidden.removeAll { $0.pictures.isEmpty && $0.isWhole }
        passedBy.links.removeAll { paths.contains($0.target.exactPath) }
        return (blurred, stop)
    }

    /// Lists what of the folders is as sharp as before, or may be. It is told where silence is asked for, too.
    ///
    /// - Parameter all: what names those that are not listed.
    func tell(_ passedBy: PictureSearch.SkippedFiles, all: String) {
        func list(_ files: [InputFile], _ one: String, _ several: String, reasons: [String]? = nil) {
            guard !files.isEmpty else { return }
            reporting.complain(
                "\(Figures.count(files.count)) \(files.count == 1 ? one : several)", files.map(\.path),
                reasons: reasons, all: all)
        }
        list(
            passedBy.links.map(\.link),
            "link to pictures elsewhere was not followed, and what they lead to was not blurred",
            "links to pictures elsewhere were not followed, and what they lead to was not blurred")
        list(
            passedBy.folderLinks, "link to a folder elsewhere was not followed, and no picture in it was blurred",
            "links to folders elsewhere were not followed, and no picture in them was blurred")
        list(
            passedBy.unnamed, "picture is hidden or has no picture's name, and was not blurred",
            "pictures are hidden or have no picture's name, and were not blurred")
        list(
            passedBy.hidden.map(\.folder), "hidden folder was passed by, and the pictures in it were not blurred",
            "hidden folders were passed by, and the pictures in them were not blurred",
            reasons: passedBy.hidden.map(Self.words))
        list(
            passedBy.unread, "picture or film is in a format that Penumbra does not read, and was not blurred",
            "pictures or films are in formats that Penumbra does not read, and were not blurred")
    }

    private static func words(_ hidden: PictureSearch.SkippedFiles.Hidden) -> String {
        let pictures = Figures.plural(hidden.pictures.count, "picture")
        return hidden.isWhole ? pictures : "\(pictures) found, and not all of it could be looked into"
    }

    /// - Returns: how a command ends that was stopped.
    func tell(_ stop: StopReason?, left: Int) -> RunOutcome {
        guard let stop else { return .done }
        var summary = RunSummary()
        summary.stop = stop
        reporting.complain(StopWords.describe(stop, left: left))
        return RunOutcome(summary)
    }
}
