import JobModel
package import WorkerProtocol

/// What shards of earlier coordinators of a run have come to. It counts where the run asks for the same again.
package struct PriorResults: Sendable {
    private var receipts: [TaskSpec: TaskReceipt] = [:]
    /// Of their last shard; 0 for none.
    package private(set) var lastShard = 0

    package init(of folder: ShardFolder) {
        // Of each shard, by its number and epoch.
        let logs = Dictionary(grouping: folder.names(in: folder.results).filter { $0.hasSuffix(".log") }) {
            $0.prefix { $0 != "-" }
        }
        for name in folder.names(in: folder.shards) {
            guard name.hasSuffix(".json"), let number = Int(name.dropLast(5)),
                StoredLimits.counts.contains(number),
                let shard = folder.read(Shard.self, from: folder.shard(number)), shard.isOf(folder, as: number)
            else { continue }
            lastShard = max(lastShard, number)
            take(shard, logs["\(number).\(shard.id.epoch)"] ?? [], in: folder)
        }
    }

    private mutating func take(_ shard: Shard, _ logs: [String], in folder: ShardFolder) {
        let specs = Dictionary(shard.tasks.map { ($0.lease, $0.spec) }) { $1 }
        let lines = logs.flatMap { folder.lines(AttemptLine.self, of: "\(folder.results)/\($0)") }
        for case .ended(let end) in lines {
            guard let spec = specs[end.lease], case .done(let receipt) = end.outcome else { continue }
            receipts[spec.withoutNames] = receipt
        }
    }

    /// What the same task came to, if its files are there and its input is what it was. Given once.
    package mutating func take(_ spec: TaskSpec) -> TaskReceipt? {
        guard !receipts.isEmpty, let receipt = receipts.removeValue(forKey: spec.withoutNames),
            spec.objection(to: receipt, by: .earlierWorker) == nil,
            receipt.files.allSatisfy(ShardFolder.holds), Self.isSame(spec, receipt)
        else { return nil }
        return receipt
    }

    private static func isSame(_ spec: TaskSpec, _ receipt: TaskReceipt) -> Bool {
        switch (spec, receipt) {
        case (.frame(let task), .outputs(_, let source?)): ShardFolder.isUntouched(task.input, since: source.stamp)
        case (.probe(let task), .probe(let probe)): ShardFolder.isUntouched(task.input, since: probe.stamp)
        case (.canvas(let task), .canvas(let canvas)): ShardFolder.isUntouched(task.input, since: canvas.source.stamp)
        // They read nothing but files of the run, with the digests that are wanted.
        case (.tile, .tile), (.stitch, .outputs): true
        default: false
        }
    }
}
