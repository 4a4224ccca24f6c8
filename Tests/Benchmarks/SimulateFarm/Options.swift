import Cluster
import JobModel

/// What the command line asks for.
struct Options {
    /// Tasks of the plan; attempts that fail come on top.
    private(set) var tasks = 1_000_000
    private(set) var pictures = SimulatedPlan.Pictures.mixed
    /// Local worker processes; with `nodes` none.
    private(set) var workers = 1000
    /// Of a cluster; 0 for none.
    private(set) var nodes = 0
    /// Of a node, all of them an element's.
    private(set) var cores = 8
    /// Tasks that may be with the cluster at once.
    private(set) var away = ClusterEngine.mostTasks
    private(set) var seed: UInt64 = 1
    private(set) var verify = VerifyLevel.digest
    /// Weighs what is held of frames and leases, and simulates nothing.
    private(set) var weighs = false
    private(set) var bars = Bars()
    private(set) var printsJSON = false

    static let usage =
        "[--tasks N] [--pictures mixed|whole|tiled] [--workers N | --nodes N [--cores N] [--away N]] [--seed N] "
        + "[--verify digest|audit|full] [--require DECISIONS] [--megabytes N] [--weigh] [--json]"

    /// Nil for arguments that make no sense.
    init?(_ arguments: some Sequence<String>) {
        var rest = arguments.makeIterator()
        while let name = rest.next() {
            switch name {
            case "--json": printsJSON = true
            case "--weigh": weighs = true
            default: guard let value = rest.next(), take(name, value) else { return nil }
            }
        }
    }

    private mutating func take(_ name: String, _ value: String) -> Bool {
        switch name {
        case "--tasks": set(\.tasks, Self.count(value))
        case "--pictures": set(\.pictures, SimulatedPlan.Pictures(rawValue: value))
        case "--workers": set(\.workers, Self.count(value))
        case "--nodes": set(\.nodes, Self.count(value))
        case "--cores": set(\.cores, Self.count(value))
        case "--away": set(\.away, Self.count(value))
        case "--seed": set(\.seed, UInt64(value))
        case "--verify": set(\.verify, VerifyLevel(rawValue: value))
        case "--require": set(\.bars.decisions, Double(value).map(Optional.some))
        case "--megabytes": set(\.bars.megabytes, Double(value).map(Optional.some))
        default: false
        }
    }

    private static func count(_ text: String) -> Int? { Int(text).flatMap { $0 > 0 ? $0 : nil } }

    private mutating func set<Value>(_ option: WritableKeyPath<Options, Value>, _ value: Value?) -> Bool {
        guard let value else { return false }
        self[keyPath: option] = value
        return true
    }
}

/// What is good enough; nil for whatever comes.
struct Bars {
    /// The fewest decisions a second of processor time.
    var decisions: Double?
    /// The most memory, at its peak.
    var megabytes: Double?

    /// What was missed, in words.
    func missed(by figures: Figures) -> [String] {
        var missed: [String] = []
        if let decisions, figures.decisionsPerSecond < decisions {
            missed.append("\(Int(figures.decisionsPerSecond)) decisions a second, \(Int(decisions)) are required")
        }
        if let megabytes, figures.peakMegabytes > megabytes {
            missed.append("\(Int(figures.peakMegabytes)) MB at the peak, \(Int(megabytes)) are allowed")
        }
        return missed
    }
}
