package import Scheduling

/// What an element of a job array came to that has left no result: by Slurm's word, which is all there is then.
package struct ElementFailure: Hashable, Sendable {
    /// A sentence's beginning, that names element and node: `element 12_3 on n2 ran out of time`.
    private let what: String
    /// Where to read on.
    private let log: String
    /// What it did may have brought it down; else it was ended from outside.
    private let isOwnFault: Bool

    /// - Parameters:
    ///   - element: as it was last seen; nil when Slurm knows it no more.
    ///   - name: of one that was never seen.
    package init(_ element: ArrayElement?, name: String, log: String) {
        let (what, isOwnFault) = element.map(Self.verdict) ?? ("is gone from the queue", false)
        self.what = "\(element?.name ?? name) \(what)"
        self.isOwnFault = isOwnFault
        self.log = log
    }

    /// One that is there and has long had to end.
    package init(overdue name: String, log: String) {
        (what, isOwnFault, self.log) = (
            "\(name) went on for longer than its tasks may take, and was cancelled", true, log
        )
    }

    private static func verdict(_ element: ArrayElement) -> (String, isOwnFault: Bool) {
        switch element.state {
        case "TIMEOUT", "DEADLINE":
            ("ran out of time; give it more by 'time' or less work by 'shard_seconds' under 'slurm'", true)
        case "OUT_OF_MEMORY": ("ran out of memory; give it more by 'memory' under 'slurm'", true)
        case "NODE_FAIL", "BOOT_FAIL": ("was lost with its node", false)
        case "CANCELLED": ("was cancelled", false)
        case "PREEMPTED", "REVOKED": ("had to make room for another job", false)
        case "COMPLETED": ("ended, and its result does not show on the shared file system", false)
        case "PENDING", "REQUEUE_HOLD": ("cannot be started (\(element.reason))", false)
        default: failure(element.status)
        }
    }

    private static func failure(_ status: Int) -> (String, isOwnFault: Bool) {
        // The code with which slurmstepd says that it could not open the output.
        if status == 4021 { return ("could not be started: its log folder does not show on the node", false) }
        let (code, signal) = (status >> 8, status & 0x7f)
        if signal == 9 { return ("was killed, perhaps for want of memory", true) }
        if signal == 15 || code == 143 { return ("was told to end", false) }
        return signal > 0 ? ("crashed with signal \(signal)", true) : ("left with exit code \(code)", true)
    }

    package var words: String { "\(what); see \(log)" }

    /// - Parameter hasBegun: the task was being done when the element ended.
    package func death(hasBegun: Bool) -> Death {
        Death(isOwnFault && hasBegun ? .elementFailed(words) : .elementLost(words))
    }
}
