package import JobModel
import JobStorage
import SafeFiles
package import Scheduling
import WorkerProtocol

/// Reads outputs and checks whether they are as they were published. Changes nothing. A run may go on
/// meanwhile.
package struct Verification {
    /// The checked outputs in their order. Outputs that a run removed meanwhile are left out.
    package private(set) var outputs: [VerifiedOutput] = []
    /// Why the verification ended early. Then most outputs were not checked.
    package private(set) var stop: StopReason?

    private let search: RecordSearch
    private let settings: RunSettings
    private let observer: any RunObserver

    /// How many times an output is read if a run replaces it again and again.
    private static let mostRounds = 5

    /// - Parameter loop: makes a new run loop.
    package init(
        _ outputs: [RecordedOutput], _ search: RecordSearch, settings: RunSettings, observer: any RunObserver,
        loop: () -> RunLoop
    ) async throws {
        (self.search, self.settings, self.observer) = (search, settings, observer)
        var (pending, found): ([RecordedOutput], [PathKey: VerifiedOutput]) = (outputs, [:])
        for _ in 0..<Self.mostRounds where !pending.isEmpty && stop == nil {
            let read = await read(pending, loop)
            for output in read { found[PathKey(output.output.record.path)] = output }
            pending = try inspectAgain(read.filter(\.condition.isDamage), &found)
        }
        self.outputs = outputs.compactMap { found[PathKey($0.record.path)] }
        try await nameSwapped(loop)
    }

    private mutating func read(_ outputs: [RecordedOutput], _ loop: () -> RunLoop) async -> [VerifiedOutput] {
        let conditions = outputs.map { Self.condition(of: $0) }
        let readable = outputs.indices.filter { conditions[$0] == nil }
        var results = zip(outputs, conditions).map { VerifiedOutput(output: $0, condition: $1 ?? .missing, found: nil) }
        guard !readable.isEmpty else { return results }
        let batches = ReadingBatches(readable.map { ($0, outputs[$0].record.file.stamp.size) }, settings.workers)
        let failed = await read(batches.indexes, outputs, &results, loop())
        // One file of the batch failed. Each is read alone to find out which one.
        guard !failed.isEmpty, stop == nil else { return results }
        _ = await read(failed.map { [$0] }, outputs, &results, loop())
        return results
    }

    /// - Returns: the indexes of the outputs in failed batches.
    private mutating func read(
        _ batches: [[Int]], _ outputs: [RecordedOutput], _ results: inout [VerifiedOutput], _ loop: RunLoop
    ) async -> [Int] {
        let answers = await FileQuery.run(
            FileQuery.job, count: batches.count, settings: settings, loop: loop, observer: observer
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
                for (index, found) in zip(batch, facts) { results[index] = Self.verified(outputs[index], found) }
            }
        }
        return failed
    }

    /// The condition of an output that need not be read; nil for files and folders.
    private static func condition(of output: RecordedOutput) -> OutputCondition? {
        let path = output.record.path
        guard FileSystem.exists(path) else { return .missing }
        return FileSystem.isPlain(path) ? nil : .changed
    }

    /// - Parameter found: nil if there was no file.
    private static func verified(_ output: RecordedOutput, _ found: FileFacts?) -> VerifiedOutput {
        guard let found else { return VerifiedOutput(output: output, condition: .missing, found: nil) }
        let path = output.record.path
        let isFolder = FileSystem.isOwnFolder(path)
        var condition = OutputCondition(of: output.record.file, found: found, isFolder: isFolder)
        if isFolder, condition.isDamage {
            let files = FileSystem.files(below: path)
            if files.isEmpty {
                condition = .missing
            } else if !FolderOutput(at: path).holds(any: files) {
                condition = .unreadable("a folder of something else is in its place; move the folder away")
            }
        }
        return VerifiedOutput(output: output, condition: condition, found: found)
    }

    /// Looks up damaged outputs again, because a run may have replaced or removed them since their records were
    /// read.
    ///
    /// - Returns: the outputs that have a new record and have to be read again.
    private func inspectAgain(
        _ suspects: [VerifiedOutput], _ found: inout [PathKey: VerifiedOutput]
    ) throws -> [RecordedOutput] {
        let known = try search.records(at: suspects.map(\.output.record.path))
        return try suspects.compactMap { suspect in
            let key = PathKey(suspect.output.record.path)
            let all = known[key] ?? []
            let outputs = all.filter(suspect.output.mayBe)
            if let same = outputs.first(where: { $0.record.file.digest == suspect.found?.digest }) {
                found[key] = VerifiedOutput(output: same, condition: .asPublished, found: suspect.found)
                return nil
            }
            let other = try all.first { $0.record.file.digest == suspect.found?.digest } ?? replacement(of: suspect)
            if let other {
                found[key] = VerifiedOutput(
                    output: suspect.output, condition: .replaced(by: other.job, of: other.manifest),
                    found: suspect.found)
                return nil
            }
            guard var latest = outputs.first else {
                // A run has removed it, unless the search knows only another job's output here.
                if all.isEmpty { found[key] = nil }
                return nil
            }
            latest.isOfJob = suspect.output.isOfJob
            return outputs.contains { $0.record.file.digest == suspect.output.record.file.digest } ? nil : latest
        }
    }

    /// The output of another job that an index has in this one's place, if the file has its bytes. A job with another state folder is in no
    /// database of ours.
    private func replacement(of suspect: VerifiedOutput) throws -> RecordedOutput? {
        guard suspect.output.isOfJob, let other = try search.indexed(at: suspect.output.record.path),
            other.record.file.digest == suspect.found?.digest, !suspect.output.mayBe(other)
        else { return nil }
        return other
    }

    /// Finds out whether changed outputs have the bytes of other outputs.
    private mutating func nameSwapped(_ loop: () -> RunLoop) async throws {
        let foundDigests = Set(outputs.filter(\.condition.isUnexplained).compactMap(\.found?.digest))
        guard stop == nil, !foundDigests.isEmpty else { return }
        var owners = try search.paths(of: foundDigests)
        for output in outputs where foundDigests.contains(output.output.record.file.digest) {
            owners[output.output.record.file.digest, default: []].append(output.output.record.path)
        }
        // Thousands of damaged outputs may have the same bytes. The paths are sorted once for each digest.
        let published = owners.mapValues { Set($0.map(PathKey.init)).sorted() }
        let damaged = outputs.indices.filter { outputs[$0].condition.isUnexplained && outputs[$0].found != nil }
        func others(_ index: Int) -> some Sequence<PathKey> {
            let own = PathKey(outputs[index].output.record.path)
            return (outputs[index].found.flatMap { published[$0.digest] } ?? []).lazy.filter { $0 != own }
        }
        var digests = Dictionary(outputs.map { (PathKey($0.output.record.path), $0.found?.digest) }) { first, _ in first
        }
        // Several outputs may have been published with these bytes. Their present bytes show which one was
        // swapped.
        let unread = Set(damaged.flatMap { others($0).prefix(Self.mostCandidates) }).filter { digests[$0] == nil }
        let candidates = try search.records(at: unread.sorted().prefix(Self.mostCandidatesInAll).map(\.path)).values
        for other in await read(candidates.compactMap(\.first), loop) {
            digests[PathKey(other.output.record.path)] = .some(other.found?.digest)
        }
        let byContent = published.mapValues { paths in Dictionary(grouping: paths) { digests[$0] ?? nil } }
        for index in damaged {
            let (output, found) = (outputs[index].output.record, outputs[index].found)
            guard let first = others(index).first(where: { _ in true }) else { continue }
            let partners = found.flatMap { byContent[$0.digest]?[output.file.digest] } ?? []
            let partner = partners.first { $0 != PathKey(output.path) }
            outputs[index].condition = partner.map { .swapped(with: $0.path) } ?? .copied(of: first.path)
        }
    }

    /// How many candidates are read for each output that has another output's bytes.
    private static let mostCandidates = 64
    /// How many candidates are read in all.
    private static let mostCandidatesInAll = 1024
}

