import JobModel
import JobStorage
package import WorkerProtocol

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
