import JobModel
import WorkerProtocol

/// Workers that start and end.
extension Scheduler {
    mutating func addReady(_ worker: WorkerID, at now: Timestamp) {
        // A second greeting changes nothing.
        guard roster[worker] == nil else { return }
        failedStarts = 0
        killedStarts = 0
        // The worker was starting when its slot was retired.
        let isRetired = slotFaults.retired.contains(worker.slot)
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

    /// A worker that exits by itself before it is ready will do so again. A killed one may not.
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

    /// Adds the death to the task's history. It counts as a crash only if the task itself may have caused it.
    private mutating func charge(_ lease: Lease, _ death: Death, plugin: String?) {
        let (id, kind) = (lease.task.frame, lease.task.kind)
        switch death.manner {
        case .killed, .elementLost: frames[id]?.histories[kind]?.noteKill(inside: plugin)
        case .signal, .exited, .outOfMemory, .byOrder, .silent, .brokeProtocol, .failedToStart, .elementFailed:
            frames[id]?.histories[kind]?.crashes += 1
        }
        if Self.mayBeOfTheSlot(death.manner, plugin: plugin) { noteFault(lease) }
    }

    /// The slot is not to blame for time limits of the manifest, for plugins, which are the same everywhere, or for
    /// kills from outside.
    private static func mayBeOfTheSlot(_ manner: Death.Manner, plugin: String?) -> Bool {
        switch manner {
        case .signal, .exited, .outOfMemory, .brokeProtocol: plugin == nil
        case .silent: true
        case .killed, .byOrder, .failedToStart, .elementLost, .elementFailed: false
        }
    }

    /// A plugin that crashes on several pictures would crash on all of them.
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
    /// The number of slots that may be used.
    var capacity: Int { policy.workers - slotFaults.retired.count }

    /// The number of slots that have a worker.
    var livingSlots: Int { slots - slotFaults.retired.count }

    /// Notes a death or a failure that the slot may have caused. From now on, the task goes to another slot if there is
    /// one.
    mutating func noteFault(_ lease: Lease) {
        slotFaults.fail(lease.task, in: lease.worker.slot)
    }

    mutating func noteSuccess(_ lease: Lease, _ receipt: TaskReceipt) {
        let slot = lease.worker.slot
        for other in slotFaults.succeed(lease.task, in: slot, rendered: receipt.readsPixels).sorted() {
            retireIfNeeded(other)
        }
    }

    /// Notes the death of a worker that was ready and idle.
    mutating func noteIdleDeath(of worker: WorkerID, _ manner: Death.Manner) {
        switch manner {
        case .signal, .exited, .outOfMemory, .silent, .brokeProtocol: break
        case .killed, .byOrder, .failedToStart, .elementLost, .elementFailed: return
        }
        slotFaults.countIdleDeath(in: worker.slot)
        retireIfNeeded(worker.slot)
    }

    var assignment: Assignment {
        Assignment(
            frames: frames, roster: roster, slotFaults: slotFaults,
            moreAreComing: livingSlots < capacity || roster.count < livingSlots)
    }

    private mutating func retireIfNeeded(_ slot: SlotID) {
        guard stopped == nil, let retirement = slotFaults.verdict(on: slot) else { return }
        guard capacity > 1 else { return stop(.lastSlot(retirement)) }
        slotFaults.retire(slot)
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

/// Decides which waiting task a worker may get.
struct Assignment {
    let frames: OpenFrames
    let roster: WorkerRoster
    let slotFaults: SlotFaults
    /// Another slot can be opened, or a slot is waiting for its next worker.
    let moreAreComing: Bool

    func suits(_ task: TaskID, _ worker: WorkerID) -> Bool { mayTake(task, worker) && !leavesToOthers(task, worker) }

    /// A worker never audits its own pixels.
    private func mayTake(_ task: TaskID, _ worker: WorkerID) -> Bool {
        switch task.kind {
        case .audit, .check: !(frames[task.frame]?.renderers.contains(worker) ?? false)
        case .compare, .probe, .frame, .canvas, .tile, .stitch: true
        }
    }

    /// A task that failed in this slot waits for another slot that can take it now or soon. Otherwise a failure of one
    /// slot would be taken for the picture's.
    private func leavesToOthers(_ task: TaskID, _ worker: WorkerID) -> Bool {
        let failed = slotFaults.slots(thatFailed: task)
        guard failed.contains(worker.slot) else { return false }
        return moreAreComing
            || roster.occupations.contains { other, occupation in
                if case .leaving = occupation { return false }
                return !failed.contains(other.slot) && mayTake(task, other)
            }
    }
}
