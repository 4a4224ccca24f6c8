/// Which waiting task a worker may be given.
struct Assignment {
    let frames: OpenFrames
    let roster: WorkerRoster
    let slotBook: SlotBook
    /// Another slot may be opened, or one is without its worker for the moment.
    let moreAreComing: Bool

    func suits(_ task: TaskID, _ worker: WorkerID) -> Bool { mayTake(task, worker) && !leavesToOthers(task, worker) }

    /// Nobody audits pixels of his own.
    private func mayTake(_ task: TaskID, _ worker: WorkerID) -> Bool {
        switch task.kind {
        case .audit, .check: !(frames[task.frame]?.renderers.contains(worker) ?? false)
        case .compare, .probe, .frame, .canvas, .tile, .stitch: true
        }
    }

    /// A task that failed in this slot is for another one that can take it, now or soon: what one slot alone fails at
    /// must not be taken for the picture's fault.
    private func leavesToOthers(_ task: TaskID, _ worker: WorkerID) -> Bool {
        let failed = slotBook.slots(thatFailed: task)
        guard failed.contains(worker.slot) else { return false }
        return moreAreComing
            || roster.occupations.contains { other, occupation in
                if case .leaving = occupation { return false }
                return !failed.contains(other.slot) && mayTake(task, other)
            }
    }
}
