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
