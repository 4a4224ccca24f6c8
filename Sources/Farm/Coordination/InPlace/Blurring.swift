package import Catalogs
package import JobModel
import Planning
package import Runs
import SafeFiles
package import Scheduling
import WorkerProtocol

/// Renders pictures in place.
package struct Blurring: Sendable {
    /// Whose chain is rendered.
    let job: JobSpec
    /// The chain, as a command line has it.
    let filters: String
    /// Whether the filters of a record, as a command line has them, are these.
    let areSame: @Sendable (_ filters: String) -> Bool
    let place: OriginalPlace
    /// Whether pictures that were edited since they were blurred are blurred as they are now.
    let isForced: Bool
    let catalog: Catalog
    let originals: Originals
    /// Has the scratch folder.
    let directory: RunClaim
    let settings: RunSettings
    let time: Int
    let progress: InPlaceProgress
    /// A new one each time.
    let loop: @Sendable () -> RunLoop

    /// How many pictures are looked at together: their copies wait for their originals' records, their folders are locked.
    private static let partSize = 64

    /// - Parameters:
    ///   - areSame: whether the filters of a record, as a command line has them, are the job's.
    ///   - time: in seconds since 1970.
    ///   - ended: is told what became of pictures, some at a time, in their order.
    package static func blur(
        _ pictures: [RequestedPicture], by job: JobSpec, filters: String,
        areSame: @escaping @Sendable (_ filters: String) -> Bool, keeping place: OriginalPlace, isForced: Bool,
        catalog: Catalog, originals: Originals, directory: RunClaim, settings: RunSettings, time: Int,
        observer: any RunObserver, loop: @escaping @Sendable () -> RunLoop, ended: ([InPlaceResult]) -> Void
    ) async throws -> StopReason? {
        for start in stride(from: 0, to: pictures.count, by: partSize) {
            let blurring = Blurring(
                job: job, filters: filters, areSame: areSame, place: place, isForced: isForced, catalog: catalog,
                originals: originals, directory: directory, settings: settings, time: time,
                progress: InPlaceProgress(observer: observer, total: pictures.count, done: start), loop: loop)
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

    /// A picture that will be rendered, if nothing about it forbids that.
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
        let before = pictures.map { folders.look(at: $0.picture) }
        let (looked, unlooked) = try await InspectedPicture.look(
            at: pictures.map(\.picture), in: folders, originals, readsOriginals: false, settings: settings, loop: loop)
        var candidates: [Candidate] = []
        for (index, picture) in looked.enumerated() where unlooked == nil {
            do {
                candidates.append(try candidate(index, pictures[index], picture, before[index], folders))
            } catch {
                outcomes[index] = error.outcome
            }
        }
        var conversions: [Int: Set<InPlaceConversion>] = [:]
        let (formats, unsurveyed) = await survey(candidates, &outcomes, &conversions)
        var (items, places): ([InPlaceRendering.Item], [Int]) = ([], [])
        for (candidate, format) in zip(candidates, formats) {
            guard let format else { continue }
            do {
                items.append(try item(candidate, format))
                places.append(candidate.index)
            } catch {
                outcomes[candidate.index] = error.outcome
            }
        }
        var stop = unlooked ?? unsurveyed
        if stop == nil, !items.isEmpty {
            let (rendered, reason) = await InPlaceRendering.run(items, self)
            for (place, outcome) in zip(places, rendered) { outcomes[place] = outcome }
            stop = reason
        }
        originals.removeUnneeded(in: folders)
        withExtendedLifetime(folders) {}
        let results = pictures.enumerated().map { place, wanted in
            InPlaceResult(wanted.picture, outcomes[place] ?? .left, conversions: conversions[place] ?? [])
        }
        return (results, stop)
    }

    /// - Parameter before: what was there before it was read.
    private func candidate(
        _ index: Int, _ wanted: RequestedPicture, _ looked: InspectedPicture, _ before: PictureFolder.Found?,
        _ folders: OpenFolders
    ) throws(InPlaceTrouble) -> Candidate {
        guard let folder = try folders.folder(of: wanted) else {
            throw InPlaceTrouble(outcome: .gone(looked.originals.first))
        }
        var older = looked.trusted
        if let odd = looked.odd { throw InPlaceTrouble.refused(odd.message) }
        if !looked.originals.isEmpty { folder.removeLeftovers() }
        switch looked.condition {
        case _ where looked.isUnreadable: throw InPlaceTrouble.refused("cannot be read")
        case .blurred(let original) where looked.isStrange:
            guard isForced else {
                throw .refused(
                    "a record of another user says that it is blurred (\(original.record.filters)), and is not believed; "
                        + "--force blurs it as it is now")
            }
        case .blurred(let original):
            let isSame = original.record.filters == filters || areSame(original.record.filters)
            throw InPlaceTrouble(outcome: isSame ? .alreadyBlurred(original) : .blurredOtherwise(original))
        case .edited(let original) where !isForced: throw InPlaceTrouble(outcome: .edited(original))
        case .original where looked.isStrange: break
        case .original(let original):
            // It is there itself, whatever will be made of it now.
            guard before != nil, before == folder.look(at: wanted.picture) else { throw .changed }
            try InPlaceTrouble.on { () throws(FileTrouble) in try original.store.remove(original.file) }
            older.removeAll { $0.file == original.file }
        case .unknown, .edited, .missing: break
        }
        guard let found = folder.look(at: wanted.picture) else {
            throw InPlaceTrouble(outcome: .gone(looked.originals.first))
        }
        guard found.isFile else { throw InPlaceTrouble.refused("is not a file") }
        guard found.links == 1 else {
            throw .refused(
                "is one file with \(found.links) names (hard links), of which the others would go on showing the original; "
                    + "blur a copy of it")
        }
        try InPlaceTrouble.on { () throws(FileTrouble) in try folder.refuseReadOnly() }
        let latest = older.first?.record.generation ?? 0
        guard latest < KeptOriginal.latestGeneration else {
            throw .refused("its latest original has the highest number that there is, \(latest); unblur it first")
        }
        return Candidate(
            index: index, wanted: wanted, folder: folder, found: found, generation: latest + 1, older: older)
    }

    /// Reads the candidates' headers.
    ///
    /// - Parameter conversions: gets the places of those of which something of another kind will be made.
    /// - Returns: their formats; nil for those that cannot be written as what they are.
    private func survey(
        _ candidates: [Candidate], _ outcomes: inout [Int: InPlaceResult.Outcome],
        _ conversions: inout [Int: Set<InPlaceConversion>]
    ) async -> ([FormatDescriptor?], StopReason?) {
        guard !candidates.isEmpty else { return ([], nil) }
        let pictures = candidates.map(\.wanted.picture)
        var plain = job
        plain.chain = []
        plain.outputs = [JobOutput(template: OutputTemplate(source: "", pieces: []))]
        let answers = await FileQuery.run(plain, count: pictures.count, settings: settings, loop: loop()) { place in
            FrameOrder(
                id: FrameID(place), input: pictures[place].path, inputBytes: pictures[place].bytes, pages: .animation,
                formats: ["png"], goal: .survey)
        }
        let formats = candidates.enumerated().map { place, candidate -> FormatDescriptor? in
            switch answers.outcomes[FrameID(place)] {
            case .surveyed(let probe):
                conversions[candidate.index] = InPlaceFormat.conversions(of: probe)
                do throws(InPlaceFormat.Refusal) {
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
    ) throws(InPlaceTrouble) -> InPlaceRendering.Item {
        let picture = candidate.wanted.picture
        return try InPlaceTrouble.on { () throws(FileTrouble) in
            let (store, key) = try originals.place(of: picture, place, owner: candidate.found.user)
            let (copy, attributes) = try store.copy(candidate.index) { (folder, name) throws(FileTrouble) in
                try candidate.folder.copy(picture, to: folder, as: name)
            }
            return InPlaceRendering.Item(
                picture: picture, folder: candidate.folder, store: store, key: key, copy: copy,
                attributes: attributes, found: candidate.found, generation: candidate.generation,
                format: format.name, save: InPlaceFormat.options(of: format), older: candidate.older)
        }
    }
}
