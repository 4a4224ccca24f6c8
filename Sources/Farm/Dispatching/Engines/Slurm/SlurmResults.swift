import Scheduling
import WorkerProtocol

/// The result files as they appear.
struct SlurmResults: Sendable {
    private let folder: SharedFolder
    private let grace: Duration
    /// Results that name files which do not show yet, and since when.
    private var early: [String: Timestamp] = [:]

    init(folder: SharedFolder, grace: Duration) {
        self.folder = folder
        self.grace = grace
    }

    /// Of an element that runs twice the first one counts.
    mutating func take(of shards: Set<Int>, at now: Timestamp) -> [ShardResult] {
        var taken: [ShardResult] = []
        for name in folder.names(in: folder.results) where name.hasSuffix(".json") {
            guard let number = name.split(separator: ".").first.flatMap({ Int($0) }), shards.contains(number),
                let result = folder.read(ShardResult.self, from: "\(folder.results)/\(name)"), result.shard == number
            else { continue }
            let since = early[name] ?? now
            if result.ends.allSatisfy(isThere) || result.refusal != nil {
                taken.append(result)
            } else if now.elapsed - since.elapsed >= grace {
                taken.append(withoutMissing(result))
            } else {
                early[name] = since
                continue
            }
            early[name] = nil
        }
        return taken
    }

    /// The files that a receipt names are there, with all their bytes.
    func isThere(_ end: TaskEnd) -> Bool {
        guard case .done(let receipt) = end.outcome else { return true }
        return receipt.files.allSatisfy(SharedFolder.holds)
    }

    private func withoutMissing(_ result: ShardResult) -> ShardResult {
        let ends = result.ends.map { end in
            guard case .done(let receipt) = end.outcome,
                let file = receipt.files.first(where: { !SharedFolder.holds($0) })
            else { return end }
            let message =
                "\(file.path): written by \(result.place), and does not show here whole after "
                + "\(grace.components.seconds) s; raise 'grace' under 'slurm', or look after the shared file system"
            return TaskEnd(end.lease, .failed(TaskFailure(.transient, message)))
        }
        return ShardResult(
            shard: result.shard, attempt: result.attempt, place: result.place, ends: ends, refusal: result.refusal)
    }
}