/// The condition of an output since it was published.
package enum OutputCondition: Hashable, Sendable {
    case asPublished
    case missing
    /// It is shorter than it was.
    case truncated(bytes: Int)
    /// It has other bytes, or is not a file or folder any more.
    case changed
    /// It has the bytes of another output, and that output has its bytes.
    case swapped(with: String)
    /// It has the bytes of another output, and that output does not have its bytes.
    case copied(of: String)
    /// Another job published it since. That job's name and its manifest, if it is known.
    case replaced(by: String, of: String?)
    /// It could not be read. The value is the reason.
    case unreadable(String)

    package var isDamage: Bool { self != .asPublished }

    /// Damage without a known cause so far.
    fileprivate var isUnexplained: Bool {
        if case .replaced = self { false } else { isDamage }
    }

    /// - Parameter found: what a worker read.
    init(of record: FileFacts, found: FileFacts, isFolder: Bool) {
        if found.digest == record.digest {
            self = .asPublished
        } else if !isFolder, found.stamp.size < record.stamp.size {
            self = .truncated(bytes: found.stamp.size)
        } else {
            self = .changed
        }
    }
}

/// An output and its condition.
package struct VerifiedOutput: Hashable, Sendable {
    /// The latest record: a run may have replaced the output meanwhile.
    package let output: RecordedOutput
    package internal(set) var condition: OutputCondition
    /// Nil if it could not be read.
    package let found: FileFacts?
}

/// Groups small files, because a message for each file would take longer than reading it.
struct ReadingBatches {
    private static let mostFiles = 64
    private static let mostBytes = 8_000_000

    /// The indexes of the files in each batch, in their order.
    private(set) var indexes: [[Int]] = []

    /// - Parameters:
    ///   - files: their indexes and sizes.
    ///   - workers: the number of workers. Each gets several batches, so that none waits long for another one's
    ///     last batch.
    init(_ files: [(index: Int, bytes: Int)], _ workers: Int) {
        let most = min(Self.mostFiles, max(1, files.count / (4 * workers)))
        var bytes = 0
        for file in files {
            if indexes.isEmpty || indexes[indexes.count - 1].count == most || bytes + file.bytes > Self.mostBytes {
                indexes.append([])
                bytes = 0
            }
            indexes[indexes.count - 1].append(file.index)
            bytes += file.bytes
        }
    }
}

/// How many outputs are checked.
package enum OutputSample: Hashable, Sendable {
    case count(Int)
    /// Rounded up.
    case percent(Double)

    package func size(of total: Int) -> Int {
        switch self {
        case .count(let count): min(count, total)
        case .percent(let percent): min(total, Int((Double(total) * percent / 100).rounded(.up)))
        }
    }

    /// Random indexes below `total`, sorted. The same seed gives the same indexes.
    package func indexes(of total: Int, seed: UInt64) -> [Int] {
        var random = SplitMix64(seed: seed)
        var indexes = Array(0..<total)
        let size = size(of: total)
        // These are the first steps of a Fisher–Yates shuffle.
        for index in 0..<size {
            indexes.swapAt(index, index + Int(random.next() % UInt64(total - index)))
        }
        return indexes.prefix(size).sorted()
    }
}
