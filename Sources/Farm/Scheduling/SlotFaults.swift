/// The faults of worker slots.
///
/// A fault counts against a slot once the same task has succeeded in another slot, because then the picture was not to
/// blame. A task that fails everywhere is quarantined and counts against no slot. A slot in which the task succeeds later
/// is not to blame for it either. A worker that ends while idle counts at once, because no picture can be to blame. A
/// success of the slot clears its faults, unless the task only read a header.
struct SlotFaults: Sendable {
    /// This number of faults without a success between them retires a slot.
    static let faultLimit = 3

    private struct Record {
        /// Tasks that failed here and have not succeeded anywhere since.
        var open: Set<TaskID> = []
        /// Pictures that failed here and not elsewhere.
        var proven: Set<FrameID> = []
        var idleDeaths = 0

        var faults: Int { proven.count + idleDeaths }
    }

    private var records: [SlotID: Record] = [:]
    /// The slots in which each task failed. Most frames have none.
    private var failures: [FrameID: [TaskKind: Set<SlotID>]] = [:]
    private(set) var retired: Set<SlotID> = []

    /// The slots in which a task failed, possibly through the slot's fault, and has not succeeded since.
    func slots(thatFailed task: TaskID) -> Set<SlotID> {
        failures.isEmpty ? [] : failures[task.frame]?[task.kind] ?? []
    }

    mutating func fail(_ task: TaskID, in slot: SlotID) {
        records[slot, default: Record()].open.insert(task)
        failures[task.frame, default: [:]][task.kind, default: []].insert(slot)
    }

    mutating func countIdleDeath(in slot: SlotID) { records[slot, default: Record()].idleDeaths += 1 }

    /// Clears the faults of a slot that works.
    mutating func clear(_ slot: SlotID) {
        if !records.isEmpty { records[slot] = nil }
    }

    /// - Parameter rendered: False if only a header was read, or a digest taken.
    /// - Returns: The slots in which the task failed before.
    mutating func succeed(_ task: TaskID, in slot: SlotID, rendered: Bool) -> Set<SlotID> {
        if rendered { clear(slot) }
        guard !failures.isEmpty, let failed = failures[task.frame]?.removeValue(forKey: task.kind) else { return [] }
        if failures[task.frame]?.isEmpty == true { failures[task.frame] = nil }
        for other in failed where records[other]?.open.remove(task) != nil && other != slot {
            records[other]?.proven.insert(task.frame)
        }
        return failed
    }

    /// Forgets a frame whose tasks are never tried again.
    mutating func forget(_ frame: FrameID) {
        guard !failures.isEmpty, let failed = failures.removeValue(forKey: frame) else { return }
        for (kind, slots) in failed {
            for slot in slots { records[slot]?.open.remove(TaskID(frame, kind)) }
        }
    }

    /// Why a slot should be retired. Nil if it should not.
    func verdict(on slot: SlotID) -> Retirement? {
        guard let record = records[slot], record.faults >= Self.faultLimit, !retired.contains(slot) else { return nil }
        return Retirement(slot: slot, pictures: record.proven.count, idleDeaths: record.idleDeaths)
    }

    mutating func retire(_ slot: SlotID) {
        records[slot] = nil
        retired.insert(slot)
    }
}

/// A slot that this run does not use any more, and the deaths of its workers in order.
package struct Retirement: Hashable, Sendable {
    package let slot: SlotID
    /// The pictures that failed here and succeeded elsewhere.
    package let pictures: Int
    /// Workers that ended while idle.
    package let idleDeaths: Int

    package init(slot: SlotID, pictures: Int, idleDeaths: Int) {
        self.slot = slot
        self.pictures = pictures
        self.idleDeaths = idleDeaths
    }
}
