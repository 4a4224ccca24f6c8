import Endpoints
import Runs
import Scheduling
import TestSupport
import Testing

/// What followers are told of a run. A follower that makes the changes that it is told of has what the run's files have.
@Suite struct RunDifferTests {
    private static let cells = FrameMap.Cell.allCases

    /// What somebody knows who reads the map when he is told to, and makes changes otherwise.
    private struct Follower {
        var letters: [UInt8] = []
        var tiles: [[Int]: LiveRun.TiledFrame] = [:]
        var reads = 0

        mutating func take(_ changes: [RunChange], _ map: FrameMap) {
            for change in changes {
                switch change {
                case .run: break
                case .frames(let event):
                    guard let changes = event.changes else {
                        letters = Array(map.letters(0..<map.count))
                        reads += 1
                        continue
                    }
                    for change in changes {
                        for index in change.first..<change.first + change.count { letters[index] = change.letter }
                    }
                case .tiles(let event):
                    for key in event.left { tiles[key] = nil }
                    for frame in event.tiled {
                        var tiled = LiveRun.TiledFrame(
                            frame: frame.frame, page: frame.page, tiles: frame.tiles, columns: frame.columns,
                            finished: [])
                        tiled.done = frame.done ?? ""
                        tiles[[frame.frame, frame.page]] = tiled
                    }
                }
            }
        }
    }

    static func live(done: Int = 0, tiled: [LiveRun.TiledFrame] = [], isPaused: Bool = false) -> LiveRun {
        LiveRun(
            time: 1, seconds: 1, frames: 10, done: done, failed: 0, megapixels: 0, isPaused: isPaused, workerLimit: nil,
            wanted: 0, leased: 0, running: [], tilesDone: 0, tilesPlanned: 0, tiled: tiled)
    }

