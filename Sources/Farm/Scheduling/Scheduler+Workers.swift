import JobModel
import WorkerProtocol

/// Workers that come and go.
extension Scheduler {
    mutating func welcome(_ worker: WorkerID, at now: Timestamp) {
        // One that greets twice is what it was.
        guard roster[worker] == nil else { return }
        failedStarts = 0
        killedStarts = 0
        // One that was on its way when its slot was retired.
        let isRetired = slotBook.retired.contains(worker.slot)
        roster.add(worker, isRetired ? .leaving(nil, because: .retired) : .idle, at: now)
        if policy.endsLateWork { silences.add(worker, at: now + policy.silenceLimit) }
        silences.prune(downTo: roster.count) { roster[$0] != nil }
    }

    mutating func lose(_ worker: WorkerID, _ death: Death, at now: Timestamp) {
        let lease = roster.lease(of: worker).flatMap { leases.removeValue(forKey: $0) }
        let (wasReady, dismissal) = (roster[worker] != nil, roster.dismissal(of: worker))
        let death = death.ordered(by: dismissal)
        roster[worker] = nil
        if !wasReady { countFailedStart(death) }
        guard let lease else {
            if wasReady { noteIdleDeath(of: worker, death.manner) }
            return
        }
        directives.append(.ended(lease, .lost(death)))
        let plugin = plugins.removeValue(forKey: lease.id)
        worn.remove(lease.id)
        guard isCurrent(lease) else { return }
        guard stopped == nil else {
            conclude(lease.task.frame, .left)
            return
        }
        guard dismissal != .retired else { return enqueue(lease.task.frame, lease.task.kind) }
        charge(lease, death, plugin: plugin)
        if let plugin, !death.isFromOutside { blame(plugin, for: lease.task.frame) }
        guard stopped == nil else {
            conclude(lease.task.frame, .left)
            return
        }
        let history = frames[lease.task.frame]?.histories[lease.task.kind] ?? AttemptHistory()
        retry(lease.task, at: now) { FrameFailure(lease, death, plugin: plugin, history) }
    }

    /// A worker that ends by itself before it is ready will do so again; one that was killed may not.
    private mutating func countFailedStart(_ death: Death) {
        switch death.manner {
        case .failedToStart(let message), .brokeProtocol(let message): countFailedStart(message)
        case .signal(let signal): countFailedStart("it crashes with signal \(signal) before it is ready")
        case .exited(let code): countFailedStart("it leaves with exit code \(code) before it is ready")
        case .killed, .outOfMemory:
            killedStarts += 1
            if killedStarts >= policy.killedStartLimit {
                stop(.engine("every worker is killed before it is ready; is there memory enough for one?"))
            }
        case .byOrder, .silent, .elementLost, .elementFailed: break
        }
    }

    private mutating func countFailedStart(_ message: String) {
        failedStarts += 1
        if failedStarts >= policy.startLimit { stop(.engine(message)) }
    }

    /// Adds the death to the task's history. Only what the task itself may have caused counts as a crash.
    private mutating func charge(_ lease: Lease, _ death: Death, plugin: String?) {
        let (id, kind) = (lease.task.frame, lease.task.kind)
        switch death.manner {
        case .killed, .elementLost: frames[id]?.histories[kind]?.noteKill(inside: plugin)
        case .signal, .exited, .outOfMemory, .byOrder, .silent, .brokeProtocol, .failedToStart, .elementFailed:
            frames[id]?.histories[kind]?.crashes += 1
        }
        if Self.mayBeOfTheSlot(death.manner, plugin: plugin) { noteFault(lease) }
    }

    /// A time limit is the manifest's, a plugin is everywhere the same, and who kills from outside is none of the farm.
    private static func mayBeOfTheSlot(_ manner: Death.Manner, plugin: String?) -> Bool {
        switch manner {
        case .signal, .exited, .outOfMemory, .brokeProtocol: plugin == nil
        case .silent: true
        case .killed, .byOrder, .failedToStart, .elementLost, .elementFailed: false
        }
    }

    /// A plugin that faults on several pictures would do so on all of them.
    mutating func blame(_ plugin: String, for id: FrameID) {
        pluginFaults[plugin, default: []].insert(id)
        let pictures = pluginFaults[plugin]?.count ?? 0
        if pictures >= policy.pluginFaultLimit {
            stop(.pluginFault(plugin: plugin, pictures: pictures))
        }
    }
}

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
