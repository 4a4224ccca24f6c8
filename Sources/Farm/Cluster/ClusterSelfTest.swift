package import Engines
import Shards
import WorkerProtocol

extension ClusterEngine {
    /// Has an element start a worker on a node, compare its programs' versions and do nothing.
    ///
    /// - Parameter limit: for all of it, the queue too.
    /// - Returns: where that was: `element 12_0 on n2`.
    package func tryOut(signals: AsyncStream<Int32>, limit: Duration) async throws(NoAnswer) -> String {
        _ = try await ask(.compare(DigestTask(files: [])), signals: signals, limit: limit)
        let names = setup.folder.names(in: setup.folder.results).filter { $0.hasSuffix(".json") }
        let result = names.last.flatMap { setup.folder.read(ShardResult.self, from: "\(setup.folder.results)/\($0)") }
        return result?.place ?? "an element"
    }

    /// Nothing of the trial is left.
    package func forgetTrial() { ShardFolder.remove(setup.folder.path) }
}
