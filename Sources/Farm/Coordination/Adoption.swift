import JobModel
import JobStorage
import Scheduling
package import WorkerProtocol

/// Accepts outputs that are there as those that a run would make, each for itself.
package struct Adoption: Sendable {
    /// Why something was not accepted.
    package struct Fault: Hashable, Sendable {
        /// The file that is at fault: an input or an output.
        package let path: String
        package let reason: String
    }

    /// Frames with outputs that are known as current from now on.
    package private(set) var adopted: [FrameTarget] = []
    /// Frames of which an output is not there.
    package private(set) var missing: [FrameTarget] = []
    /// One for each file.
    package private(set) var faults: [Fault] = []
    private var faulty: Set<PathKey> = []

    /// The frames with outputs that are there and may not be known as current already. A picture that is still broken has
    /// none: its failure stays known.
    package static func candidates(_ targets: [FrameTarget]) -> [FrameTarget] {
        targets.filter { target in
            if case .stillBroken = target.verdict { return false }
            return target.verdict != .upToDate && target.hasOutputs
        }
    }

    /// Inputs, and the outputs that are there; each once.
    package static func files(of targets: [FrameTarget]) -> [DigestTask.File] {
        var seen: Set<DigestTask.File> = []
        return targets.flatMap { target in
            [target.files.inputFile] + target.files.outputs.filter(\.isOutput).map(\.file)
        }.filter { seen.insert($0).inserted }
    }

    /// - Parameters:
    ///   - findings: of the files that ``files(of:)`` names.
    ///   - headers: of the same.
    package init(
        _ targets: [FrameTarget], findings: Freshness.Findings, headers: HeaderQuery.Headers, books: OutputTracker
    ) throws {
        let candidates = Set(Self.candidates(targets).map(\.frame))
        let outputs = Self.files(of: targets.filter { candidates.contains($0.frame) })
        let digests = outputs.compactMap { (findings[$0] ?? nil)?.digest }
        let published = try books.ledger?.sources(of: Set(digests)) ?? [:]
        var records: [OutputRecord] = []
        for target in targets {
            if !target.files.outputs.allSatisfy(\.isOutput) { missing.append(target) }
            if case .stillBroken(_, let message) = target.verdict, target.hasOutputs {
                add(FrameFailure(.data, message), at: target.files.input)
            }
            guard candidates.contains(target.frame) else { continue }
            let own = try accept(target.files, findings, headers, published, books)
            if !own.isEmpty { adopted.append(target) }
            records += own
        }
        try books.ledger?.publish(records)
    }

    private mutating func accept(
        _ files: FrameFiles, _ findings: Freshness.Findings, _ headers: HeaderQuery.Headers,
        _ published: [Digest: Set<Digest>], _ books: OutputTracker
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
            if books.isCurrent(output, of: files, findings: findings) { continue }
            guard case .success(let header) = headers[output.file], let found = findings[output.file] ?? nil else {
                add(headers[output.file]?.failure, at: output.path)
                continue
            }
            if let remedy = books.outdated(output, digest: found.digest, source: source.digest, published: published) {
                add(FrameFailure(.output, "made of a picture that has changed since; \(remedy)"), at: output.path)
                continue
            }
            let accepted = AdoptedOutput(part: part, digest: found.digest, header: header)
            if let record = try books.record(of: accepted, files, source: source) { records.append(record) }
        }
        return records
    }

    /// A message that begins with the path says it only once.
    private mutating func add(_ failure: FrameFailure?, at path: String) {
        guard faulty.insert(PathKey(path)).inserted else { return }
        let message = failure?.message ?? "is gone, or was not reached"
        let prefix = "\(path): "
        faults.append(
            Fault(path: path, reason: message.hasPrefix(prefix) ? String(message.dropFirst(prefix.count)) : message))
    }
}

/// An output that somebody else has made, as it was found.
struct AdoptedOutput {
    /// Its place among the job's outputs.
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

/// Outputs of a job that was moved or renamed, or whose pictures were: they become this job's with all that is known of how and
/// of what they were made. So what is out of date by now is made again.
package struct OutputTakeover: Sendable {
    /// Those that are this job's from now on.
    package private(set) var taken: [String] = []
    /// Those whose jobs are still there.
    package private(set) var owned: [PriorOutput] = []

    /// The outputs that are there, and that a job knows nothing of.
    package static func unknown(_ targets: [FrameTarget], _ freshness: Freshness) -> [FrameFiles.Output] {
        targets.flatMap { target in
            target.files.outputs.filter { $0.isOutput && freshness.record(at: $0.path) == nil }
        }
    }

    /// Of these outputs the files that have to be read to find out who published them.
    package static func files(of unknown: [FrameFiles.Output], _ freshness: Freshness) -> [DigestTask.File] {
        unknown.filter { freshness.formers[PathKey($0.path)] == nil }.map { DigestTask.File(path: $0.path) }
    }

    /// - Parameter freshness: knows what was published by other jobs, or elsewhere.
    package init(_ targets: [FrameTarget], _ freshness: Freshness, _ ledger: Ledger) throws {
        var formers: [(OutputRecord, PriorOutput)] = []
        var renamed: [OutputRecord] = []
        for target in targets {
            for (part, output) in target.files.outputs.enumerated() where output.isOutput {
                if let own = freshness.record(at: output.path) {
                    guard PathKey(own.input) != PathKey(target.files.input), !OutputLookup.isInputThere(own.input)
                    else { continue }
                    renamed.append(own.of(target.files, part: part))
                } else if let former = freshness.formers[PathKey(output.path)] {
                    guard former.origin != .there else {
                        owned.append(former)
                        continue
                    }
                    var record = former.record.of(target.files, part: part)
                    record.recipe = try ledger.id(ofText: former.recipe)
                    formers.append((record, former))
                }
            }
        }
        try ledger.publish(renamed)
        try ledger.takeOver(formers)
        taken = formers.map(\.0.path) + renamed.map(\.path)
    }
}

extension OutputRecord {
    /// The same output, as that of a frame. The picture's bytes stay those that were read: whether the frame's are the same is
    /// found out as for every picture that was touched.
    fileprivate func of(_ files: FrameFiles, part: Int) -> OutputRecord {
        var record = self
        (record.input, record.page, record.part) = (files.input, files.page, part)
        return record
    }
}
