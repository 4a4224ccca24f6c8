import DequeModule

/// Tasks that wait for a worker. Tasks of frames that have begun come before new frames, so that few frames are open.
struct ReadyQueue: Hashable, Sendable {
    private var continuing: Deque<TaskID> = []
    private var opening: Deque<TaskID> = []
    /// The number of waiting tasks of each frame. Most frames end with none, and then no search is needed.
    private var counts: [FrameID: Int] = [:]

    var isEmpty: Bool { continuing.isEmpty && opening.isEmpty }

    var count: Int { continuing.count + opening.count }

    /// In the order in which they are taken.
    var tasks: [TaskID] { Array(continuing) + Array(opening) }

    /// - Parameter begins: Whether the task is the first attempt at a new frame. Later attempts at a probe wait there, too.
    mutating func append(_ task: TaskID, begins: Bool = false) {
        counts[task.frame, default: 0] += 1
        if task.kind == .probe || begins { opening.append(task) } else { continuing.append(task) }
    }

    /// The first task that may run now. Nil if there is none.
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

    /// Compares the counts with the tasks, for tests.
    var isConsistent: Bool { counts == Dictionary(tasks.map { ($0.frame, 1) }, uniquingKeysWith: +) }

    func contains(where condition: (TaskID) -> Bool) -> Bool {
        continuing.contains(where: condition) || opening.contains(where: condition)
    }
}

/// Failed tasks that wait before they are tried again.
struct DelayedTasks: Sendable {
    private var times: [FrameID: [TaskKind: Timestamp]] = [:]
    private var queue = DeadlineQueue<TaskID>()

    /// In no order.
    var tasks: [TaskID] { times.flatMap { frame, kinds in kinds.keys.map { TaskID(frame, $0) } } }

    mutating func add(_ task: TaskID, until time: Timestamp) {
        times[task.frame, default: [:]][task.kind] = time
        queue.add(task, at: time)
    }

    mutating func removeAll(of frame: FrameID) { times[frame] = nil }

    /// The tasks whose time has come: lowest frames first, and in a frame by their time.
    mutating func takeDue(at now: Timestamp) -> [TaskID] {
        var due: [TaskID] = []
        while let task = queue.popDue(at: now) {
            // A task that was removed and delayed again comes up twice.
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
