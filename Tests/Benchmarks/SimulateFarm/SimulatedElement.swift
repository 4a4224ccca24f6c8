import Cluster
import Scheduling

/// An element of a job array on paper.
struct SimulatedElement {
    enum Condition { case waiting, running, lost }

    let job: String
    let index: Int
    let submission: String
    let leases: [Lease]
    var condition = Condition.waiting
    /// Its node will die.
    var isLost = false

    /// As a batch system has it.
    var row: ArrayElement {
        switch condition {
        case .waiting: ArrayElement(job: job, index: index, of: submission, .waiting)
        case .running: ArrayElement(job: job, index: index, of: submission, .running, node: "n1")
        case .lost: ArrayElement(job: job, index: index, of: submission, .ended(.nodeLost), node: "n1")
        }
    }

    /// What was done when its node died, and what was not.
    var parts: (done: ArraySlice<Lease>, rest: ArraySlice<Lease>) {
        (leases.prefix(leases.count / 2), leases.dropFirst(leases.count / 2))
    }
}
