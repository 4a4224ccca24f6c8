import Scheduling
import Shards

/// What the coordinator holds of frames and leases: the growth of this process with very many of them.
struct Weighing {
    private let frame: Double
    private let lease: Double
    private let engine: Double
    private static let count = 200_000

    init(_ options: Options) {
        (frame, lease, engine) = Self.weighFrames(options)
    }

    private static func weighFrames(_ options: Options) -> (Double, Double, Double) {
        var plan = SimulatedPlan(options)
        var scheduler = Scheduler.simulated(options, workers: count, endsLateWork: false)
        let orders = plan.next(count)
        var book = VirtualWorkers()
        var gathering = ShardBatcher(seconds: 60, cores: options.cores)
        let empty = memory()
        _ = scheduler.handle(.frames(orders, wanted: count), at: .start)
        let withFrames = memory()
        var leases: [Lease] = []
        leases.reserveCapacity(count)
        let reserved = memory()
        for event in book.open(to: count) {
            for case .start(let lease) in scheduler.handle(event, at: .start) { leases.append(lease) }
        }
        let withLeases = memory()
        for lease in leases {
            book.start(lease)
            gathering.add(lease, at: .start)
        }
        let all = memory()
        _ = (reserved, scheduler.progress().tilesDone)
        return (withFrames - empty, withLeases - reserved, all - withLeases)
    }

    /// In bytes, of each.
    private static func memory() -> Double { (Memory.megabytes("VmRSS") ?? 0) * 1e6 / Double(count) }

    var table: String {
        """
        an open frame            \(Int(frame)) bytes
        its lease                \(Int(lease)) bytes in the scheduler, \(Int(engine)) in the Slurm engine
        """
    }
}
