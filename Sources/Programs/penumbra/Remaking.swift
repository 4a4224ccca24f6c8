import Coordination
import FoundationEssentials
import JobStorage

/// A run that makes everything again, by `--force` or `existing: overwrite`. With deadlines it comes in parts: each goes on
/// where the one before had to stop.
struct Remaking: Hashable, Codable {
    /// The frames that the command line chose. A run of others is another one.
    let only: [String]
    let limit: Int?
    let list: String?

    /// A part that nobody went on with for so long is forgotten, in nanoseconds: a new command means everything again.
    private static let memory: Int64 = 7 * 86_400 * 1_000_000_000

    /// When its first part began, in nanoseconds since 1970; nil unless the latest part left frames at its deadline.
    ///
    /// - Parameter runs: of the job, the latest first.
    func begin(in runs: [StoredRun], now: Int64) -> Int64? {
        var begin: Int64?
        for run in runs where RunCounts(json: run.counts).remaking == self {
            guard case .ended(let end, let code, _) = run.state else { continue }
            switch ExitStatus(rawValue: Int32(clamping: code)) {
            case .workLeft where (begin ?? now) - end < Self.memory: begin = run.started
            // Whoever ends it by hand, and what came to its end, leaves nothing to go on with.
            case .workLeft, .done, .someFailed, .interrupted: return begin
            // A full disk, a machine that was switched off: the next part goes on.
            default: continue
            }
        }
        return begin
    }
}
