package import Catalogs
package import Coordination
package import JobModel
import Planning
package import Runs
import SafeFiles
package import Scheduling
import WorkerProtocol

/// Renders pictures in place: the command `blur`.
package struct Blurring: Sendable {
    /// The job whose chain is rendered.
    let job: JobSpec
    /// The chain as it is on a command line.
    let filters: String
    /// Whether a record's filters are the same as the job's.
    let areSame: @Sendable (_ filters: String) -> Bool
    let location: OriginalLocation
    /// Whether pictures that were edited after they were blurred are blurred again.
    let isForced: Bool
    let catalog: Catalog
    let originals: Originals
    /// The run's folder, which has the scratch folder.
    let directory: RunClaim
    let settings: RunSettings
    let time: Int
    let observer: any RunObserver
    /// The number of pictures in earlier parts.
    let done: Int
    /// The number of pictures in all parts.
    let total: Int
    /// Makes a new run loop.
    let loop: @Sendable () -> RunLoop

    /// How many pictures are handled together. Their folders are locked together.
    private static let partSize = 64

    /// - Parameters:
    ///   - areSame: whether a record's filters, as on a command line, are the same as the job's.
    ///   - time: in seconds since 1970.
    ///   - ended: receives the results of some pictures at a time, in their order.
    package static func blur(
        _ pictures: [RequestedPicture], by job: JobSpec, filters: String,
        areSame: @escaping @Sendable (_ filters: String) -> Bool, keeping location: OriginalLocation, isForced: Bool,
        catalog: Catalog, originals: Originals, directory: RunClaim, settings: RunSettings, time: Int,
        observer: any RunObserver, loop: @escaping @Sendable () -> RunLoop, ended: ([InPlaceResult]) -> Void
    ) async throws -> StopReason? {
        for start in stride(from: 0, to: pictures.count, by: partSize) {
            let blurring = Blurring(
                job: job, filters: filters, areSame: areSame, location: location, isForced: isForced, catalog: catalog,
                originals: originals, directory: directory, settings: settings, time: time,
                observer: observer, done: start, total: pictures.count, loop: loop)
            let part = Array(pictures[start..<min(start + partSize, pictures.count)])
            let (results, stop) = try await blurring.blur(part)
            ended(results)
            if let stop {
                ended(pictures[(start + part.count)...].map { InPlaceResult($0.picture, .left) })
                return stop
            }
        }
        return nil
    }

    /// A picture that may be rendered.
    private struct Candidate {
        let index: Int
        let wanted: RequestedPicture
        let folder: PictureFolder
        let found: PictureFolder.Found
        let generation: Int
        let older: [StoredOriginal]
    }

    private func blur(_ pictures: [RequestedPicture]) async throws -> ([InPlaceResult], StopReason?) {
        var folders = OpenFolders(of: pictures.map(\.picture))
        originals.open(in: &folders)
        var outcomes: [Int: InPlaceResult.Outcome] = [:]
        let before = pictures.map { folders.inspect(at: $0.picture) }
        let (inspected, inspectionStop) = try await InspectedPicture.inspect(
            at: pictures.map(\.picture), in: folders, originals, readsOriginals: false, settings: settings, loop: loop)
        var candidates: [Candidate] = []
        for (index, picture) in inspected.enumerated() where inspectionStop == nil {
            do {
                candidates.append(try candidate(index, pictures[index], picture, before[index], folders))
            } catch {
                outcomes[index] = error.outcome
            }
        }
        var conversions: [Int: Set<InPlaceConversion>] = [:]
        let (formats, probeStop) = await probe(candidates, &outcomes, &conversions)
        var (items, indexes): ([InPlaceRendering.Item], [Int]) = ([], [])
        for (candidate, format) in zip(candidates, formats) {
            guard let format else { continue }
            do {
                items.append(try item(candidate, format))
                indexes.append(candidate.index)
            } catch {
                outcomes[candidate.index] = error.outcome
            }
        }
        var stop = inspectionStop ?? probeStop
        if stop == nil, !items.isEmpty {
            let (rendered, reason) = await InPlaceRendering.run(items, self)
            for (index, outcome) in zip(indexes, rendered) { outcomes[index] = outcome }
            stop = reason
        }
        originals.removeUnneeded(in: folders)
        withExtendedLifetime(folders) {}
        let results = pictures.enumerated().map { index, wanted in
            InPlaceResult(wanted.picture, outcomes[index] ?? .left, conversions: conversions[index] ?? [])
        }
        return (results, stop)
    }

    /// - Parameter before: what was at the path before the picture was read.
    private func candidate(
        _ index: Int, _ wanted: RequestedPicture, _ inspected: InspectedPicture, _ before: PictureFolder.Found?,
        _ folders: OpenFolders
    ) throws(InPlaceError) -> Candidate {
        guard let folder = try folders.folder(of: wanted) else {
            throw InPlaceError(outcome: .gone(inspected.originals.first))
        }
        var older = inspected.trusted
        if let distrust = inspected.distrust { throw InPlaceError.refused(distrust.message) }
        if !inspected.originals.isEmpty { folder.removeLeftovers() }
        switch inspected.condition {
        case _ where inspected.isUnreadable: throw InPlaceError.refused("cannot be read")
        case .blurred(let original) where inspected.isUntrusted:
            guard isForced else {
                throw .refused(
                    "a record of another user says that it is blurred (\(original.record.filters)), but that record is not trusted; "
                        + "--force blurs it as it is now")
            }
        case .blurred(let original):
            let isSame = original.record.filters == filters || areSame(original.record.filters)
            throw InPlaceError(outcome: isSame ? .alreadyBlurred(original) : .blurredOtherwise(original))
        case .edited(let original) where !isForced: throw InPlaceError(outcome: .edited(original))
        case .original where inspected.isUntrusted: break
        case .original(let original):
            // The original itself is at the path, so its old record is not needed.
            guard before != nil, before == folder.inspect(at: wanted.picture) else { throw .changed }
            try InPlaceError.on { () throws(FileError) in try original.store.remove(original.file) }
            older.removeAll { $0.file == original.file }
        case .unknown, .edited, .missing: break
        }
        guard let found = folder.inspect(at: wanted.picture) else {
            throw InPlaceError(outcome: .gone(inspected.originals.first))
        }
        guard found.isFile else { throw InPlaceError.refused("is not a file") }
        guard found.links == 1 else {
            throw .refused(
                "is one file with \(found.links) names (hard links), and the others would still show the original; "
                    + "blur a copy of it")
        }
        try InPlaceError.on { () throws(FileError) in try folder.refuseReadOnly() }
        let latest = older.first?.record.generation ?? 0
        guard latest < KeptOriginal.latestGeneration else {
            throw .refused("its latest original has the highest number that there is, \(latest); unblur it first")
        }
        return Candidate(
            index: index, wanted: wanted, folder: folder, found: found, generation: latest + 1, older: older)
    }

    /// Reads the headers of the candidates.
    ///
    /// - Parameter conversions: receives the conversions by the candidates' indexes.
    /// - Returns: their formats; nil for pictures that cannot be written in their own format.
    private func probe(
        _ candidates: [Candidate], _ outcomes: inout [Int: InPlaceResult.Outcome],
        _ conversions: inout [Int: Set<InPlaceConversion>]
    ) async -> ([FormatDescriptor?], StopReason?) {
        guard !candidates.isEmpty else { return ([], nil) }
        let pictures = candidates.map(\.wanted.picture)
        let answers = await FileQuery.run(
            FileQuery.withoutFilters(job), count: pictures.count, settings: settings, loop: loop()
        ) { index in
            FrameOrder(
                id: FrameID(index), input: pictures[index].path, inputBytes: pictures[index].bytes, pages: .animation,
                formats: ["png"], goal: .survey)
        }
        let formats = candidates.enumerated().map { index, candidate -> FormatDescriptor? in
            switch answers.outcomes[FrameID(index)] {
            case .surveyed(let probe):
                conversions[candidate.index] = InPlaceFormat.conversions(of: probe)
                do throws(InPlaceFormat.FormatError) {
                    return try InPlaceFormat.format(of: probe, catalog)
                } catch {
                    outcomes[candidate.index] =
                        candidate.wanted.isNamed ? .refused(reason: error.reason) : .skipped(reason: error.reason)
                }
            case .failed(let failure): outcomes[candidate.index] = .refused(reason: failure.message)
            case .published, .left, .settled, nil: break
            }
            return nil
        }
        return (formats, answers.stop)
    }

    private func item(
        _ candidate: Candidate, _ format: FormatDescriptor
    ) throws(InPlaceError) -> InPlaceRendering.Item {
        let picture = candidate.wanted.picture
        return try InPlaceError.on { () throws(FileError) in
            let (store, key) = try originals.prepareStore(for: picture, location, owner: candidate.found.user)
            let (copy, attributes) = try store.copy(candidate.index) { (folder, name) throws(FileError) in
                try candidate.folder.copy(picture, to: folder, as: name)
            }
            return InPlaceRendering.Item(
                picture: picture, folder: candidate.folder, store: store, key: key, copy: copy,
                attributes: attributes, found: candidate.found, generation: candidate.generation,
                format: format.name, save: InPlaceFormat.options(of: format), older: candidate.older)
        }
    }
}

