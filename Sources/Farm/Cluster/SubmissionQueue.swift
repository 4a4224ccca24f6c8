package import Scheduling

/// The job arrays of one coordinator, as a pure value: one at a time is being submitted. What a site does not take, since the
/// user has as many jobs as he may, is offered again in halves, and a single element after a while.
package struct SubmissionQueue: Sendable {
    /// The names of all that were ever offered: the cluster may have any of them.
    package private(set) var names: Set<String> = []
    private var refused: [ArrayJob] = []
    private var arrays = 0
    private var isSubmitting = false
    private var nextOffer = Timestamp.start

    /// Between two offers of one element: those that are there end and make room.
    package static let pause = Duration.seconds(30)

    package init() {}

    package func isFree(at now: Timestamp) -> Bool { !isSubmitting && now >= nextOffer }

    /// What was refused comes first; then what `gather` has, which gets the number of its array.
    package mutating func next(at now: Timestamp, gather: (Int) -> ArrayJob?) -> ArrayJob? {
        guard isFree(at: now) else { return nil }
        if !refused.isEmpty { return offered(refused.removeFirst()) }
        guard let submission = gather(arrays + 1) else { return nil }
        arrays += 1
        return offered(submission)
    }

    private mutating func offered(_ submission: ArrayJob) -> ArrayJob {
        names.insert(submission.name)
        isSubmitting = true
        return submission
    }

    /// The cluster has answered for good.
    package mutating func settle() { isSubmitting = false }

    package mutating func giveBack(_ submission: ArrayJob, at now: Timestamp) {
        isSubmitting = false
        guard let (first, second) = submission.halves else {
            nextOffer = now + Self.pause
            return refused.insert(submission, at: 0)
        }
        refused.insert(contentsOf: [first, second], at: 0)
    }
}
