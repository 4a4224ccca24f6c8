package import Queueing

/// Decides which owner's command starts next. Owners take turns.
///
/// Many commands of one owner must not keep others waiting. So an owner has at most one command at work while another owner
/// waits, or has asked shortly before.
package struct CommandTurns: Sendable {
    /// A command that is at work or waits.
    package struct Ticket: Hashable, Sendable {
        let number: Int
    }

    private struct Entry: Sendable {
        let ticket: Ticket
        let owner: Owner
    }

    private struct Record: Sendable {
        /// When the owner has asked last.
        var asked: Duration
        /// The number of the owner's latest command that has started. Zero before the first one.
        var turn = 0
    }

    /// The most commands at work.
    package static let places = 2
    /// The most commands that wait.
    package static let mostWaiting = 32
    /// The most commands of one owner that wait.
    package static let mostWaitingOfOne = 8
    /// A place is kept for an owner for so long after the latest request.
    package static let memory = Duration.seconds(30)

    private var active: [Entry] = []
    /// The oldest first.
    private var waiting: [Entry] = []
    private var records: [Owner: Record] = [:]
    private var latestTicket = 0
    private var latestTurn = 0

    package init() {}

    /// Adds a command, which waits until ``begin(at:)`` starts it.
    ///
    /// - Throws: ``FarmQueryError/busy`` if too many commands wait.
    package mutating func add(_ owner: Owner, at now: Duration) throws(FarmQueryError) -> Ticket {
        let present = Set((active + waiting).map(\.owner))
        records = records.filter { $0.value.asked + Self.memory > now || present.contains($0.key) }
        records[owner, default: Record(asked: now)].asked = now
        guard waiting.count < Self.mostWaiting, waiting.count(where: { $0.owner == owner }) < Self.mostWaitingOfOne
        else { throw .busy }
        latestTicket += 1
        let ticket = Ticket(number: latestTicket)
        waiting.append(Entry(ticket: ticket, owner: owner))
        return ticket
    }

    /// Starts the commands whose turn it is.
    package mutating func begin(at now: Duration) -> [Ticket] {
        var begun: [Ticket] = []
        while let index = next(at: now) {
            let entry = waiting.remove(at: index)
            latestTurn += 1
            records[entry.owner]?.turn = latestTurn
            active.append(entry)
            begun.append(entry.ticket)
        }
        return begun
    }

    /// The oldest command of the owner whose latest turn is the longest time ago.
    private func next(at now: Duration) -> Int? {
        guard active.count < Self.places else { return nil }
        let ready = waiting.indices.filter { mayBegin(waiting[$0].owner, at: now) }
        return ready.min { turn(of: $0) < turn(of: $1) }
    }

    private func turn(of index: Int) -> Int { records[waiting[index].owner]?.turn ?? 0 }

    private func mayBegin(_ owner: Owner, at now: Duration) -> Bool {
        guard active.contains(where: { $0.owner == owner }) else { return true }
        return !waiting.contains { $0.owner != owner }
            && !records.contains { $0.key != owner && $0.value.asked + Self.memory > now }
    }

    package func isActive(_ ticket: Ticket) -> Bool { active.contains { $0.ticket == ticket } }

    /// The command has ended, or its client does not wait any more.
    package mutating func remove(_ ticket: Ticket) {
        active.removeAll { $0.ticket == ticket }
        waiting.removeAll { $0.ticket == ticket }
    }
}
