package import JobModel

extension FullRerun {
    /// A part that was not continued for so long is forgotten: a new command makes everything again. In nanoseconds.
    private static let memory: Int64 = 7 * 86_400 * 1_000_000_000

    /// When its first part began, in nanoseconds since 1970; nil unless the latest part left frames at its deadline.
    ///
    /// - Parameter runs: of the job, the latest first.
    package func begin(in runs: [RunRecord], now: Int64) -> Int64? {
        var begin: Int64?
        for run in runs where run.counts.rerun == self {
            guard case .ended(let end) = run.state else { continue }
            switch RunOutcome(number: end.exitCode) {
            case .workLeft where (begin ?? now) - end.time < Self.memory: begin = run.started
            // A run that ended, or that a person ended, leaves nothing to continue.
            case .workLeft, .done, .someFailed, .interrupted: return begin
            // After a full disk, or a machine that was switched off, the next part continues.
            default: continue
            }
        }
        return begin
    }
}
