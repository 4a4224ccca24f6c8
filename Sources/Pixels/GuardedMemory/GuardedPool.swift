import Synchronization

/// Guarded memory that is used again, so that a call costs no system call. Any number of threads may use it at once.
package final class GuardedPool: Sendable {
    /// Sources and targets of one shape lie at other places of their pages: CPUs take a read for one of what was written
    /// just before when the last twelve bits of their addresses are the same, and wait.
    private static let distance = 2048

    // Mutex hands memory out to one user at a time; it comes back when that one is done.
    private let idle = Mutex<[Memory]>([])

    /// What one call works with.
    package struct Memory: @unchecked Sendable {
        // Sendable: only `with` has it, from the moment when it is taken out of the pool until it is put back.
        package let source: GuardedRows
        package let target: GuardedRows
        /// One row, for what a plugin says.
        package let text: GuardedRows

        fileprivate init() throws(GuardedRows.OutOfMemory) {
            source = try GuardedRows(slack: distance)
            target = try GuardedRows()
            text = try GuardedRows()
        }
    }

    package init() {}

    /// Lends memory, of whatever shape and content.
    package func with<Result>(_ body: (Memory) throws -> Result) throws -> Result {
        let memory = try idle.withLock { $0.popLast() } ?? Memory()
        defer { idle.withLock { $0.append(memory) } }
        return try body(memory)
    }
}
