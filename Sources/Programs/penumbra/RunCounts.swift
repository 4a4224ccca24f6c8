import Coordination
import FoundationEssentials
import JobStorage

/// What came of a run, as the database keeps it.
struct RunCounts: Hashable, Codable, Sendable {
    var frames = 0
    /// Frames that there was something to do with.
    var work = 0
    var published = 0
    var skipped = 0
    var kept = 0
    var stillBroken = 0
    var failed = 0
    var left = 0
    var seconds = 0.0
    var megapixels = 0.0
    var bytesWritten = 0
    /// Failed frames by their cause; nil in what older versions wrote.
    var failedByCause: [String: Int]?
    /// What happened to workers, in words.
    var notes: [String]?
    /// Set where everything was made again.
    var remaking: Remaking?

    init() {}

    init(_ summary: RunSummary, work: Int) {
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
        notes = SummaryText.notes(summary)
    }

    /// All zero for what another version of Penumbra wrote, or anybody else.
    init(json: String) {
        let found = try? JSONDecoder().decode(RunCounts.self, from: Data(json.utf8))
        self = found.flatMap { $0.isPlausible ? $0 : nil } ?? RunCounts()
    }

    private var isPlausible: Bool {
        let counts =
            [frames, work, published, skipped, kept, stillBroken, failed, left] + (failedByCause ?? [:]).values
        return counts.allSatisfy(StoredNumbers.counts.contains) && (0...Int.max / 2).contains(bytesWritten)
            && [seconds, megapixels].allSatisfy { (0...1e12).contains($0) }
    }

    var json: String {
        // Numbers alone, which JSON always can.
        (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}
