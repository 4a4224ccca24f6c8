import SafeFiles
import JobModel
import JobStorage
package import Scheduling
import WorkerProtocol

/// Reads outputs, and tells whether they are as they were published. Changes nothing; a run may go on meanwhile.
package struct Verification {
    /// The outputs that were looked at, in their order; those that a run removed meanwhile are left out.
    package private(set) var outputs: [VerifiedOutput] = []
    /// Why it ended early; then nothing is known of most outputs.
    package private(set) var stop: StopReason?

    private let search: RecordSearch
    private let settings: RunSettings
    private let observer: any RunObserver

    /// How often an output is read that a run replaces again and again.
    private static let mostRounds = 5

    /// - Parameter loop: a new one each time.
    package init(
        _ outputs: [RecordedOutput], _ search: RecordSearch, settings: RunSettings, observer: any RunObserver,
        loop: () -> RunLoop
    ) async throws {
        (self.search, self.settings, self.observer) = (search, settings, observer)
        var (pending, found): ([RecordedOutput], [PathKey: VerifiedOutput]) = (outputs, [:])
        for _ in 0..<Self.mostRounds where !pending.isEmpty && stop == nil {
            let read = await read(pending, loop)
            for output in read { found[PathKey(output.output.record.path)] = output }
            pending = try lookAgain(at: read.filter(\.condition.isDamage), &found)
        }
        self.outputs = outputs.compactMap { found[PathKey($0.record.path)] }
        try await nameSwapped(loop)
    }

    private mutating func read(_ outputs: [RecordedOutput], _ loop: () -> RunLoop) async -> [VerifiedOutput] {
        let places = outputs.map { Self.place(of: $0) }
        let readable = outputs.indices.filter { places[$0] == nil }
        var results = zip(outputs, places).map { VerifiedOutput(output: $0, condition: $1 ?? .missing, found: nil) }
        guard !readable.isEmpty else { return results }
        let batches = ReadingBatches(readable.map { ($0, outputs[$0].record.file.stamp.size) }, settings.workers)
        let failed = await read(batches.places, outputs, &results, loop())
        // One file is to blame, and which one it is shows when each is read by itself.
        guard !failed.isEmpty, stop == nil else { return results }
        _ = await read(failed.map { [$0] }, outputs, &results, loop())
        return results
    }

    /// - Returns: places of batches that failed as a whole.
    private mutating func read(
        _ batches: [[Int]], _ outputs: [RecordedOutput], _ results: inout [VerifiedOutput], _ loop: RunLoop
    ) async -> [Int] {
        let answers = await FileQuery.run(
            .inquiring, count: batches.count, settings: settings, loop: loop, observer: observer
        ) { index in
            let files = batches[index].map { DigestTask.File(path: outputs[$0].record.path) }
            return FrameOrder(
                id: FrameID(index), input: files[0].path, compared: files, formats: [], goal: .comparison)
        }
        stop = answers.stop
        var failed: [Int] = []
        for (index, batch) in batches.enumerated() {
            let facts = answers.facts[FrameID(index)]
            if case .failed(let failure) = answers.outcomes[FrameID(index)] {
                guard batch.count == 1 else {
                    failed += batch
                    continue
                }
                results[batch[0]].condition = .unreadable(failure.message)
            } else if let facts, facts.count == batch.count {
                for (place, found) in zip(batch, facts) { results[place] = Self.verified(outputs[place], found) }
            }
        }
        return failed
    }

    /// What can be said without reading; nil for files and folders.
    private static func place(of output: RecordedOutput) -> OutputCondition? {
        let path = output.record.path
        guard FileSystem.exists(path) else { return .missing }
        return FileSystem.isPlain(path) ? nil : .changed
    }

    /// - Parameter found: nil where nothing was there.
    private static func verified(_ output: RecordedOutput, _ found: FileFacts?) -> VerifiedOutput {
        guard let found else { return VerifiedOutput(output: output, condition: .missing, found: nil) }
        let isFolder = FileSystem.isOwnFolder(output.record.path)
        return VerifiedOutput(
            output: output, condition: OutputCondition(of: output.record.file, found: found, isFolder: isFolder),
            found: found)
    }

    /// A run may have replaced or removed them since their records were read.
    ///
    /// - Returns: those that have to be read again, since they have another record now.
    private func lookAgain(
        at suspects: [VerifiedOutput], _ found: inout [PathKey: VerifiedOutput]
    ) throws -> [RecordedOutput] {
        let known = try search.look(at: suspects.map(\.output.record.path))
        return suspects.compactMap { suspect in
            let key = PathKey(suspect.output.record.path)
            let outputs = known[key] ?? []
            if let same = outputs.first(where: { $0.record.file.digest == suspect.found?.digest }) {
                found[key] = VerifiedOutput(output: same, condition: .asPublished, found: suspect.found)
                return nil
            }
            guard let latest = outputs.first else {
                found[key] = nil
                return nil
            }
            return outputs.contains { $0.record.file.digest == suspect.output.record.file.digest } ? nil : latest
        }
    }

    /// Finds out whose bytes changed outputs have.
    private mutating func nameSwapped(_ loop: () -> RunLoop) async throws {
        let strange = Set(outputs.filter(\.condition.isDamage).compactMap(\.found?.digest))
        guard stop == nil, !strange.isEmpty else { return }
        var owners = try search.paths(of: strange)
        for output in outputs where strange.contains(output.output.record.file.digest) {
            owners[output.output.record.file.digest, default: []].append(output.output.record.path)
        }
        // Of thousands of damaged outputs all may have the same bytes: what these were published as is sorted once.
        let published = owners.mapValues { Set($0.map(PathKey.init)).sorted() }
        let strangers = outputs.indices.filter { outputs[$0].condition.isDamage && outputs[$0].found != nil }
        func others(_ index: Int) -> some Sequence<PathKey> {
            let own = PathKey(outputs[index].output.record.path)
            return (outputs[index].found.flatMap { published[$0.digest] } ?? []).lazy.filter { $0 != own }
        }
        var digests = Dictionary(outputs.map { (PathKey($0.output.record.path), $0.found?.digest) }) { first, _ in first
        }
        // Which of several it was swapped with shows in what they have now.
        let unread = Set(strangers.flatMap { others($0).prefix(Self.mostTwins) }).filter { digests[$0] == nil }
        let candidates = try search.look(at: unread.sorted().prefix(Self.mostOthers).map(\.path)).values
        for other in await read(candidates.compactMap(\.first), loop) {
            digests[PathKey(other.output.record.path)] = .some(other.found?.digest)
        }
        let byContent = published.mapValues { paths in Dictionary(grouping: paths) { digests[$0] ?? nil } }
        for index in strangers {
            let (output, found) = (outputs[index].output.record, outputs[index].found)
            guard let first = others(index).first(where: { _ in true }) else { continue }
            let partners = found.flatMap { byContent[$0.digest]?[output.file.digest] } ?? []
            let partner = partners.first { $0 != PathKey(output.path) }
            outputs[index].condition = partner.map { .swapped(with: $0.path) } ?? .copied(of: first.path)
        }
    }

    /// How many of the outputs with the same bytes are read for one that has them in their place.
    private static let mostTwins = 64
    /// Read in all, beside those that were asked for.
    private static let mostOthers = 1024
}

extension JobSpec {
    /// For questions that no job asks.
    static let inquiring = JobSpec(
        name: "verify", manifestPath: "", folder: "/", inputs: [], chain: [],
        outputs: [JobOutput(template: OutputTemplate(source: "", pieces: []))], maxPixels: .max)
}
