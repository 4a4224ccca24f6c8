import WorkerProtocol

/// Rules that the scheduler's tables must obey between two events. Only tests check them.
extension Scheduler {
    /// Descriptions of all contradictions. Empty if there are none. Searches everything.
    package var contradictions: [String] {
        let waiting = ready.tasks + delayed.tasks
        let leased = leases.values.lazy.filter(isCurrent).map(\.task)
        return taskContradictions(waiting: waiting, leased: Array(leased))
            + frameContradictions(awaited: Set((waiting + leased).map(\.frame))) + workerContradictions
    }

    private func taskContradictions(waiting: [TaskID], leased: [TaskID]) -> [String] {
        var found: [String] = []
        for task in waiting where !frames.keys.contains(task.frame) {
            found.append("\(task.kind) waits, and its frame is over")
        }
        if Set(waiting + leased).count != waiting.count + leased.count {
            found.append("a task waits twice, or waits and is leased")
        }
        if !ready.isConsistent { found.append("the ready queue miscounts its frames") }
        return found
    }

    private func frameContradictions(awaited: Set<FrameID>) -> [String] {
        var found: [String] = []
        let isFull = holdsTiling || frames.nextToTile(besides: policy.tiledFrames - 1) == nil
        for id in frames.keys where !awaited.contains(id) {
            switch frames[id]?.phase {
            case .deciding: break
            case .waitingToTile where isFull, .waitingToAdopt where isFull: break
            default: found.append("nothing will ever end frame \(id.name)")
            }
        }
        if publishing.keys.contains(where: frames.keys.contains) { found.append("an open frame is being published") }
        if !frames.isConsistent { found.append("the index of open frames is wrong") }
        return found
    }

    private var workerContradictions: [String] {
        var found: [String] = []
        for lease in leases.values where roster.lease(of: lease.worker) != lease.id {
            found.append("lease \(lease.id.number) has no worker")
        }
        for (worker, occupation) in roster.occupations {
            if case .busy(let id) = occupation, leases[id]?.worker != worker {
                found.append("worker \(worker.number) is busy with nothing")
            }
        }
        if plugins.keys.contains(where: { leases[$0] == nil }) { found.append("a plugin runs without a lease") }
        if !roster.isConsistent { found.append("the index of idle workers is wrong") }
        if deadlines.count > 2 * policy.workers + 65 { found.append("ended leases pile up among the deadlines") }
        return found
    }
}
