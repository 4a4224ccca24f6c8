package import JobModel
import JobStorage
package import WorkerProtocol

/// Accepts outputs that are there as those that a run would make.
package struct Adoption: Sendable {
    /// Frames whose outputs are known as current from now on.
    package private(set) var adopted: [Target] = []
    /// Frames of which an output is not there.
    package private(set) var missing: [Target] = []
    /// Frames of which an output is no picture.
    package private(set) var broken: [Target] = []

    /// The frames whose outputs are all there and not known as current already.
    package static func candidates(_ targets: [Target]) -> [Target] {
        targets.filter { target in
            target.verdict != .upToDate && !target.outputs.isEmpty && target.files.outputs.allSatisfy(\.isOutput)
        }
    }

    package static func files(of targets: [Target]) -> [CompareTask.File] {
        targets.flatMap { target in [target.files.inputFile] + target.outputs.map { CompareTask.File(path: $0) } }
    }

    /// - Parameters:
    ///   - findings: of the files that ``files(of:)`` names.
    ///   - headers: of the outputs that are files.
    package init(
        _ targets: [Target], findings: Freshness.Findings, headers: [PathKey: ImageFacts], books: RunBooks
    ) throws {
        let candidates = Set(Self.candidates(targets).map(\.frame))
        var records: [OutputRecord] = []
        for target in targets {
            guard candidates.contains(target.frame) else {
                if !target.files.outputs.allSatisfy(\.isOutput) { missing.append(target) }
                continue
            }
            let own = try books.records(of: target.files, findings: findings, headers: headers)
            guard own.count == target.outputs.count else {
                broken.append(target)
                continue
            }
            records += own
            adopted.append(target)
        }
        try books.ledger?.publish(records)
    }
}
