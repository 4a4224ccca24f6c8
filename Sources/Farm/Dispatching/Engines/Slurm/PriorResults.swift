import JobModel
import WorkerProtocol

/// What earlier coordinators of a run had submitted. Their arrays are ended; what these have done counts, where the run asks
/// for the same again.
struct PriorResults: Sendable {
    private var receipts: [TaskSpec: TaskReceipt] = [:]
    /// Of their last shard; 0 for none.
    private(set) var lastShard = 0

    /// How long elements may take to end.
    private static let farewell = Duration.seconds(60)
    private static let pause = Duration.milliseconds(500)

    /// - Throws: when the controller cannot be reached. While elements of another coordinator may be running nothing is known.
    static func end(before epoch: Int, in folder: ShardFolder, _ client: SlurmClient) async throws(SlurmClient.Trouble)
    {
        let lines = folder.submitted(folder.submissions).filter { $0.epoch < epoch }
        guard !lines.isEmpty else { return }
        let jobs = Set(lines.compactMap(\.job)).sorted()
        // Numbers are used again when a controller has lost its state; names are not.
        let names = Set(lines.map(\.name))
        for name in names.sorted() { try await client.cancel(named: name) }
        let end = ContinuousClock.now + farewell
        // Those that still run after this write under names of their own.
        while ContinuousClock.now < end {
            let rest = try await client.elements(of: jobs).filter {
                names.contains($0.submission) && [.running, .suspended].contains($0.condition)
            }
            if rest.isEmpty { return }
            // Sleeping fails when the run is over.
            guard (try? await Task.sleep(for: pause)) != nil else { return }
        }
    }

    init(of folder: ShardFolder) {
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
    mutating func take(_ spec: TaskSpec) -> TaskReceipt? {
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
