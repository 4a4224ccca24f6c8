/// The open frames, with an index of those that need scratch space, so that no event has to search all of them.
///
/// It is used like a dictionary. All changes of a frame's phase go through the subscript, which keeps the index
/// correct.
struct OpenFrames: Sendable {
    private var states: [FrameID: FrameState] = [:]
    private var waitingToTile = AscendingSet<FrameID>()
    /// The frames whose canvases are being filled or tiled.
    private var occupants: Set<FrameID> = []

    var count: Int { states.count }
    var isEmpty: Bool { states.isEmpty }
    var keys: Dictionary<FrameID, FrameState>.Keys { states.keys }
    var values: Dictionary<FrameID, FrameState>.Values { states.values }

    /// The lowest frame that waits to be tiled, if fewer than the allowed number of others are being tiled.
    func nextToTile(besides others: Int) -> FrameID? { occupants.count <= others ? waitingToTile.first : nil }

    /// The frames that are being tiled, in order.
    var tilings: [(frame: FrameID, tiling: Tiling)] {
        occupants.sorted().compactMap { id in
            if case .tiling(let tiling) = states[id]?.phase { (id, tiling) } else { nil }
        }
    }

    /// Compares the index with the frames, for tests.
    var isConsistent: Bool {
        waitingToTile.elements == states.keys.filter { scratch(of: $0) == .waiting }.sorted()
            && occupants == Set(states.keys.filter { scratch(of: $0) == .occupied })
    }

    /// Changes a frame in place: a frame of thousands of tiles is never copied.
    subscript(id: FrameID) -> FrameState? {
        get { states[id] }
        _modify {
            let before = scratch(of: id)
            defer { note(id, from: before, to: scratch(of: id)) }
            yield &states[id]
        }
    }

    mutating func removeValue(forKey id: FrameID) -> FrameState? {
        guard let state = states.removeValue(forKey: id) else { return nil }
        note(id, from: Scratch(state.phase), to: .none)
        return state
    }

    private enum Scratch {
        case none, waiting, occupied

        init(_ phase: FramePhase) {
            switch phase {
            case .waitingToTile, .waitingToAdopt: self = .waiting
            default: self = phase.occupiesScratch ? .occupied : .none
            }
        }
    }

    /// Reads the phase only, because this happens at every change.
    private func scratch(of id: FrameID) -> Scratch {
        states.index(forKey: id).map { Scratch(states.values[$0].phase) } ?? .none
    }

    private mutating func note(_ id: FrameID, from before: Scratch, to after: Scratch) {
        guard before != after else { return }
        switch before {
        case .none: break
        case .waiting: waitingToTile.remove(id)
        case .occupied: occupants.remove(id)
        }
        switch after {
        case .none: break
        case .waiting: waitingToTile.insert(id)
        case .occupied: occupants.insert(id)
        }
    }
}

/// A large value in memory of its own, which keeps its owner small. Very many owners are held and copied.
indirect enum Boxed<Value: Hashable & Sendable>: Hashable, Sendable {
    case of(Value)

    var value: Value {
        switch self {
        case .of(let value): value
        }
    }
}
