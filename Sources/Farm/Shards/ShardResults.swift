package import Scheduling
import WorkerProtocol

/// The result files as they appear.
package struct ShardResults: Sendable {
    private let folder: ShardFolder
    private let run: String
    private let epoch: Int
    private let grace: Duration
    /// Results that name files which do not show yet, and since when.
    private var early: [String: Timestamp] = [:]

    /// - Parameters:
    ///   - run: whose results are taken, of the coordinator of that epoch alone.
    ///   - grace: how long the file system may take to show a file.
    package init(folder: ShardFolder, run: String, epoch: Int, grace: Duration) {
        self.folder = folder
        self.run = run
        self.epoch = epoch
        self.grace = grace
    }

    /// Of an element that runs twice the first one counts.
    ///
    /// - Parameter log: what the element of a shard printed.
    package mutating func take(of shards: Set<Int>, at now: Timestamp, log: (Int) -> String) -> [ShardResult] {
        var taken: [ShardResult] = []
        var rest = shards
        for name in folder.names(in: folder.results) where name.hasSuffix(".json") {
            guard let number = name.split(separator: ".").first.flatMap({ Int($0) }), rest.contains(number),
                let result = folder.read(ShardResult.self, from: "\(folder.results)/\(name)"),
                result.shard == Shard.ID(run: run, epoch: epoch, number: number)
            else { continue }
            let since = early[name] ?? now
            if result.ends.allSatisfy(Self.isThere) {
                taken.append(result)
            } else if result.refusal != nil || now.elapsed - since.elapsed >= grace {
                // A refusal stops the run, and nothing is waited for.
                taken.append(withoutMissing(result, log: log(number)))
            } else {
                early[name] = since
                continue
            }
            early[name] = nil
            rest.remove(number)
        }
        return taken
    }

    /// The files that a receipt names are there, with all their bytes.
    package static func isThere(_ end: TaskEnd) -> Bool {
        guard case .done(let receipt) = end.outcome else { return true }
        return receipt.files.allSatisfy(ShardFolder.holds)
    }

    private func withoutMissing(_ result: ShardResult, log: String) -> ShardResult {
        let ends = result.ends.map { end in
            guard case .done(let receipt) = end.outcome,
                let file = receipt.files.first(where: { !ShardFolder.holds($0) })
            else { return end }
            let message =
                "\(file.path): written by \(result.place), and does not show here whole after "
                + "\(grace.components.seconds) s; raise 'grace' under 'slurm', or look after the shared file system; see "
                + log
            return TaskEnd(end.lease, .failed(TaskFailure(.transient, message)))
        }
        return ShardResult(
            shard: result.shard, attempt: result.attempt, place: result.place, ends: ends, refusal: result.refusal)
    }
}
