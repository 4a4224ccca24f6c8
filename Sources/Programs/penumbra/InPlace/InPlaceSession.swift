import Catalogs
import Coordination
import Glibc
import JobModel
import Planning
import Scheduling
import Settings

/// What commands that change pictures in place have in common.
struct InPlaceSession {
    let installation: Installation
    let originals: Originals
    let reporting: Reporting
    let signals = Signals()
    let catalog: Catalog

    var state: String { installation.settings.stateFolder.value }

    init(_ place: PlaceOptions, _ reporting: Reporting) async throws {
        installation = Installation(try Settings.load(place))
        originals = Originals(state: installation.settings.stateFolder.value)
        self.reporting = reporting
        catalog = try await installation.introducedCatalog()
    }

    func loop() -> RunLoop { RunLoop(engine: installation.engine(), signals: signals.stream) }

    func search(_ paths: [String]) -> PictureSearch {
        let search = PictureSearch(paths.map(RawArguments.bytes), in: currentFolder(), catalog: catalog)
        for problem in search.problems { reporting.complain(problem) }
        return search
    }

    /// Keeps other commands away that change pictures in place.
    func locked(_ wait: Double, _ body: () async throws -> ExitStatus) async throws -> ExitStatus {
        guard let lock = try await Originals.lock(state: state, wait: .seconds(wait)) else {
            throw CommandError(
                .busy,
                "another 'penumbra blur' or 'penumbra unblur' is going on; --lock-wait TIME, such as 5m, waits for it")
        }
        defer { withExtendedLifetime(lock) {} }
        RunDirectory.sweep(state: state)
        return try await body()
    }

    /// Those of folders of which something is kept, too: their names may not be those of pictures.
    func withKept(_ search: PictureSearch) -> [WantedPicture] {
        let found = search.pictures.map { WantedPicture($0) }
        let known = Set(found.map(\.picture.exactPath))
        let kept = search.folders.isEmpty ? [] : originals.pictures(andIn: []).known
        return found.filter {
            $0.isNamed || !originals.all(of: $0.picture).isNothing || originals.mayBeElsewhere($0.picture)
        }
            + kept.filter { search.holds($0) && !known.contains($0.exactPath) }.map {
                let folder = InputFile(path: PathText.folder(of: $0.path), dir: "")
                return WantedPicture($0, isNamed: false, folder: FileStamp(of: folder)?.identity)
            }
    }

    /// - Returns: how a command ends that was stopped.
    func tell(_ stop: StopReason?, left: Int) -> ExitStatus {
        guard let stop else { return .done }
        var summary = RunSummary()
        summary.stop = stop
        reporting.complain(SummaryText.describe(stop, left: left))
        return ExitStatus(summary)
    }
}