    @Test(arguments: 0..<20)
    func `a follower that makes all changes knows what the files say`(seed: UInt64) {
        var random = TestSupport.SplitMix64(seed: seed)
        let frames = (1...Int.random(in: 1...60, using: &random)).map { FrameID($0) }
        var map = FrameMap(frames)
        var differ = RunDiffer("night")
        var follower = Follower()
        var tiled: [LiveRun.TiledFrame] = []
        for _ in 0..<50 {
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                _ = map.set(
                    frames.randomElement(using: &random) ?? frames[0],
                    Self.cells.randomElement(using: &random) ?? .failed)
            }
            if Bool.random(using: &random) {
                tiled = (0..<Int.random(in: 0...9, using: &random)).map { frame in
                    let finished = (0..<16).filter { _ in Bool.random(using: &random) }
                    return LiveRun.TiledFrame(frame: frame + 1, page: 0, tiles: 16, columns: 4, finished: Set(finished))
                }
            }
            let isReadable = Int.random(in: 0..<5, using: &random) > 0
            let live = Self.live(done: Int.random(in: 0...3, using: &random), tiled: tiled)
            let changes = differ.look(at: isReadable ? map : nil, isReadable ? live : nil)
            follower.take(changes, map)
            guard isReadable else {
                #expect(changes == [])
                continue
            }
            #expect(follower.letters == Array(map.letters(0..<map.count)))
            #expect(follower.tiles == Dictionary(uniqueKeysWithValues: tiled.map { ([$0.frame, $0.page], $0) }))
            #expect(differ.look(at: map, live) == [])
        }
        // The first time, the follower has nothing to change.
        #expect(follower.reads == 1)
    }

    @Test func `changes are ranges of frames, with the counts of all`() {
        var map = FrameMap((1...6).map { FrameID($0) })
        var differ = RunDiffer("night")
        _ = differ.look(at: map, nil)
        for number in 2...4 { _ = map.set(FrameID(number), .published) }
        _ = map.set(FrameID(6), .failed)
        guard case .frames(let event)? = differ.look(at: map, nil).first else {
            Issue.record("no event")
            return
        }
        #expect(event.changes?.map { [$0.first, $0.count, Int($0.letter)] } == [[1, 3, 112], [5, 1, 102]])
        #expect(event.counts["published"] == 3 && event.counts["failed"] == 1 && event.counts["waiting"] == 2)
    }

    @Test func `a map with other frames, or with too many changes, is to be read again`() {
        var differ = RunDiffer("night")
        _ = differ.look(at: FrameMap([FrameID(1)]), nil)
        func changes(_ changes: [RunChange]) -> [FramesEvent.Change]?? {
            guard case .frames(let event)? = changes.first else { return nil }
            return event.changes
        }
        #expect(changes(differ.look(at: FrameMap([FrameID(1), FrameID(2)]), nil)) == .some(nil))
        let count = 2 * RunDiffer.mostChanges + 2
        var map = FrameMap((1...count).map { FrameID($0) })
        _ = differ.look(at: map, nil)
        for number in stride(from: 1, through: count, by: 2) { _ = map.set(FrameID(number), .published) }
        #expect(changes(differ.look(at: map, nil)) == .some(nil))
    }

    @Test func `what a run did last is told before its end`() {
        var map = FrameMap((1...3).map { FrameID($0) })
        var differ = RunDiffer("night")
        _ = differ.look(at: map, nil)
        for number in 1...3 { _ = map.set(FrameID(number), .published) }
        let changes = differ.end(at: map)
        guard case .frames(let event)? = changes.first, case .run(let last)? = changes.last else {
            Issue.record("no event")
            return
        }
        #expect(event.changes?.map { [$0.first, $0.count, Int($0.letter)] } == [[0, 3, 112]])
        #expect(event.counts["published"] == 3)
        #expect(changes.count == 2 && last.state == .ended)
        // Nothing is told twice.
        #expect(differ.end(at: map) == [.run(last)])
    }

    @Test func `a map that cannot be read at the end is to be read again`() {
        var differ = RunDiffer("night")
        let ended = differ.end(at: nil)
        _ = differ.look(at: FrameMap([FrameID(1)]), nil)
        let changes = differ.end(at: nil)
        guard case .frames(let event)? = changes.first else {
            Issue.record("no event")
            return
        }
        #expect(event.changes == nil && event.counts["waiting"] == 1)
        #expect(changes.count == 2 && [changes[1]] == ended)
    }

    @Test func `a frame with too many tiles is told without them`() {
        let tiles = 4 * (RunDiffer.longestTiles + 1)
        var differ = RunDiffer("night")
        let huge = LiveRun.TiledFrame(frame: 1, page: 0, tiles: tiles, columns: 100, finished: [3])
        let events = differ.look(at: nil, Self.live(tiled: [huge])).compactMap { change -> TilesEvent? in
            if case .tiles(let event) = change { event } else { nil }
        }
        #expect(events.flatMap(\.tiled).map { [$0.frame, $0.tiles, $0.columns] } == [[1, tiles, 100]])
        #expect(events.flatMap(\.tiled).allSatisfy { $0.done == nil })
    }

    @Test func `what a run does is told without its tiles`() {
        var differ = RunDiffer("night")
        let live = Self.live(
            tiled: [LiveRun.TiledFrame(frame: 1, page: 0, tiles: 4, columns: 2, finished: [])], isPaused: true)
        guard case .run(let event)? = differ.look(at: nil, live).first else {
            Issue.record("no event")
            return
        }
        #expect(event.state == .paused)
        #expect(event.live?.tiled == [])
    }

    @Test func `events about frames are joined in their order`() throws {
        let parts = ["1", "2", "3"].map { FramesData.wrapped(Array(#"{"run":"\#($0)"}"#.utf8)) }
        let joined = FramesData.joined(parts)
        #expect(String(decoding: joined, as: UTF8.self) == #"{"runs":[{"run":"1"},{"run":"2"},{"run":"3"}]}"#)
        #expect(FramesData.joined([joined, parts[0]]).count > joined.count)
    }
}
