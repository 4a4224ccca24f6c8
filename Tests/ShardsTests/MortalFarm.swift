import Scheduling
import Shards
import WorkerProtocol

/// An element's two workers, which die when it pleases them: before they are ready, with an order on its way to them, with a
/// report on its way from them. They speak before they greet, and greet again, too. Time stands still, so that what waits for a limit waits for ever.
struct MortalFarm {
    private var choice: SplitMix64
    private var desk = ShardState(
        (1...40).map {
            Shard.Task(lease: LeaseID($0), timeLimit: .seconds(60), spec: .compare(DigestTask(files: [])))
        }, workers: 2, silence: .seconds(30))
    /// The living processes that are ready, and their tasks.
    private var living: [WorkerID: LeaseID?] = [:]
    private var starting: [WorkerID] = []
    /// Events that the state has not handled yet.
    private var coming: [Event] = []
    private var latest = 0
    private(set) var ended: Set<Int> = []
    /// A living worker had begun the task.
    private(set) var hadOneTwice = false

    init(seed: UInt64) { choice = SplitMix64(seed: seed) }

    mutating func run() {
        for slot in 1...2 { enlist(in: SlotID(slot)) }
        for _ in 0..<20_000 where !desk.isDone { step() }
    }

    private mutating func enlist(in slot: SlotID) {
        latest += 1
        starting.append(WorkerID(latest, slot: slot))
    }

    private mutating func step() {
        switch choice.next() % 12 {
        case 0: die()
        case 1...3: finish()
        case 4, 5: becomeReady()
        case 6: greetAgain()
        case 7: speakBeforeGreeting()
        default: deliver()
        }
    }

    private mutating func die() {
        guard let worker = living.keys.sorted().randomElement(using: &choice) else { return }
        living[worker] = nil
        coming.append(.workerLost(worker, Death(.killed)))
        enlist(in: worker.slot)
    }

    private mutating func finish() {
        let busy = living.keys.sorted().filter { living[$0].flatMap(\.self) != nil }
        guard let worker = busy.randomElement(using: &choice), let lease = living[worker].flatMap(\.self) else {
            return
        }
        living[worker] = .some(nil)
        coming.append(.report(worker, .finished(lease, .compare([]))))
    }

    private mutating func becomeReady() {
        guard !starting.isEmpty else { return }
        let worker = starting.removeFirst()
        if choice.next() % 8 == 0 {
            coming.append(.workerLost(worker, Death(.failedToStart("killed"))))
            enlist(in: worker.slot)
        } else {
            living[worker] = .some(nil)
            coming.append(.workerReady(worker))
        }
    }

    private mutating func greetAgain() {
        guard let worker = living.keys.sorted().randomElement(using: &choice) else { return }
        coming.append(.workerReady(worker))
    }

    private mutating func speakBeforeGreeting() {
        guard let worker = starting.first else { return }
        coming.append(.report(worker, .alive))
    }

    private mutating func deliver() {
        guard !coming.isEmpty else { return }
        for action in desk.handle(coming.removeFirst(), at: .start) {
            switch action {
            case .start(let lease):
                hadOneTwice = hadOneTwice || living.values.contains(lease.id)
                // Nobody reads an order to a dead worker.
                if living[lease.worker] != nil { living[lease.worker] = lease.id }
            case .ended(let end): ended.insert(end.lease.number)
            case .kill, .recycle, .begun, .abandon: break
            }
        }
    }
}
