package import Catalogs
package import Coordination
package import InPlace
package import JobModel
package import Planning
import Runs
import SafeFiles
package import Scheduling
import Settings

/// The shared parts of `blur`, `unblur` and `is-blurred`.
package struct InPlaceSession: Sendable {
    package let farm: Farm
    package let originals: Originals
    package let control: RunControl
    package let catalog: Catalog

    package init(_ farm: Farm, control: RunControl) async throws {
        self.farm = farm
        self.control = control
        try RunArchive.refuseUnusable(farm.settings.stateFolder.value)
        originals = Originals(state: farm.settings.stateFolder.value)
        catalog = try await farm.catalogOfFirstWorker()
    }

    package var state: String { farm.settings.stateFolder.value }

    package func loop() -> RunLoop { loop(scratch: nil) }

    /// - Parameter scratch: the folder of canvases and tiles.
    private func loop(scratch: String?) -> RunLoop {
        RunLoop(engine: farm.engine(scratch: scratch), control: control)
    }

    /// - Parameter paths: bytes, because file names need not be UTF-8.
    package func search(_ paths: [[UInt8]], in folder: String) -> PictureSearch {
        PictureSearch(
            paths, in: folder, catalog: catalog, without: originals.root, storeName: Originals.folderName)
    }

    /// Holds the lock of commands that change pictures in place.
    package func locked(_ wait: Double, _ body: () async throws -> RunOutcome) async throws -> RunOutcome {
        guard let lock = try await Originals.lock(state: state, wait: .seconds(wait)) else {
            throw FarmError(
                .busy,
                "another 'penumbra blur' or 'penumbra unblur' is running; --lock-wait TIME, such as 5m, waits for it")
        }
        defer { withExtendedLifetime(lock) {} }
        await Blocking.run { [state] in RunFolder.sweep(state: state) }
        return try await body()
    }

    /// Pictures of folders with originals are included, even if their names are not those of pictures.
    package func withKept(
        _ search: PictureSearch, _ skipped: PictureSearch.SkippedFiles
    ) async -> [RequestedPicture] {
        await Blocking.run { allKept(search, skipped) }
    }

    private func allKept(_ search: PictureSearch, _ skipped: PictureSearch.SkippedFiles) -> [RequestedPicture] {
        let found = search.pictures.map { RequestedPicture($0) }
        var known = Set(found.map(\.picture.exactPath))
        let remembered = search.folders.isEmpty ? [] : originals.pictures(andIn: []).known
        let kept = (remembered + moved(search, apartFrom: remembered)).filter { search.holds($0) }
        func more(_ pictures: [InputFile]) -> [RequestedPicture] {
            pictures.filter { known.insert($0.exactPath).inserted }.map {
                let folder = InputFile(path: PathText.folder(of: $0.path), dir: "")
                return RequestedPicture($0, isNamed: false, folder: FileStamp(of: folder)?.identity)
            }
        }
        // These may be copies of pictures that were blurred under other names.
        let unnamed = more((skipped.unnamed + skipped.hidden.flatMap(\.pictures)).filter { isKept($0) })
        return unnamed + found.filter { $0.isNamed || isKept($0.picture) } + more(kept)
    }

    /// Pictures of folders that are not remembered, because they were moved. Their originals are found where they are now. Another
    /// user's store may name any picture, so its records do not count.
    private func moved(_ search: PictureSearch, apartFrom remembered: [InputFile]) -> [InputFile] {
        guard !search.storeFolders.isEmpty else { return [] }
        let known = Set(remembered.map(\.exactPath))
        return originals.pictures(andIn: search.storeFolders).known.filter {
            !known.contains($0.exactPath) && originals.hasTrustedOriginal($0)
        }
    }

    private func isKept(_ picture: InputFile) -> Bool {
        !originals.all(of: picture).isNothing || originals.mayBeElsewhere(picture)
    }

    /// Finds blurred pictures among the skipped ones, and removes them from the list.
    package func takeBlurred(
        from skipped: inout PictureSearch.SkippedFiles
    ) async throws -> (blurred: [InspectedPicture], stop: StopReason?) {
        var seen: Set<[UInt8]> = []
        let found = skipped.unnamed + skipped.hidden.flatMap(\.pictures) + skipped.links.map(\.target)
        let pictures = found.filter { seen.insert($0.exactPath).inserted }
        let (inspected, stop) = try await InspectedPicture.inspect(
            at: pictures, originals, readsOriginals: false, settings: farm.runSettings, loop: loop)
        let blurred = inspected.filter(\.isBlurred)
        let paths = Set(blurred.map(\.picture.exactPath))
        skipped.unnamed.removeAll { paths.contains($0.exactPath) }
        for index in skipped.hidden.indices {
            skipped.hidden[index].pictures.removeAll { paths.contains($0.exactPath) }
        }
        skipped.hidden.removeAll { $0.pictures.isEmpty && $0.isWhole }
        skipped.links.removeAll { paths.contains($0.target.exactPath) }
        return (blurred, stop)
    }

    /// Blurs pictures, and keeps their originals.
    ///
    /// - Parameters:
    ///   - chain: the filters of `job` as the user wrote them.
    ///   - areSame: whether a stored text describes the filters of `job`.
    ///   - ended: gets the results, some pictures at a time.
    /// - Returns: why it stopped early; nil if it did not.
    package func blur(
        _ pictures: [RequestedPicture], by job: JobSpec, chain: String,
        areSame: @escaping @Sendable (String) -> Bool, keeping location: OriginalLocation, isForced: Bool,
        observer: any RunObserver, ended: ([InPlaceResult]) -> Void
    ) async throws -> StopReason? {
        let directory = try await Blocking.run { [state, scratch = farm.settings.scratch.value] () throws(FileError) in
            try RunClaim(state: state, name: RunName.new().text, scratch: scratch)
        }
        let stop: Result<StopReason?, any Error>
        do {
            stop = .success(
                try await Blurring.blur(
                    pictures, by: job, filters: chain, areSame: areSame, keeping: location, isForced: isForced,
                    catalog: catalog, originals: originals, directory: directory, settings: farm.runSettings,
                    time: Int(currentTime() / 1_000_000_000), observer: observer,
                    loop: { loop(scratch: directory.scratch) }, ended: ended))
        } catch {
            stop = .failure(error)
        }
        await Blocking.run { directory.remove() }
        return try stop.get()
    }

    /// Puts the originals of pictures back.
    ///
    /// - Returns: why it stopped early; nil if it did not.
    package func unblur(
        _ pictures: [RequestedPicture], isForced: Bool, ended: ([InPlaceResult]) -> Void
    ) async throws -> StopReason? {
        try await Unblurring.unblur(
            pictures, originals, isForced: isForced, settings: farm.runSettings, loop: loop, ended: ended)
    }
}

extension InPlaceResult.Outcome {
    /// The outcome of a command with this result.
    package var runOutcome: RunOutcome {
        switch self {
        case .blurred, .alreadyBlurred, .unblurred, .notBlurred, .left: .done
        // The user must notice pictures that are still sharp, or blurred with other filters.
        case .blurredOtherwise, .edited, .refused, .skipped, .removed: .someFailed
        case .gone: .missingInput
        case .busy: .busy
        case .unfit: .storage
        }
    }
}
