package import JobModel
import JobStorage
import Scheduling
package import WorkerProtocol

/// Adopts existing outputs as those that a run would make. Each output is accepted or rejected alone.
package struct Adoption: Sendable {
    /// A file that was not accepted, and why.
    package struct Failure: Hashable, Sendable {
        /// The input or output that was rejected.
        package let path: String
        package let reason: String
    }

    /// Frames of which at least one output was adopted.
    package private(set) var adopted: [FrameTarget] = []
    /// Frames of which an output is missing.
    package private(set) var missing: [FrameTarget] = []
    /// At most one for each file.
    package private(set) var failures: [Failure] = []
    private var failedPaths: Set<PathKey> = []
    /// The outputs of other jobs that still exist.
    private let owned: [PathKey: PriorOutput]

    /// Frames with existing outputs that are not known to be current. A picture that is still broken is not
    /// among them: its failure stays recorded.
    package static func candidates(_ targets: [FrameTarget]) -> [FrameTarget] {
        targets.filter { target in
            if case .stillBroken = target.verdict { return false }
            return target.verdict != .upToDate && target.hasOutputs
        }
    }

    /// The inputs and the existing outputs, without repetitions.
    package static func files(of targets: [FrameTarget]) -> [DigestTask.File] {
        var seen: Set<DigestTask.File> = []
        return targets.flatMap { target in
            [target.files.inputFile] + target.files.outputs.filter(\.isOutput).map(\.file)
        }.filter { seen.insert($0).inserted }
    }

    ///   - Parameters:
    ///   - findings: the digests of the files that ``files(of:)`` returns.
    ///   - headers: the headers of the same files.
    ///   - priorOutputs: outputs of other jobs. Those of jobs that still exist are not adopted.
    package init(
        _ targets: [FrameTarget], findings: Freshness.Findings, headers: HeaderQuery.Headers, tracker: OutputTracker,
        priorOutputs: [PathKey: PriorOutput] = [:]
    ) throws {
        owned = priorOutputs.filter { $0.value.origin == .owned }
        let candidates = Set(Self.candidates(targets).map(\.frame))
        let outputs = Self.files(of: targets.filter { candidates.contains($0.frame) })
        let digests = outputs.compactMap { (findings[$0] ?? nil)?.digest }
        let published = try tracker.ledger?.sources(of: Set(digests)) ?? [:]
        var records: [OutputRecord] = []
        for target in targets {
            if !target.files.outputs.allSatisfy(\.isOutput) { missing.append(target) }
            if case .stillBroken(_, let message) = target.verdict, target.hasOutputs {
                add(FrameFailure(.data, message), at: target.files.input)
            }
            guard candidates.contains(target.frame) else { continue }
            let own = try accept(target.files, findings, headers, published, tracker)
            if !own.isEmpty { adopted.append(target) }
            records += own
        }
        try tracker.ledger?.publish(records)
    }

    private mutating func accept(
        _ files: FrameFiles, _ findings: Freshness.Findings, _ headers: HeaderQuery.Headers,
        _ published: [Digest: Set<Digest>], _ tracker: OutputTracker
    ) throws -> [OutputRecord] {
        guard let source = findings[files.inputFile] ?? nil else {
            add(nil, at: files.input)
            return []
        }
        guard case .success = headers[files.inputFile] else {
            add(headers[files.inputFile]?.failure, at: files.input)
            return []
        }
        var records: [OutputRecord] = []
        for (part, output) in files.outputs.enumerated() where output.isOutput {
            if tracker.isCurrent(output, of: files, findings: findings) { continue }
            guard case .success(let header) = headers[output.file], let found = findings[output.file] ?? nil else {
                add(headers[output.file]?.failure, at: output.path)
                continue
            }
            // Another program may have written something else there since.
            if let prior = owned[PathKey(output.path)], prior.record.file.digest == found.digest {
                add(FrameFailure(.output, prior.reason), at: output.path)
                continue
            }
            if let remedy = tracker.outdated(output, digest: found.digest, source: source.digest, published: published)
            {
                add(FrameFailure(.output, "made of a picture that has changed since; \(remedy)"), at: output.path)
                continue
            }
            let accepted = AdoptedOutput(part: part, digest: found.digest, header: header)
            if let record = try tracker.record(of: accepted, files, source: source) { records.append(record) }
        }
        return records
    }

    /// If the message begins with the path, the path is removed from it.
    private mutating func add(_ failure: FrameFailure?, at path: String) {
        guard failedPaths.insert(PathKey(path)).inserted else { return }
        let message = failure?.message ?? "is gone, or was not reached"
        let prefix = "\(path): "
        failures.append(
            Failure(path: path, reason: message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : message)
        )
    }
}

