package import Coordination
package import JobModel
import JobStorage
import Planning
package import Runs

/// What makes damaged outputs again: a run of each job that published them, of the pictures that they were made of alone. It replaces
/// these outputs, and treats all others as any run does.
package struct OutputRepair: Sendable {
    package struct Job: Hashable, Sendable {
        /// The job's manifest.
        package let manifest: String
        package let name: String
        /// The damaged outputs.
        package let outputs: [VerifiedOutput]
    }

    /// Sorted by their manifests.
    package let jobs: [Job]
    /// Damaged outputs that no run makes again: another job's output is in their place, or nothing but a receipt is known, or they
    /// cannot be read.
    package let unrepairable: [VerifiedOutput]
    /// Outputs that somebody may have edited.
    package let edited: [VerifiedOutput]

    /// - Parameters:
    ///   - replacesEdited: whether outputs are made again that somebody may have edited.
    ///   - stamp: the present stamp of a file.
    package init(
        of outputs: [VerifiedOutput], replacesEdited: Bool,
        stamp: (String) -> FileStamp? = { FileStamp(of: $0) }
    ) {
        struct Key: Hashable {
            let manifest: PathKey
            let job: String
        }
        var groups: [Key: [VerifiedOutput]] = [:]
        var (others, edited): ([VerifiedOutput], [VerifiedOutput]) = ([], [])
        for output in outputs where output.condition.isDamage {
            guard let manifest = output.output.manifest, output.condition.isRepairable else {
                others.append(output)
                continue
            }
            if output.mayBeEdited(stamp), !replacesEdited {
                edited.append(output)
            } else {
                groups[Key(manifest: PathKey(manifest), job: output.output.job), default: []].append(output)
            }
        }
        jobs = groups.sorted { ($0.key.manifest, $0.key.job) < ($1.key.manifest, $1.key.job) }.map { key, outputs in
            Job(manifest: key.manifest.path, name: key.job, outputs: outputs)
        }
        (unrepairable, self.edited) = (others, edited)
    }
}

extension OutputRepair.Job {
    /// The run that makes the outputs again.
    ///
    /// - Parameter folder: the folder of the request.
    package func request(in folder: String) -> RunRequest {
        var request = RunRequest(manifests: [RunRequest.Manifest(path: manifest)], folder: folder)
        request.inputs = Set(outputs.map { PathKey($0.output.record.input) }).sorted().map(\.path)
        request.repair = RunRequest.Repair(
            job: name,
            outputs: outputs.map { .init(path: $0.output.record.path, found: $0.found?.digest) })
        return request
    }
}

extension VerifiedOutput {
    /// Whether its file was written since it was published. A disk that loses bytes does not change the time of a file.
    fileprivate func mayBeEdited(_ stamp: (String) -> FileStamp?) -> Bool {
        switch condition {
        case .changed, .truncated:
            guard let now = stamp(output.record.path) else { return true }
            let recorded = output.record.file.stamp
            return now.size != recorded.size || now.modified != recorded.modified
        case .asPublished, .missing, .swapped, .copied, .replaced, .unreadable: return false
        }
    }
}

extension OutputCondition {
    /// Whether a new rendering mends it. An output that cannot be read may be whole: then its disk or its permissions need mending.
    fileprivate var isRepairable: Bool {
        switch self {
        case .missing, .truncated, .changed, .swapped, .copied: true
        case .asPublished, .replaced, .unreadable: false
        }
    }
}
