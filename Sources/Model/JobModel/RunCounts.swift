package import Catalogs

/// The results of a run as numbers. The database, `run.json` and `ended/` store it as JSON, and `--json` prints it.
package struct RunCounts: Hashable, Codable, Sendable {
    package var frames = 0
    /// Frames that had work.
    package var work = 0
    package var published = 0
    /// Their outputs are current.
    package var skipped = 0
    /// Frames without work of which some outputs are foreign or were edited.
    package var kept = 0
    /// Frames that failed in an earlier run, and have not changed.
    package var stillBroken = 0
    package var failed = 0
    /// Frames that were not tried before the run was stopped.
    package var left = 0
    package var seconds = 0.0
    package var megapixels = 0.0
    package var bytesWritten = 0
    /// The failed frames by cause; nil in records of older versions.
    package var failedByCause: [String: Int]?
    /// The kept frames by the reason; nil if there are none, and in records of older versions.
    package private(set) var keptByReason: [String: Int]?
    /// Messages about workers.
    package var notes: [String]?
    /// Set if the run rendered everything again.
    package var rerun: FullRerun?
    /// Nil if there was none, and in records of older versions.
    package var trouble: RunTrouble?
    /// What kept the workers of this machine from the rest of it, for all coordinators of the run. Nil if other machines may have
    /// done a part of the work, and in records of older versions.
    package var sandbox: SandboxReport?

    package init() {}

    /// The names are stored.
    private enum CodingKeys: String, CodingKey {
        case frames, work, published, skipped, kept, stillBroken, failed, left, seconds, megapixels, bytesWritten
        case failedByCause, keptByReason, notes, trouble, sandbox
        case rerun = "remaking"
    }

    /// The number of ended frames, except for left ones.
    package var concluded: Int { published + skipped + kept + stillBroken + failed }

    /// The number of frames that have not ended.
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

    /// Counts an ended frame.
    package mutating func add(_ result: FrameResult) {
        switch result {
        case .open: break
        case .published: published += 1
        case .skipped: skipped += 1
        case .kept(let reason):
            kept += 1
            keptByReason = (keptByReason ?? [:]).adding(1, to: reason)
        case .stillBroken: stillBroken += 1
        case .failed(let cause, _):
            failed += 1
            failedByCause?[cause, default: 0] += 1
        case .left: left += 1
        }
    }

    /// Adds the counts of another run. A sum does not have the other run's ``rerun``, ``trouble`` and ``sandbox``.
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
        for (reason, count) in (other.keptByReason ?? [:]).sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            sum.keptByReason = (sum.keptByReason ?? [:]).adding(count, to: reason)
        }
        if let notes = other.notes { sum.notes = (sum.notes ?? []) + notes }
    }
}

extension [String: Int] {
    /// Some reasons name another job or version, so there is no end of different ones.
    private static let mostReasons = 16
    private static let otherReasons = "other reasons"

    fileprivate func adding(_ count: Int, to reason: String) -> [String: Int] {
        var sums = self
        let isKnown = self[reason] != nil || self.count < Self.mostReasons
        sums[isKnown && !reason.isEmpty ? reason : Self.otherReasons, default: 0] += count
        return sums
    }
}

/// A run that renders everything again, by `--force` or `existing: overwrite`. Deadlines may divide it into several runs.
/// Each continues where the one before stopped.
package struct FullRerun: Hashable, Codable, Sendable {
    /// The frames that the command line chose. A run with other frames is another rerun.
    package let only: [String]
    package let limit: Int?
    package let list: String?

    package init(only: [String], limit: Int?, list: String?) {
        self.only = only
        self.limit = limit
        self.list = list
    }
}

/// The result of one frame of a run. The database and run folders store it, and reports show it.
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
    /// The reason of the first kept output.
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

        /// All kinds of ended frames, in the order of reports.
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
