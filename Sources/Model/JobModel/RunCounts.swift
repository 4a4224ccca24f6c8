/// What a run has done, in numbers. The database, `run.json` and `ended/` store it as JSON, and `--json` prints it.
package struct RunCounts: Hashable, Codable, Sendable {
    package var frames = 0
    /// Frames that there was something to do with.
    package var work = 0
    package var published = 0
    /// Their outputs are current.
    package var skipped = 0
    /// Some of their outputs are not Penumbra's, or were edited, and nothing was made.
    package var kept = 0
    /// Failed in an earlier run, and not changed since.
    package var stillBroken = 0
    package var failed = 0
    /// Not tried before the run was stopped.
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

    /// Frames that have ended, but for those that were left.
    package var concluded: Int { published + skipped + kept + stillBroken + failed }

    /// Frames whose end is not known yet.
    package var open: Int { frames - concluded - left }

    package subscript(_ kind: FrameResult.Kind) -> Int {
        switch kind {
        case .open: open
        case .published: published
        case .skipped: skipped
        case .kept: kept
        case .failed: failed
        case .stillBroken: stillBroken
        case .left: left
        }
    }

    /// Counts a frame that has ended.
    package mutating func add(_ result: FrameResult) {
        switch result {
        case .open: break
        case .published: published += 1
        case .skipped: skipped += 1
        case .kept: kept += 1
        case .stillBroken: stillBroken += 1
        case .failed(let cause, _):
            failed += 1
            failedByCause?[cause, default: 0] += 1
        case .left: left += 1
        }
    }

    /// Adds what another run has done. A sum has no ``rerun`` of the other run.
    package static func += (sum: inout RunCounts, other: RunCounts) {
        sum.frames += other.frames
        sum.work += other.work
        sum.published += other.published
        sum.skipped += other.skipped
        sum.kept += other.kept
        sum.stillBroken += other.stillBroken
        sum.failed += other.failed
        sum.left += other.left
        sum.seconds += other.seconds
        sum.megapixels += other.megapixels
        sum.bytesWritten += other.bytesWritten
        if let causes = other.failedByCause {
            sum.failedByCause = (sum.failedByCause ?? [:]).merging(causes, uniquingKeysWith: +)
        }
        if let notes = other.notes { sum.notes = (sum.notes ?? []) + notes }
    }
}

/// A run that makes everything again, by `--force` or `existing: overwrite`. Deadlines may divide it into several runs: each
/// continues where the one before had to stop.
package struct FullRerun: Hashable, Codable, Sendable {
    /// The frames that the command line chose. A run of others is another one.
    package let only: [String]
    package let limit: Int?
    package let list: String?

    package init(only: [String], limit: Int?, list: String?) {
        self.only = only
        self.limit = limit
        self.list = list
    }
}

/// What became of one frame of a run. The database and run folders store it, and reports show it.
///
///     open ─► published      all its outputs are in their folders
///       ├───► skipped        nothing was to be made
///       ├───► kept           nothing was made, because some outputs are not Penumbra's, or were edited
///       ├───► stillBroken    it failed in an earlier run, and was not tried again
///       ├───► failed         for a named cause
///       └───► left           the run ended before the frame did
package enum FrameResult: Hashable, Sendable, Codable {
    case open
    case published
    /// The reason is not stored.
    case skipped(reason: String? = nil)
    /// The reason is that of the first output that is kept.
    case kept(reason: String)
    /// `since` counts seconds since 1970.
    case stillBroken(since: Int, message: String)
    case failed(cause: String, message: String)
    case left

    /// A result without its details. Raw values are stored, and are words of JSON lines and metrics.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case open
        case published
        case skipped
        case kept
        case failed
        case stillBroken = "still_broken"
        case left

        /// All kinds of frames that have ended, in the order of reports.
        package static let ended = allCases.filter { $0 != .open }
    }

    package var kind: Kind {
        switch self {
        case .open: .open
        case .published: .published
        case .skipped: .skipped
        case .kept: .kept
        case .stillBroken: .stillBroken
        case .failed: .failed
        case .left: .left
        }
    }

    /// The names are stored.
    private enum CodingKeys: String, CodingKey {
        case open, published, skipped, kept, stillBroken, failed, left
    }
}
