import Scheduling
@testable import Shards
import WorkerProtocol

/// Reads a shard, the result of an attempt and the lines of its log, as elements and coordinators do.
@c(LLVMFuzzerTestOneInput)
public func fuzzShards(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let parts = Input(start, count).parts(3)
    let shard = record(Shard.self, parts[0])
    _ = record(PreparedShards.Range.self, parts[0])
    let ends = parts.count > 1 ? record(ShardResult.self, parts[1])?.ends ?? [] : []
    let lines = parts.count > 2 ? parts[2].split(separator: 10).compactMap { record(AttemptLine.self, Array($0)) } : []
    let folder = ShardFolder("/farm/penumbra-night")
    guard let shard, shard.isOf(folder, as: shard.id.number) else { return 0 }
    for task in shard.tasks {
        _ = (task.order, task.spec.written(by: "n1-7").withoutNames)
        for end in ends + lines.compactMap(\.end) where end.lease == task.lease { check(end, task) }
    }
    run(shard, ends)
    return 0
}

extension AttemptLine {
    fileprivate var end: TaskEnd? {
        if case .ended(let end) = self { end } else { nil }
    }
}

/// Reads what ``ShardFolder`` reads.
private func record<Record: SharedRecord>(_ type: Record.Type, _ bytes: [UInt8]) -> Record? {
    (try? FrameCodec.decode(type, from: bytes, within: type.limits)).flatMap { $0.isPlausible ? $0 : nil }
}

private func check(_ end: TaskEnd, _ task: Shard.Task) {
    guard case .done(let receipt) = end.outcome else { return }
    _ = (task.isAnswered(by: receipt), task.isAsBefore(receipt), receipt.files)
}

/// Lets an element carry out the shard, by workers that answer with these ends.
private func run(_ shard: Shard, _ ends: [TaskEnd]) {
    var state = ShardState(shard.tasks, workers: 2, silence: shard.workers.silence, plugins: ["sepia"])
    var now = Timestamp(.zero)
    let workers = [WorkerID(1), WorkerID(2)]
    var leases = workers.flatMap { state.handle(.workerReady($0), at: now) }.compactMap(\.started)
    for (index, end) in ends.enumerated() {
        now = Timestamp(.seconds(index))
        let worker = workers[index % 2]
        let lease = leases.popLast()?.id ?? end.lease
        let actions =
            switch end.outcome {
            case .done(let receipt): state.handle(.report(worker, .finished(lease, receipt)), at: now)
            case .failed(let failure): state.handle(.report(worker, .failed(lease, failure)), at: now)
            case .died(let death, let plugins):
                state.handle(.report(worker, .inPlugins(lease, plugins)), at: now)
                    + state.handle(.workerLost(worker, death), at: now)
            }
        leases += actions.compactMap(\.started)
    }
    _ = state.handle(.tick, at: now)
}

extension ShardState.Action {
    fileprivate var started: Lease? {
        if case .start(let lease) = self { lease } else { nil }
    }
}
