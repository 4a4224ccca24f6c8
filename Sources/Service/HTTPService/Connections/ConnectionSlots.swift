import Synchronization

/// Counts the connections of one listener.
final class ConnectionSlots: Sendable {
    private struct State {
        var taken = 0
        var refusing = 0
    }

    private let most: Int
    private let state = Mutex(State())
    /// Connections that are told that there are too many. Beyond these, connections are closed without a word.
    private static let mostRefusing = 64

    init(most: Int) { self.most = most }

    enum Answer {
        case taken
        case refuse
        case drop
    }

    func take() -> Answer {
        state.withLock { state in
            if state.taken < most {
                state.taken += 1
                return .taken
            }
            guard state.refusing < Self.mostRefusing else { return .drop }
            state.refusing += 1
            return .refuse
        }
    }

    func giveBack() { state.withLock { $0.taken -= 1 } }
    func refused() { state.withLock { $0.refusing -= 1 } }
}

/// The place of one connection among those of its listener. It is given back once, however often it is asked to.
final class ConnectionSlot: Sendable {
    private let slots: ConnectionSlots
    private let isTaken = Atomic(true)

    init(_ slots: ConnectionSlots) { self.slots = slots }

    func giveBack() { if isTaken.exchange(false, ordering: .relaxed) { slots.giveBack() } }
}
