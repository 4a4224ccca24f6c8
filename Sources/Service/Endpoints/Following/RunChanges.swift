package import Runs

/// What is new in a run, as data of an event.
package enum RunChange: Hashable, Sendable {
    case run(RunEvent)
    case frames(FramesEvent)
    case tiles(TilesEvent)
}

/// `{"run":"night-7","state":"running","live":{…}}`
package struct RunEvent: Hashable, Sendable, Encodable {
    package enum State: String, Hashable, Sendable, Encodable {
        case running, paused
        /// It has no coordinator any more.
        case ended
    }

    package let run: String
    package let state: State
    /// Without the tiles, which have events of their own.
    package let live: LiveRun?
}

/// `{"run":"night-7","counts":{"published":3,…},"changes":[[0,3,"p"]]}`
package struct FramesEvent: Hashable, Sendable, Encodable {
    /// Frames that follow each other in the map, and their new letter.
    package struct Change: Hashable, Sendable, Encodable {
        /// The place of the first letter in the map's `states`, from 0.
        package let first: Int
        package var count: Int
        package let letter: UInt8

        package func encode(to encoder: any Encoder) throws {
            var values = encoder.unkeyedContainer()
            try values.encode(first)
            try values.encode(count)
            try values.encode(String(decoding: [letter], as: UTF8.self))
        }
    }

    package let run: String
    /// How many frames have each state, by the words of ``FrameMap/Cell``.
    package let counts: [String: Int]
    /// Nil if the whole map is to be read again: it has other frames, or too much has changed.
    package let changes: [Change]?

    private enum CodingKeys: String, CodingKey { case run, counts, changes }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(run, forKey: .run)
        try values.encode(counts, forKey: .counts)
        // A null, so that nobody takes it for a change of nothing.
        try values.encode(changes, forKey: .changes)
    }
}

/// `{"run":"night-7","tiled":[{"frame":7,"page":0,"tiles":384,"columns":24,"done":"ff0…"}],"left":[[3,0]]}`
package struct TilesEvent: Hashable, Sendable, Encodable {
    package struct Frame: Hashable, Sendable, Encodable {
        package let frame: Int
        package let page: Int
        package let tiles: Int
        package let columns: Int
        /// As ``LiveRun/TiledFrame/done``. Nil if there are too many tiles for an event.
        package let done: String?
    }

    package let run: String
    package let tiled: [Frame]
    /// Frames and pages that are not being tiled any more.
    package let left: [[Int]]
}

/// Compares two looks at a run.
package struct RunDiffer: Sendable {
    private let run: String
    /// What was seen last; nil before the first look.
    private var map: FrameMap?
    private var live: LiveRun?

    package init(_ run: String) { self.run = run }

    /// An event is at most 64 KiB.
    package static let mostChanges = 2000
    package static let longestTiles = 8192
    package static let framesOfEvent = 4

    /// What is new since the last look.
    ///
    /// - Parameters:
    ///   - map: nil if it cannot be read now. Then the last one stays.
    ///   - live: the same.
    package mutating func look(at map: FrameMap?, _ live: LiveRun?) -> [RunChange] {
        var changes: [RunChange] = []
        if let live, live != self.live {
            var told = live
            told.tiled = []
            changes.append(.run(RunEvent(run: run, state: live.isPaused ? .paused : .running, live: told)))
            changes += tiles(of: live).map(RunChange.tiles)
            self.live = live
        }
        if let map, let event = frames(of: map) {
            changes.append(.frames(event))
            self.map = map
        }
        return changes
    }

    /// The last look, when the run has no coordinator any more. What it has done since the look before is told before its end.
    ///
    /// - Parameter map: the map that the run has left. Nil if it cannot be read: then it is to be read again.
    package mutating func end(at map: FrameMap?) -> [RunChange] {
        defer { if let map { self.map = map } }
        let frames =
            map.map(frames(of:))
            ?? self.map.map { FramesEvent(run: run, counts: Self.counts($0.letters(0..<$0.count)), changes: nil) }
        return (frames.map { [.frames($0)] } ?? []) + [.run(RunEvent(run: run, state: .ended, live: nil))]
    }

    private func frames(of map: FrameMap) -> FramesEvent? {
        guard map != self.map else { return nil }
        let letters = map.letters(0..<map.count)
        let counts = Self.counts(letters)
        guard let old = self.map, old.frames == map.frames else {
            return FramesEvent(run: run, counts: counts, changes: nil)
        }
        var changes: [FramesEvent.Change] = []
        for (offset, (before, now)) in zip(old.letters(0..<old.count), letters).enumerated() where before != now {
            if let last = changes.last, last.letter == now, last.first + last.count == offset {
                changes[changes.count - 1].count += 1
            } else {
                guard changes.count < Self.mostChanges else {
                    return FramesEvent(run: run, counts: counts, changes: nil)
                }
                changes.append(FramesEvent.Change(first: offset, count: 1, letter: now))
            }
        }
        return FramesEvent(run: run, counts: counts, changes: changes)
    }

    private static func counts(_ letters: ArraySlice<UInt8>) -> [String: Int] {
        var counts = [Int](repeating: 0, count: 256)
        for letter in letters { counts[Int(letter)] += 1 }
        return Dictionary(
            uniqueKeysWithValues: FrameMap.Cell.allCases.map { ($0.word, counts[Int($0.rawValue)]) })
    }

    private func tiles(of live: LiveRun) -> [TilesEvent] {
        let before = Dictionary((self.live?.tiled ?? []).map { ([$0.frame, $0.page], $0) }) { first, _ in first }
        let changed = live.tiled.filter { before[[$0.frame, $0.page]] != $0 }.map { frame in
            TilesEvent.Frame(
                frame: frame.frame, page: frame.page, tiles: frame.tiles, columns: frame.columns,
                done: frame.done.utf8.count <= Self.longestTiles ? frame.done : nil)
        }
        let present = Set(live.tiled.map { [$0.frame, $0.page] })
        let left = before.keys.filter { !present.contains($0) }.sorted { $0.lexicographicallyPrecedes($1) }
        guard !changed.isEmpty || !left.isEmpty else { return [] }
        let parts = stride(from: 0, to: changed.count, by: Self.framesOfEvent).map { start in
            Array(changed[start..<min(changed.count, start + Self.framesOfEvent)])
        }
        guard let first = parts.first else { return [TilesEvent(run: run, tiled: [], left: left)] }
        return [TilesEvent(run: run, tiled: first, left: left)]
            + parts.dropFirst().map { TilesEvent(run: run, tiled: $0, left: []) }
    }
}

extension FrameMap.Cell {
    /// The word of the API.
    var word: String {
        switch self {
        case .waiting: "waiting"
        case .running: "running"
        case .published: "published"
        case .skipped: "skipped"
        case .kept: "kept"
        case .stillBroken: "still_broken"
        case .failed: "failed"
        case .left: "left"
        }
    }
}