/// Chooses the format and the options for a picture that replaces itself: its own format.
enum InPlaceFormat {
    /// Why a picture cannot be written in its own format.
    struct FormatError: Error, Hashable {
        let reason: String
    }

    static func format(of probe: ProbeReceipt, _ catalog: Catalog) throws(FormatError) -> FormatDescriptor {
        let name = probe.source.fileFormat
        guard let format = catalog.formats.first(where: { $0.name == name }), format.canWrite, !format.isFolder else {
            throw FormatError(
                reason: "Penumbra reads \(name), but does not write it; 'penumbra apply' writes another format")
        }
        guard probe.pages == 1 || format.holdsAnimation else {
            throw FormatError(reason: "has \(probe.pages) pages, and only the first would be left")
        }
        guard format.sampleFormats.contains(probe.source.format) else {
            throw FormatError(
                reason: "has samples of a kind (\(probe.source.format)) that Penumbra does not write as \(name)")
        }
        return format
    }

    /// What changes in kind when the picture is written.
    static func conversions(of probe: ProbeReceipt) -> Set<InPlaceConversion> {
        var found = Set((probe.losses ?? []).map(InPlaceConversion.init))
        if probe.source.fileFormat == "ppm", [.gray, .grayAlpha].contains(probe.source.layout) {
            found.insert(.grayMap)
        }
        return found
    }

    /// The options of a format. Quality is two thirds of the way from the default to the best, because the
    /// result must not look worse than the filters make it.
    static func options(of format: FormatDescriptor) -> SaveOptions {
        var values: [String: ParameterValue] = [:]
        for option in format.options { values[option.name] = option.fallback }
        if !format.isLossless, let quality = format.options.first(where: { $0.name == "quality" }),
            case .integer(_, let best) = quality.kind, case .integer(let usual) = quality.fallback
        {
            values["quality"] = .integer(usual + (best - usual) * 2 / 3)
        }
        return SaveOptions(values: values)
    }
}

extension InPlaceConversion {
    fileprivate init(_ loss: DecodingLoss) {
        self =
            switch loss {
            case .cmyk: .cmyk
            case .lab: .lab
            case .doubles: .doubles
            case .furtherPictures: .furtherPictures
            }
    }
}