/// An output of another program, as it was found.
struct AdoptedOutput {
    /// Its index among the job's outputs.
    let part: Int
    let digest: Digest
    let header: PictureHeader
}

extension FrameTarget {
    fileprivate var hasOutputs: Bool { !outputs.isEmpty && files.outputs.contains(where: \.isOutput) }
}

extension FrameFiles.Output {
    fileprivate var file: DigestTask.File { DigestTask.File(path: path) }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let failure) = self { failure } else { nil } }
}

/// Takes over the outputs of a job that was moved or renamed, or whose pictures were. This job gets all that is
/// known about them, so that outdated ones are rendered again.
package struct OutputTakeover: Sendable {
    /// The paths of the outputs that now belong to this job.
    package private(set) var taken: [String] = []
    /// The outputs that were not taken over, because their jobs still exist.
    package private(set) var owned: [PriorOutput] = []

    /// The existing outputs of which this job has no record.
    package static func unknown(_ targets: [FrameTarget], _ freshness: Freshness) -> [FrameFiles.Output] {
        targets.flatMap { target in
            target.files.outputs.filter { $0.isOutput && freshness.record(at: $0.path) == nil }
        }
    }

    /// The outputs of this job that somebody has written to since this job published them.
    package static func rewritten(_ targets: [FrameTarget], _ freshness: Freshness) -> [FrameFiles.Output] {
        targets.flatMap { target in
            target.files.outputs.filter { output in
                guard let record = freshness.record(at: output.path), let stamp = output.stamp else { return false }
                return !stamp.isUntouched(since: record.file.stamp, by: freshness.compare)
            }
        }
    }

    /// The outputs among them that have to be read to find out who published them.
    package static func files(of unknown: [FrameFiles.Output], _ freshness: Freshness) -> [DigestTask.File] {
        unknown.filter { freshness.priorOutputs[PathKey($0.path)] == nil }.map { DigestTask.File(path: $0.path) }
    }

    /// - Parameter freshness: knows the outputs of other jobs at this job's paths.
    package init(_ targets: [FrameTarget], _ freshness: Freshness, _ ledger: Ledger) throws {
        var others: [(OutputRecord, PriorOutput)] = []
        var renamed: [OutputRecord] = []
        for target in targets {
            for (part, output) in target.files.outputs.enumerated() where output.isOutput {
                let prior = freshness.priorOutputs[PathKey(output.path)]
                if prior == nil, let own = freshness.record(at: output.path) {
                    guard PathKey(own.input) != PathKey(target.files.input), !OutputLookup.inputMayExist(at: own.input)
                    else { continue }
                    renamed.append(own.of(target.files, part: part))
                } else if let prior {
                    guard prior.origin != .owned else {
                        owned.append(prior)
                        continue
                    }
                    var record = prior.record.of(target.files, part: part)
                    record.recipe = try ledger.id(ofText: prior.recipe)
                    others.append((record, prior))
                }
            }
        }
        try ledger.publish(renamed)
        try ledger.takeOver(others)
        taken = others.map(\.0.path) + renamed.map(\.path)
    }
}

extension OutputRecord {
    /// The same output as the output of a frame. The recorded bytes of the picture stay. Whether the frame's
    /// picture has the same bytes is decided as for every touched picture.
    fileprivate func of(_ files: FrameFiles, part: Int) -> OutputRecord {
        var record = self
        (record.input, record.page, record.part) = (files.input, files.page, part)
        return record
    }
}
