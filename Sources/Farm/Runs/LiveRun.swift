import FoundationEssentials
import JobStorage
import SafeFiles

/// What a run is doing, for programs that show it: the file `live` in the run's folder, which its coordinator writes once a second.
/// It is a report, and decides nothing.
///
/// The names of properties are stored.
package struct LiveRun: Hashable, Sendable, Codable {
    /// A task that a worker has.
    package struct Task: Hashable, Sendable, Codable {
        /// The frame's input, from 1, and its page, from 0.
        package var frame: Int
        package var page: Int
        /// `probe`, `frame`, `canvas`, `tile` and so on.
        package var kind: String
        package var tile: Int?
        /// From 1.
        package var attempt: Int
        package var worker: Int
        package var slot: Int
        /// Since when, in nanoseconds since 1970.
        package var since: Int64
        /// The name of the frame's picture; nil for tasks that work on tiles or outputs.
        package var file: String?

        package init(
            frame: Int, page: Int, kind: String, tile: Int?, attempt: Int, worker: Int, slot: Int, since: Int64,
            file: String?
        ) {
            (self.frame, self.page, self.kind, self.tile, self.attempt) = (frame, page, kind, tile, attempt)
            (self.worker, self.slot, self.since, self.file) = (worker, slot, since, file)
        }
    }

    /// A frame that is being tiled.
    package struct TiledFrame: Hashable, Sendable, Codable {
        package var frame: Int
        package var page: Int
        package var tiles: Int
        /// How many tiles are in a row.
        package var columns: Int
        /// The finished tiles: hexadecimal digits with four tiles each, the first tile in the highest bit of the first digit.
        package var done: String

        package init(frame: Int, page: Int, tiles: Int, columns: Int, finished: Set<Int>) {
            (self.frame, self.page, self.tiles, self.columns) = (frame, page, tiles, columns)
            var digits = [UInt8](repeating: 0, count: (tiles + 3) / 4)
            for tile in finished where (0..<tiles).contains(tile) { digits[tile / 4] |= 8 >> UInt8(tile % 4) }
            done = digits.map { String($0, radix: 16) }.joined()
        }

        /// Nil if `done` has another number of tiles.
        package var finished: Set<Int>? {
            guard done.utf8.count == (tiles + 3) / 4 else { return nil }
            var finished: Set<Int> = []
            for (index, digit) in done.enumerated() {
                guard let bits = digit.hexDigitValue else { return nil }
                for bit in 0..<4 where bits & 8 >> bit != 0 { finished.insert(4 * index + bit) }
            }
            return finished.allSatisfy { $0 < tiles } ? finished : nil
        }
    }

    package private(set) var version = 1
    /// When it was written, in nanoseconds since 1970.
    package var time: Int64
    /// The time since this coordinator began the run, in seconds.
    package var seconds: Double
    package var frames: Int
    package var done: Int
    package var failed: Int
    /// The megapixels of published frames.
    package var megapixels: Double
    package var isPaused: Bool
    /// The most tasks at a time; nil for as many as there are workers.
    package var workerLimit: Int?
    /// The tasks that run, and those that could run now.
    package var wanted: Int
    /// How many tasks run.
    package var leased: Int
    /// The first 64 of them.
    package var running: [Task]
    /// Tiles done and planned, of all frames that are being tiled.
    package var tilesDone: Int
    package var tilesPlanned: Int
    package var tiled: [TiledFrame]

    package init(
        time: Int64, seconds: Double, frames: Int, done: Int, failed: Int, megapixels: Double, isPaused: Bool,
        workerLimit: Int?, wanted: Int, leased: Int, running: [Task], tilesDone: Int, tilesPlanned: Int,
        tiled: [TiledFrame]
    ) {
        (self.time, self.seconds, self.frames, self.done, self.failed) = (time, seconds, frames, done, failed)
        (self.megapixels, self.isPaused, self.workerLimit) = (megapixels, isPaused, workerLimit)
        (self.wanted, self.leased, self.running) = (wanted, leased, running)
        (self.tilesDone, self.tilesPlanned, self.tiled) = (tilesDone, tilesPlanned, tiled)
    }

    /// The part of the work that is done, from 0 to 1. Finished tiles count as a part of their frame.
    package var fraction: Double {
        guard frames > 0 else { return 1 }
        let partial = tilesPlanned > 0 ? Double(tilesDone) / Double(tilesPlanned) : 0
        return min(1, (Double(done) + 0.9 * partial) / Double(frames))
    }

    /// Nil while it is too early for an estimate.
    package var secondsLeft: Double? {
        fraction > 0.02 && seconds > 2 ? (seconds * (1 - fraction) / fraction).rounded() : nil
    }

    /// Nil while it is too early for an estimate.
    package var megapixelsPerSecond: Double? { megapixels > 0 && seconds > 0.5 ? megapixels / seconds : nil }
}

extension LiveRun {
    /// The largest file that is read, in bytes: pictures may have millions of tiles.
    private static let largestSize = 1 << 24

    package var file: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and finite numbers can always be encoded.
        return (try? encoder.encode(self)).map(Array.init) ?? []
    }

    /// Reads the file of a run. Nil if there is none, or if it is damaged or of a later version.
    package init?(in folder: RunFolder) {
        guard let bytes = SafeFolder.trustedContents("\(folder.path)/live", limit: Self.largestSize),
            let live = try? JSONDecoder().decode(LiveRun.self, from: Data(bytes)), live.isPlausible
        else { return nil }
        self = live
    }

    private var isPlausible: Bool {
        let counts = [frames, done, failed, wanted, leased, tilesDone, tilesPlanned, workerLimit ?? 0]
        return version == 1 && StoredNumbers.times.contains(time) && counts.allSatisfy(StoredNumbers.counts.contains)
            && [seconds, megapixels].allSatisfy(StoredNumbers.seconds.contains) && done <= frames && failed <= done
            && tilesDone <= tilesPlanned
            && running.allSatisfy { task in
                StoredNumbers.times.contains(task.since)
                    && [task.frame, task.page, task.tile ?? 0, task.attempt, task.worker, task.slot].allSatisfy(
                        StoredNumbers.counts.contains)
            }
            && tiled.allSatisfy { frame in
                [frame.frame, frame.page, frame.tiles, frame.columns].allSatisfy(StoredNumbers.counts.contains)
                    && frame.finished != nil
            }
    }
}
