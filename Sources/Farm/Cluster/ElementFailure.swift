package import Scheduling

/// What an element of a job array came to that has left no result: by the cluster's word, which is all there is then.
package struct ElementFailure: Hashable, Sendable {
    /// A sentence's beginning, that names element and node: `element 12_3 on n2 ran out of time`.
    private let what: String
    /// Where to read on.
    private let log: String
    /// What it did may have brought it down; else it was ended from outside.
    private let isOwnFault: Bool

    /// - Parameters:
    ///   - element: as it was last seen; nil when the cluster knows it no more.
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
        guard case .ended(let ending) = element.condition else {
            return ("cannot be started (\(element.reason))", false)
        }
        return switch ending {
        case .outOfTime: ("ran out of time; give it more by 'time' or less work by 'shard_seconds' under 'slurm'", true)
        case .outOfMemory: ("ran out of memory; give it more by 'memory' under 'slurm'", true)
        case .nodeLost: ("was lost with its node", false)
        case .cancelled: ("was cancelled", false)
        case .preempted: ("had to make room for another job", false)
        case .done: ("ended, and its result does not show on the shared file system", false)
        case .failed(let words): (words, true)
        case .stopped(let words): (words, false)
        }
    }

    package var words: String { "\(what); see \(log)" }

    /// - Parameter hasBegun: the task was being done when the element ended.
    package func death(hasBegun: Bool) -> Death {
        Death(isOwnFault && hasBegun ? .elementFailed(words) : .elementLost(words))
    }
}
