import JobModel
import Scheduling
import Synchronization
import Testing
import WorkerProtocol

/// The scheduler stays small and quick with as many workers as a cluster has.
@Suite struct ManyTests {
    @Test(arguments: [1, 2, 3]) func `a set in ascending order is what sorting a set gives, whatever comes and goes`(
        seed: UInt64
    ) {
        var random = SplitMix64(seed: seed)
        var set = AscendingSet<Int>()
        var twin: Set<Int> = []
        // Grows for half of the time and then shrinks, through many runs, to nothing.
        for step in 0..<40_000 {
            let element = Int.random(in: 0..<5000, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 ? step >= 20_000 : step < 20_000 {
                set.insert(element)
                twin.insert(element)
            } else {
                set.remove(element)
                twin.remove(element)
            }
            if step % 1000 == 0 { #expect(set.elements == twin.sorted()) }
            #expect(set.first(after: element).map { $0 > element } ?? true)
        }
        for element in 0..<5000 { set.remove(element) }
        #expect(set.isEmpty && set.first == nil && set.first(after: 0) == nil)
    }

    @Test func `a walk through a set in ascending order finds each element once, even as they are taken out`() {
        var set = AscendingSet<Int>()
        for element in (0..<3000).reversed() { set.insert(2 * element) }
        var found: [Int] = []
        var next = set.first
        while let element = next {
            next = set.first(after: element)
            set.remove(element)
            found.append(element)
        }
        #expect(found == (0..<3000).map { 2 * $0 })
        #expect(set.isEmpty)
    }

    @Test func `a set of very many elements looks at few of them for each that is added or taken out`() {
        var set = AscendingSet<Counted>()
        for number in 0..<100_000 { set.insert(Counted(number: number)) }
        Counted.$comparisons.withValue(Comparisons()) {
            for number in stride(from: 0, to: 100_000, by: 1000) { set.remove(Counted(number: number)) }
            for number in stride(from: 0, to: 100_000, by: 1000) { set.insert(Counted(number: number)) }
            #expect(Counted.comparisons.count < 200 * 40)
        }
    }

    @Test func `progress names the first attempts, and not all of very many`() {
        var farm = Farm(.make(workers: 300, frames: 300))
        farm.begin(workers: 300, frames: 300)
        #expect(farm.running.count == 300)
        #expect(farm.scheduler.progress().running.map(\.id.number) == Array(1...64))
        for lease in farm.running.prefix(290) { farm.finish(lease) }
        #expect(farm.scheduler.progress().running.map(\.id) == Array(farm.running.map(\.id).prefix(64)))
    }

    @Test func `few frames are held in store beside those that very many workers have`() {
        #expect(policy(workers: 8).openFrames == 16)
        #expect(policy(workers: 100_000).openFrames == 101_024)
    }
}

private func policy(workers: Int) -> SchedulingPolicy {
    SchedulingPolicy(
        retry: RetryPolicy(retries: 2), time: TimePolicy(limit: .auto),
        shard: ShardPolicy(mode: .auto, workers: workers, frames: 10, frameMemory: 1), verify: .digest,
        workers: workers,
        seed: 1)
}

private final class Comparisons: Sendable {
    private let counted = Mutex(0)
    var count: Int { counted.withLock { $0 } }
    func add() { counted.withLock { $0 += 1 } }
}

/// Counts its comparisons.
private struct Counted: Comparable, Sendable {
    @TaskLocal static var comparisons = Comparisons()
    let number: Int

    static func < (a: Counted, b: Counted) -> Bool {
        comparisons.add()
        return a.number < b.number
    }

    static func == (a: Counted, b: Counted) -> Bool {
        comparisons.add()
        return a.number == b.number
    }
}
