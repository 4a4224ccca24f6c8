import DequeModule

/// Tasks that only wait for a worker. Tasks of frames already begun come before new frames, so that few are open.
struct ReadyQueue: Hashable, Sendable {
    private var continuing: Deque<TaskID> = []
    private var opening: Deque<TaskID> = []

    var isEmpty: Bool { continuing.isEmpty && opening.isEmpty }

    var count: Int { continuing.count + opening.count }

    mutating func append(_ task: TaskID) {
        if task.kind == .probe { opening.append(task) } else { continuing.append(task) }
    }

    /// The first task that may run now, or nil.
    mutating func popFirst(where isAllowed: (TaskID) -> Bool) -> TaskID? {
        if let index = continuing.firstIndex(where: isAllowed) { return continuing.remove(at: index) }
        if let index = opening.firstIndex(where: isAllowed) { return opening.remove(at: index) }
        return nil
    }

    mutating func removeAll(of frame: FrameID) {
        continuing.removeAll { $0.frame == frame }
        opening.removeAll { $0.frame == frame }
    }

    func contains(where condition: (TaskID) -> Bool) -> Bool {
        continuing.contains(where: condition) || opening.contains(where: condition)
    }
}
