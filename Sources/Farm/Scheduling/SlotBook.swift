/// What worker slots have to answer for.
///
/// A fault counts against a slot once the same task has succeeded in another one: then it was not the picture. What
/// fails everywhere is quarantined and counts against nobody. A worker that ends while it has nothing to do cannot
/// blame a picture, and counts at once. A success of the slot wipes everything out, unless it was a mere look at a file.
struct SlotBook: Sendable {
    /// So many faults without a success between them retire a slot.
    static let faultLimit = 3

    private struct Record {
        /// Failed here, and since then neither here nor elsewhere done.
        var open: Set<TaskID> = []
        /// Pictures that failed here and not elsewhere.
        var proven: Set<FrameID> = []
        var idleDeaths = 0

        var faults: Int { proven.count + idleDeaths }
    }

    private var records: [SlotID: Record] = [:]
    /// Where each task failed before; most frames have none that does.
    private var failures: [FrameID: [TaskKind: Set<SlotID>]] = [:]
    private(set) var retired: Set<SlotID> = []

    /// The slots in which a task failed, in a way that may be the slots' fault, and was not done since.
    func slots(thatFailed task: TaskID) -> Set<SlotID> {
        failures.isEmpty ? [] : failures[task.frame]?[task.kind] ?? []
    }

    mutating func fail(_ task: TaskID, in slot: SlotID) {
        records[slot, default: Record()].open.insert(task)
        failures[task.frame, default: [:]][task.kind, default: []].insert(slot)
    }

    mutating func countIdleDeath(in slot: SlotID) { records[slot, default: Record()].idleDeaths += 1 }

    /// The slot can do something.
    mutating func clear(_ slot: SlotID) {
        if !records.isEmpty { records[slot] = nil }
    }

    /// - Returns: the slots in which the task failed before.
    mutating func succeed(_ task: TaskID, in slot: SlotID) -> Set<SlotID> {
        if task.kind != .probe, task.kind != .compare { clear(slot) }
        guard !failures.isEmpty, let failed = failures[task.frame]?.removeValue(forKey: task.kind) else { return [] }
        if failures[task.frame]?.isEmpty == true { failures[task.frame] = nil }
        for other in failed where records[other]?.open.remove(task) != nil {
            records[other]?.proven.insert(task.frame)
        }
        return failed
    }

    /// Nobody will ever try its tasks again.
    mutating func forget(_ frame: FrameID) {
        guard !failures.isEmpty, let failed = failures.removeValue(forKey: frame) else { return }
        for (kind, slots) in failed {
            for slot in slots { records[slot]?.open.remove(TaskID(frame, kind)) }
        }
    }

    /// Why a slot ought to be retired; nil when it need not be.
    func verdict(on slot: SlotID) -> Retirement? {
        guard let record = records[slot], record.faults >= Self.faultLimit, !retired.contains(slot) else { return nil }
        return Retirement(slot: slot, pictures: record.proven.count, idleDeaths: record.idleDeaths)
    }

    mutating func retire(_ slot: SlotID) {
        records[slot] = nil
        retired.insert(slot)
    }
}

/// A slot that is used no more in this run, and what its workers did one after the other.
package struct Retirement: Hashable, Sendable {
    package let slot: SlotID
    /// That they failed on, and that others did not fail on.
    package let pictures: Int
    /// Workers that ended while they had nothing to do.
    package let idleDeaths: Int

    package init(slot: SlotID, pictures: Int, idleDeaths: Int) {
        self.slot = slot
        self.pictures = pictures
        self.idleDeaths = idleDeaths
    }
}
