import Foundation
import Runs
import Testing
import TestSupport

@Suite struct LiveRunTests {
    private func live() -> LiveRun {
        LiveRun(
            time: 1_800_000_000_000_000_000, seconds: 10, frames: 8, done: 3, failed: 1, megapixels: 25,
            isPaused: false,
            workerLimit: 2, wanted: 9, leased: 2,
            running: [
                LiveRun.Task(
                    frame: 4, page: 0, kind: "tile", tile: 7, attempt: 1, worker: 12, slot: 2,
                    since: 1_800_000_000_000_000_000, file: nil)
            ], tilesDone: 2, tilesPlanned: 6, tiled: [.init(frame: 4, page: 0, tiles: 6, columns: 3, finished: [0, 5])])
    }

    /// What a reader sees of these bytes.
    private func read(_ bytes: [UInt8]) throws -> LiveRun? {
        let place = try TemporaryFolder()
        let run = RunFolder(state: place.path, name: "run-1")
        try FileManager.default.createDirectory(atPath: run.path, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: "\(run.path)/live"))
        return LiveRun(in: run)
    }

    @Test func `what a run is doing is read as it was written`() throws {
        #expect(try read(live().file) == live())
        #expect(LiveRun(in: RunFolder(state: "/nowhere", name: "run-1")) == nil)
    }

    @Test func `finished tiles are four to a digit, the first one in the highest bit`() {
        #expect(live().tiled.map(\.done) == ["84"])
        for tiles in [0, 1, 3, 4, 5, 8, 127] {
            let finished = Set((0..<tiles).filter { _ in Bool.random() })
            let frame = LiveRun.TiledFrame(
                frame: 1, page: 0, tiles: tiles, columns: 1, finished: finished.union([tiles]))
            #expect(frame.finished == finished)
        }
    }

    @Test func `finished tiles of a frame are a part of it, and the rest of the time is estimated`() {
        #expect(abs(live().fraction - (3 + 0.9 / 3) / 8) < 1e-12)
        #expect(live().secondsLeft == (10 * (1 - 0.4125) / 0.4125).rounded())
        #expect(live().megapixelsPerSecond == 2.5)
        var early = live()
        early.seconds = 0.1
        #expect(early.secondsLeft == nil && early.megapixelsPerSecond == nil)
        (early.frames, early.done, early.tilesPlanned) = (0, 0, 0)
        #expect(early.fraction == 1)
    }

    @Test func `numbers that no run has are not believed`() throws {
        let changes: [(inout LiveRun) -> Void] = [
            { $0.done = 9 }, { $0.failed = 4 }, { $0.frames = -1 }, { $0.seconds = -1 }, { $0.time = .max },
            { $0.tilesDone = 7 }, { $0.workerLimit = -1 }, { $0.running[0].since = .min }, { $0.running[0].tile = -1 },
            { $0.tiled[0].done = "8" }, { $0.tiled[0].done = "8x" }, { $0.tiled[0].done = "8f" },
            { $0.tiled[0].columns = -1 },
            { $0.wanted = .max },
        ]
        for (index, change) in changes.enumerated() {
            var live = live()
            change(&live)
            #expect(try read(live.file) == nil, "change \(index)")
        }
        let text = String(decoding: live().file, as: UTF8.self)
        #expect(try read(Array(text.replacing(#""version":1"#, with: #""version":2"#).utf8)) == nil)
        #expect(try read(Array(text.utf8.dropLast())) == nil)
    }
}
