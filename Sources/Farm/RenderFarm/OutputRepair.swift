package import Coordination
import JobModel
import JobStorage
package import Runs

/// What makes damaged outputs again: a run of each job that published them, of the pictures that they were made of alone.
package struct OutputRepair: Sendable {
    /// The pictures whose outputs are made again, for each manifest.
    package struct Job: Hashable, Sendable {
        /// The job's manifest.
        package let manifest: String
        /// The pictures, sorted.
        package let inputs: [String]
        /// The damaged outputs of these pictures.
        package let outputs: [RecordedOutput]
    }

    /// Sorted by their manifests.
    package let jobs: [Job]
    /// Damaged outputs that no job can make again: another job's output is in their place, or nothing but a receipt is known, or
    /// they cannot be read.
    package let unrepairable: [VerifiedOutput]

    package init(of outputs: [VerifiedOutput]) {
        var byManifest: [PathKey: [RecordedOutput]] = [:]
        var others: [VerifiedOutput] = []
        for output in outputs where output.condition.isDamage {
            if output.condition.isRepairable, let manifest = output.output.manifest {
                byManifest[PathKey(manifest), default: []].append(output.output)
            } else {
                others.append(output)
            }
        }
        jobs = byManifest.sorted { $0.key < $1.key }.map { manifest, outputs in
            Job(
                manifest: manifest.path, inputs: Set(outputs.map { PathKey($0.record.input) }).sorted().map(\.path),
                outputs: outputs)
        }
        unrepairable = others
    }
}

extension OutputRepair.Job {
    /// The run that makes the outputs again, whatever is at their paths now.
    ///
    /// - Parameter folder: the folder of the request.
    package func request(in folder: String) -> RunRequest {
        var request = RunRequest(manifests: [RunRequest.Manifest(path: manifest)], folder: folder)
        request.inputs = inputs
        request.isForced = true
        return request
    }
}

extension OutputCondition {
    /// Whether another rendering would be as it was published. What cannot be read may be whole: its disk or its rights are to be mended.
    fileprivate var isRepairable: Bool {
        switch self {
        case .missing, .truncated, .changed, .swapped, .copied: true
        case .asPublished, .replaced, .unreadable: false
        }
    }
}
