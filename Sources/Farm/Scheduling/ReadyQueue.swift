import DequeModule

/// Tasks that only wait for a worker. Tasks of frames already begun come before new frames, so that few are open.
struct ReadyQueue: Hashable, Sendable {
    private var continuing: Deque<TaskID> = []
    private var opening: Deque<TaskID> = []
    /// How many tasks of a frame wait. Most frames end with none, and then nobody has to look for them.
    private var counts: [FrameID: Int] = [:]

    var isEmpty: Bool { continuing.isEmpty && opening.isEmpty }

    var count: Int { continuing.count + opening.count }

    /// In the order in which they are taken.
    var tasks: [TaskID] { Array(continuing) + Array(opening) }

    mutating func append(_ task: TaskID) {
        counts[task.frame, default: 0] += 1
        if task.kind == .probe { opening.append(task) } else { continuing.append(task) }
    }

    /// The first task that may run now, or nil.
    mutating func popFirst(where isAllowed: (TaskID) -> Bool) -> TaskID? {
        if let index = continuing.firstIndex(where: isAllowed) { return uncounted(continuing.remove(at: index)) }
        if let index = opening.firstIndex(where: isAllowed) { return uncounted(opening.remove(at: index)) }
        return nil
    }

    private mutating func uncounted(_ task: TaskID) -> TaskID {
        let left = (counts[task.frame] ?? 1) - 1
        counts[task.frame] = left == 0 ? nil : left
        return task
    }

    mutating func removeAll(of frame: FrameID) {
        guard counts.removeValue(forKey: frame) != nil else { return }
        continuing.removeAll { $0.frame == frame }
        opening.removeAll { $0.frame == frame }
    }

    /// Compares the counts with the tasks; for tests.
    var isConsistent: Bool { counts == Dictionary(tasks.map { ($0.frame, 1) }, uniquingKeysWith: +) }

    func contains(where condition: (TaskID) -> Bool) -> Bool {
        continuing.contains(where: condition) || opening.contains(where: condition)
    }
}

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
