/// The frames that are open, with an index of those that compete for scratch space, so that no event has to look
/// through all of them.
///
/// It is used like the dictionary that it holds. Whatever changes a frame's phase goes through the subscript, so the
/// index cannot miss it.
struct OpenFrames: Sendable {
    private var states: [FrameID: FrameState] = [:]
    private var waitingToTile = AscendingSet<FrameID>()
    /// How many frames' canvases are being filled or tiled.
    private var occupants = 0

    var count: Int { states.count }
    var isEmpty: Bool { states.isEmpty }
    var keys: Dictionary<FrameID, FrameState>.Keys { states.keys }
    var values: Dictionary<FrameID, FrameState>.Values { states.values }

    /// The lowest frame that waits to be tiled, when fewer others are than may be; else nil.
    func nextToTile(besides others: Int) -> FrameID? {
        occupants <= others ? waitingToTile.elements.first : nil
    }

    /// Compares the index with the frames; for tests.
    var isConsistent: Bool {
        waitingToTile.elements == states.keys.filter { Scratch(states[$0]) == .waiting }.sorted()
            && occupants == states.keys.count { Scratch(states[$0]) == .occupied }
    }

    /// Changes a frame in place: a frame of thousands of tiles is never copied.
    subscript(id: FrameID) -> FrameState? {
        get { states[id] }
        _modify {
            let before = Scratch(states[id])
            defer { note(id, from: before, to: Scratch(states[id])) }
            yield &states[id]
        }
    }

    mutating func removeValue(forKey id: FrameID) -> FrameState? {
        guard let state = states.removeValue(forKey: id) else { return nil }
        note(id, from: Scratch(state), to: .none)
        return state
    }

    private enum Scratch {
        case none, waiting, occupied

        init(_ state: FrameState?) {
            switch state?.phase {
            case .waitingToTile, .waitingToAdopt: self = .waiting
            case .some(let phase): self = phase.occupiesScratch ? .occupied : .none
            case nil: self = .none
            }
        }
    }

    private mutating func note(_ id: FrameID, from before: Scratch, to after: Scratch) {
        guard before != after else { return }
        switch before {
        case .none: break
        case .waiting: waitingToTile.remove(id)
        case .occupied: occupants -= 1
        }
        switch after {
        case .none: break
        case .waiting: waitingToTile.insert(id)
        case .occupied: occupants += 1
        }
    }
}
