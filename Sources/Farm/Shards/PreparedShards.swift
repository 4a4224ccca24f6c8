package import Engines
import Scheduling
package import WorkerProtocol

/// Divides a run into a fixed number of shards and writes them to its folder, for a scheduler that Penumbra does not know.
package struct PreparedShards: HandoffEngine.Recipient {
    /// The numbers of the prepared shards, stored in `prepared.json`. Preparing a run again changes them.
    package struct Range: Hashable, Sendable, Codable {
        package let first: Int
        package let count: Int

        init(first: Int, count: Int) {
            self.first = first
            self.count = count
        }

        /// Nil if the folder has no prepared shards.
        package init?(of folder: ShardFolder) {
            guard let found = folder.read(Range.self, from: folder.prepared) else { return nil }
            self = found
        }
    }

    private let run: ShardSource
    private let count: Int
    private let command: WorkerCommand
    private let workers: Int
    private let signals: @Sendable () -> AsyncStream<Int32>

    /// - Parameters:
    ///   - workers: processes on this machine for the first tasks: reading headers, and decoding pictures that are tiled.
    package init(
        _ run: ShardSource, count: Int, command: WorkerCommand, workers: Int,
        signals: @escaping @Sendable () -> AsyncStream<Int32>
    ) {
        self.run = run
        self.count = count
        self.command = command
        self.workers = workers
        self.signals = signals
    }

    package func takes(_ spec: TaskSpec) -> Bool {
        switch spec {
        case .frame, .tile: true
        case .probe, .canvas, .stitch, .audit, .check, .preview, .compare: false
        }
    }

    package func carryOut(_ tasks: [GatheredTask], as number: Int) async -> Result<[TaskEnd], HandoffError> {
        do {
            let shard = try run.write(tasks.map(\.ofShard), as: number)
            let attempt = ShardRun(
                folder: run.folder, number: number, location: "this machine",
                attempt: String(UInt64.random(in: 1 << 60 ... .max), radix: 16))
            let end = try await attempt.run(
                shard, engine: LocalEngine(command: command), workers: workers, signals: signals)
            switch end {
            case .done:
                let result = run.folder.read(ShardResult.self, from: run.folder.result(shard.id, attempt.attempt))
                return .success(result?.ends ?? [])
            case .refused(let reason): return .failure(HandoffError(.engine(reason)))
            case .interrupted(let signal): return .failure(HandoffError(.interrupted(signal: signal)))
            }
        } catch {
            return .failure(HandoffError(.storage((error as? ShardFolderError)?.message ?? "\(error)")))
        }
    }

    package func receive(_ tasks: [GatheredTask], from first: Int) async -> HandoffError? {
        do {
            for (index, part) in Self.dealt(tasks, to: count).enumerated() {
                _ = try run.write(part.map(\.ofShard), as: first + index)
            }
            try run.folder.write(Range(first: first, count: count), to: run.folder.prepared, by: "\(run.epoch)")
            return nil
        } catch {
            return HandoffError(.storage(error.message))
        }
    }

    /// Shards that nobody carries out do no harm.
    package func withdraw() async {}

    /// Deals the tasks by estimated time, largest first, in alternating direction, so that all shards take about as long.
    /// If there are fewer tasks than shards, some shards are empty.
    package static func dealt(_ tasks: [GatheredTask], to count: Int) -> [[GatheredTask]] {
        var parts = Array(repeating: [GatheredTask](), count: count)
        let sorted = tasks.sorted {
            ($1.lease.estimate, $0.lease.id.number) < ($0.lease.estimate, $1.lease.id.number)
        }
        for (index, task) in sorted.enumerated() {
            let (round, step) = index.quotientAndRemainder(dividingBy: count)
            parts[round.isMultiple(of: 2) ? step : count - 1 - step].append(task)
        }
        return parts.map { $0.sorted { $0.lease.id.number < $1.lease.id.number } }
    }
}

extension PreparedShards.Range: SharedRecord {
    package var isPlausible: Bool { StoredLimits.counts.contains(first) && StoredLimits.counts.contains(count) }
}

/// Writes the shards of a run.
package struct ShardSource: Sendable {
    package let folder: ShardFolder
    package let run: String
    package let epoch: Int
    package let versions: [String: String]
    package let workers: Shard.Workers

    package init(
        folder: ShardFolder, run: String, epoch: Int, versions: [String: String], workers: Shard.Workers
    ) {
        self.folder = folder
        self.run = run
        self.epoch = epoch
        self.versions = versions
        self.workers = workers
    }

    package func write(_ tasks: [Shard.Task], as number: Int) throws(ShardFolderError) -> Shard {
        let shard = Shard(
            Shard.ID(run: run, epoch: epoch, number: number), versions: versions, workers: workers, tasks: tasks)
        try folder.write(shard, to: folder.shard(number), by: "\(epoch)")
        return shard
    }
}
