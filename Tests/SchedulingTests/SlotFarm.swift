import JobModel
import Scheduling
import WorkerProtocol

/// A farm in which workers of some slots fail at everything, and some pictures fail everywhere. All others do their
/// tasks. A seed decides who acts next.
struct SlotFarm {
    private var farm: Farm
    private var random: SplitMix64
    private let badFrames: Set<Int>
    private let badSlots: Set<Int>
    /// Whether bad slots can read headers, and fail only when they render.
    private let canLook: Bool
    private let frames: Int
    private var startedWorkers = 0
    private var offered = 0
    private var filled: Set<SlotID> = []

    init(
        seed: UInt64, slots: Int, frames: Int, badFrames: Set<Int> = [], badSlots: Set<Int> = [], canLook: Bool = false
    ) {
        random = SplitMix64(seed: seed)
        farm = Farm(.make(.make(shard: .frame), workers: slots, frames: frames, seed: seed, time: .seconds(1e9)))
        (self.frames, self.badFrames, self.badSlots, self.canLook) = (frames, badFrames, badSlots, canLook)
    }

    var outcomes: [FrameID: FrameOutcome] { farm.outcomes }
    var retired: [Retirement] { farm.retired }
    var finished: StopReason?? { farm.finished }

    /// The largest number of steps: every frame has some tasks with some attempts.
    mutating func run() {
        farm.send(.tick)
        for _ in 0..<frames * 40 where farm.finished == nil { step() }
    }

    private mutating func step() {
        fillSlots()
        if farm.wanted > 0 { return offer() }
        guard let lease = farm.running.randomElement(using: &random), Int.random(in: 0..<8, using: &random) > 0 else {
            farm.send(.tick, at: farm.now + .seconds(1))
            return
        }
        // The worker of a retired slot leaves in the middle of its task.
        guard !farm.retired.contains(where: { $0.slot == lease.worker.slot }) else { return farm.die(lease, .byOrder) }
        let isLook = canLook && lease.task.kind == .probe
        let isBad =
            badSlots.contains(lease.worker.slot.number) && !isLook || badFrames.contains(lease.task.frame.number)
        isBad ? fail(lease) : farm.finish(lease)
    }

    /// Each slot has a worker until it is retired. A worker of a bad slot may die before it gets a task.
    private mutating func fillSlots() {
        let gone = Set(farm.retired.map(\.slot))
        for number in 1...farm.slots where !filled.contains(SlotID(number)) && !gone.contains(SlotID(number)) {
            startedWorkers += 1
            filled.insert(SlotID(number))
            farm.send(.workerReady(WorkerID(startedWorkers, slot: SlotID(number))))
        }
    }

    private mutating func offer() {
        let numbers = offered + 1..<min(frames, offered + farm.wanted) + 1
        offered = numbers.upperBound - 1
        let wanted = farm.wanted
        farm.wanted = 0
        if !numbers.isEmpty { farm.send(.frames(numbers.map { .make($0) }, wanted: wanted)) }
        if numbers.count < wanted { farm.send(.planEnded) }
    }

    private mutating func fail(_ lease: Lease) {
        let manners: [Death.Manner] = [.signal(11), .exited(1), .outOfMemory, .brokeProtocol("noise")]
        guard let manner = manners.randomElement(using: &random), Int.random(in: 0..<3, using: &random) > 0 else {
            return farm.fail(lease, .transient)
        }
        filled.remove(lease.worker.slot)
        farm.die(lease, manner)
    }
}
