package import Queueing

/// A schedule or a watched folder, and how far it has come.
package struct StoredSchedule: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case cron, watch
    }

    package let name: String
    package let kind: Kind
    /// A JSON object: its times, and the job that it submits.
    package let spec: String
    package let isEnabled: Bool
    /// The time of its last decision, or of its creation.
    package let last: WallTime
    /// The job that it submitted last. Old jobs are removed, so it may not exist any more.
    package let lastJob: JobID?
    /// How many jobs it has submitted. The key of a watch's next job contains the next number.
    package let submitted: Int

    package init(
        name: String, kind: Kind, spec: String, isEnabled: Bool = true, last: WallTime, lastJob: JobID? = nil,
        submitted: Int = 0
    ) {
        self.name = name
        self.kind = kind
        self.spec = spec
        self.isEnabled = isEnabled
        self.last = last
        self.lastJob = lastJob
        self.submitted = submitted
    }
}

/// A schedule has come to a time. It is stored in the transaction of the job that it submits, so that no time is
/// submitted twice.
package struct ScheduleStep: Hashable, Sendable {
    package let name: String
    package let last: WallTime

    package init(name: String, last: WallTime) {
        self.name = name
        self.last = last
    }
}
