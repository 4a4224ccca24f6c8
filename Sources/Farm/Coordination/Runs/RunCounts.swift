import FoundationEssentials
import JobStorage

/// What a run has done, in numbers. The database keeps it as JSON, `run.json` and `ended/` do, and `--json` prints it.
package struct RunCounts: Hashable, Codable, Sendable {
    package var frames = 0
    /// Frames that there was something to do with.
    package var work = 0
    package var published = 0
    package var skipped = 0
    package var kept = 0
    package var stillBroken = 0
    package var failed = 0
    package var left = 0
    package var seconds = 0.0
    package var megapixels = 0.0
    package var bytesWritten = 0
    /// Failed frames by their cause; nil in what older versions wrote.
    package var failedByCause: [String: Int]?
    /// What happened to workers, in words.
    package var notes: [String]?
    /// Set where everything was made again.
    package var rerun: FullRerun?

    package init() {}

    /// The names are stored.
    private enum CodingKeys: String, CodingKey {
        case frames, work, published, skipped, kept, stillBroken, failed, left, seconds, megapixels, bytesWritten
        case failedByCause, notes
        case rerun = "remaking"
    }

    /// - Parameters:
    ///   - work: frames that there was something to do with.
    ///   - notes: what happened to workers, in words.
    package init(_ summary: RunSummary, work: Int, notes: [String]) {
        self.work = work
        frames = summary.total
        published = summary.published
        skipped = summary.skipped
        kept = summary.kept
        stillBroken = summary.stillBroken.count
        failed = summary.failures.count
        left = summary.left
        seconds = summary.elapsed / .seconds(1)
        megapixels = summary.megapixels
        bytesWritten = summary.bytesWritten
        failedByCause = summary.failedByCause
        self.notes = notes
    }

    /// All zero for what another version of Penumbra wrote, or anybody else.
    package init(json: String) {
        let found = try? JSONDecoder().decode(RunCounts.self, from: Data(json.utf8))
        self = found.flatMap { $0.isPlausible ? $0 : nil } ?? RunCounts()
    }

    private var isPlausible: Bool {
        let counts =
            [frames, work, published, skipped, kept, stillBroken, failed, left] + (failedByCause ?? [:]).values
        return counts.allSatisfy(StoredNumbers.counts.contains) && (0...Int.max / 2).contains(bytesWritten)
            && [seconds, megapixels].allSatisfy { (0...1e12).contains($0) }
    }

    package var json: String {
        // Numbers alone, which JSON always can.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
