import Synchronization

/// Guarded memory that is used again, so that a call costs no system call. Any number of threads may use it at once.
package final class GuardedPool: Sendable {
    /// Sources and targets of one shape lie at other places of their pages: CPUs take a read for one of what was written
    /// just before when the last twelve bits of their addresses are the same, and wait.
    private static let distance = 2048

    // Mutex hands rows out to one user at a time; they come back when that one is done.
    private let idle = Mutex<[Pair]>([])

    /// A source and a target.
    package struct Pair: @unchecked Sendable {
        // Sendable: only `with` has it, from the moment when it is taken out of the pool until it is put back.
        package let source: GuardedRows
        package let target: GuardedRows
    }

    package init() {}

    /// Lends a source and a target, of whatever shape and content.
    package func with<Result>(_ body: (GuardedRows, GuardedRows) throws -> Result) throws -> Result {
        let pair =
            try idle.withLock { $0.popLast() }
            ?? Pair(source: GuardedRows(slack: Self.distance), target: GuardedRows())
        defer { idle.withLock { $0.append(pair) } }
        return try body(pair.source, pair.target)
    }
}
