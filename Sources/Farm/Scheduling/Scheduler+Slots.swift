import WorkerProtocol

/// Slots that fail where others do not.
extension Scheduler {
    /// Slots that may be used.
    var capacity: Int { policy.workers - slotBook.retired.count }

    /// Slots that a worker is kept running in.
    var livingSlots: Int { slots - slotBook.retired.count }

    /// A death or a failure that may have been the slot's fault. The task is passed over by it from now on, where
    /// another slot could have it.
    mutating func noteFault(_ lease: Lease) {
        slotBook.fail(lease.task, in: lease.worker.slot)
    }

    mutating func noteSuccess(_ lease: Lease) {
        for other in slotBook.succeed(lease.task, in: lease.worker.slot).sorted() { retireIfNeeded(other) }
    }

    /// Of a worker that was ready and had nothing to do.
    mutating func noteIdleDeath(of worker: WorkerID, _ manner: Death.Manner) {
        switch manner {
        case .signal, .exited, .outOfMemory, .silent, .brokeProtocol: break
        case .killed, .byOrder, .failedToStart, .elementLost, .elementFailed: return
        }
        slotBook.countIdleDeath(in: worker.slot)
        retireIfNeeded(worker.slot)
    }

    var assignment: Assignment {
        Assignment(
            frames: frames, roster: roster, slotBook: slotBook,
            moreAreComing: livingSlots < capacity || roster.count < livingSlots)
    }

    private mutating func retireIfNeeded(_ slot: SlotID) {
        guard stopped == nil, let retirement = slotBook.verdict(on: slot) else { return }
        guard capacity > 1 else { return stop(.lastSlot(retirement)) }
        slotBook.retire(slot)
        directives.append(.retire(retirement))
        for worker in roster.all where worker.slot == slot {
            switch roster[worker] {
            case .idle: roster[worker] = .leaving(nil, because: .retired)
            case .busy(let lease): roster[worker] = .leaving(lease, because: .retired)
            case .leaving, nil: break
            }
        }
    }
}
