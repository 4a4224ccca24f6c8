package import Queueing
import Synchronization

/// Lets few commands work at a time, and lets others wait for a short time.
package final class CommandPlaces: Sendable {
    /// After this time the answer is that the service is busy. The client may ask again.
    package static let longestWait = Duration.seconds(5)

    private struct State: Sendable {
        var turns = CommandTurns()
        /// Each is finished when its command may start.
        var gates: [CommandTurns.Ticket: AsyncStream<Never>.Continuation] = [:]

        mutating func begin(at now: Duration) {
            for ticket in turns.begin(at: now) { gates.removeValue(forKey: ticket)?.finish() }
        }

        mutating func remove(_ ticket: CommandTurns.Ticket, at now: Duration) {
            gates[ticket] = nil
            turns.remove(ticket)
            begin(at: now)
        }
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter now: a clock that only goes forward, unlike the time of day.
    package init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    /// Runs the body when it is the owner's turn.
    ///
    /// - Throws: ``FarmQueryError/busy`` if that takes too long, and the errors of the body.
    package func withPlace<Value: Sendable>(
        for owner: Owner, _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        let (gate, opener) = AsyncStream<Never>.makeStream()
        let ticket = try state.withLock { state throws(FarmQueryError) in
            let ticket = try state.turns.add(owner, at: now())
            state.gates[ticket] = opener
            state.begin(at: now())
            return ticket
        }
        defer { state.withLock { $0.remove(ticket, at: now()) } }
        if !isActive(ticket) { await wait(at: gate, opener) }
        try Task.checkCancellation()
        // The turn may have come at the end of the time.
        guard isActive(ticket) else { throw FarmQueryError.busy }
        return try await body()
    }

    private func isActive(_ ticket: CommandTurns.Ticket) -> Bool { state.withLock { $0.turns.isActive(ticket) } }

    /// Returns when the gate is open, when the time is over, or when the task is cancelled.
    private func wait(at gate: AsyncStream<Never>, _ opener: AsyncStream<Never>.Continuation) async {
        let limit = Task { [sleep] in
            try await sleep(Self.longestWait)
            opener.finish()
        }
        defer { limit.cancel() }
        for await _ in gate {}
    }
}
