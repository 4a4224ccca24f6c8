import JobModel

/// What the command line asks for.
struct Options {
    /// Tasks of the plan; attempts that fail come on top.
    private(set) var tasks = 1_000_000
    private(set) var workers = 1000
    private(set) var seed: UInt64 = 1
    private(set) var verify = VerifyLevel.digest
    /// The fewest completions a second that are good enough.
    private(set) var required: Double?
    private(set) var printsJSON = false

    static let usage =
        "[--tasks N] [--workers N] [--seed N] [--verify digest|audit|full] [--require N] [--json]"

    /// Nil for arguments that make no sense.
    init?(_ arguments: some Sequence<String>) {
        var rest = arguments.makeIterator()
        while let name = rest.next() {
            if name == "--json" {
                printsJSON = true
            } else {
                guard let value = rest.next(), take(name, value) else { return nil }
            }
        }
    }

    private mutating func take(_ name: String, _ value: String) -> Bool {
        switch name {
        case "--tasks": set(\.tasks, Int(value).flatMap { $0 > 0 ? $0 : nil })
        case "--workers": set(\.workers, Int(value).flatMap { $0 > 0 ? $0 : nil })
        case "--seed": set(\.seed, UInt64(value))
        case "--verify": set(\.verify, VerifyLevel(rawValue: value))
        case "--require": set(\.required, Double(value).map(Optional.some))
        default: false
        }
    }

    private mutating func set<Value>(_ option: WritableKeyPath<Options, Value>, _ value: Value?) -> Bool {
        guard let value else { return false }
        self[keyPath: option] = value
        return true
    }
}
