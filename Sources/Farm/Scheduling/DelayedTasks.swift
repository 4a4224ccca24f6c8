/// Tasks that failed and wait for some time before they are tried again.
struct DelayedTasks: Sendable {
    private var times: [FrameID: [TaskKind: Timestamp]] = [:]
    private var agenda = DeadlineQueue<TaskID>()

    /// In no order.
    var tasks: [TaskID] { times.flatMap { frame, kinds in kinds.keys.map { TaskID(frame, $0) } } }

    mutating func add(_ task: TaskID, until time: Timestamp) {
        times[task.frame, default: [:]][task.kind] = time
        agenda.add(task, at: time)
    }

    mutating func removeAll(of frame: FrameID) { times[frame] = nil }

    /// What has waited long enough, lowest frames first, and of one frame what fell due first.
    mutating func takeDue(at now: Timestamp) -> [TaskID] {
        var due: [TaskID] = []
        while let task = agenda.popDue(at: now) {
            // What was removed, and delayed again for longer, comes up twice.
            guard let time = times[task.frame]?[task.kind], time <= now else { continue }
            times[task.frame]?[task.kind] = nil
            if times[task.frame]?.isEmpty == true { times[task.frame] = nil }
            due.append(task)
        }
        guard due.count > 1 else { return due }
        return due.enumerated()
            .sorted { ($0.element.frame, $0.offset) < ($1.element.frame, $1.offset) }
            .map(\.element)
    }
}
