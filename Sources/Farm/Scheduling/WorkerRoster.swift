import WorkerProtocol

/// The workers that are ready, and what each one holds.
struct WorkerRoster: Hashable, Sendable {
    enum Occupation: Hashable, Sendable {
        case idle
        case busy(LeaseID)
        /// Told to end; takes nothing more.
        case leaving(LeaseID?)
    }

    private(set) var occupations: [WorkerID: Occupation] = [:]
    private var idleWorkers = AscendingSet<WorkerID>()

    /// In the order of their numbers, so that the same events give the same directives.
    var idle: [WorkerID] { idleWorkers.elements }

    var all: [WorkerID] { occupations.keys.sorted() }

    var count: Int { occupations.count }

    subscript(worker: WorkerID) -> Occupation? {
        get { occupations[worker] }
        set {
            occupations[worker] = newValue
            if newValue == .idle { idleWorkers.insert(worker) } else { idleWorkers.remove(worker) }
        }
    }

    /// Compares the index with what it is of; for tests.
    var isConsistent: Bool { idle == all.filter { occupations[$0] == .idle } }

    /// The lease that a worker's death or report is about.
    func lease(of worker: WorkerID) -> LeaseID? {
        switch occupations[worker] {
        case .busy(let lease): lease
        case .leaving(let lease): lease
        case .idle, nil: nil
        }
    }
}
