import WorkerProtocol

/// The workers that are ready, and the lease of each.
struct WorkerRoster: Sendable {
    enum Occupation: Hashable, Sendable {
        case idle
        case busy(LeaseID)
        /// The worker was told to end, and gets no more tasks.
        case leaving(LeaseID?, because: Dismissal)
    }

    private(set) var occupations: [WorkerID: Occupation] = [:]
    private var lastReports: [WorkerID: Timestamp] = [:]
    /// Ordered by their numbers, so that the same events give the same directives.
    private(set) var idle = AscendingSet<WorkerID>()

    var all: [WorkerID] { occupations.keys.sorted() }

    var count: Int { occupations.count }

    subscript(worker: WorkerID) -> Occupation? {
        get { occupations[worker] }
        set {
            occupations[worker] = newValue
            if newValue == .idle { idle.insert(worker) } else { idle.remove(worker) }
            if newValue == nil { lastReports[worker] = nil }
        }
    }

    /// Compares the index with the occupations, for tests.
    var isConsistent: Bool { idle.elements == all.filter { occupations[$0] == .idle } }

    /// The lease that a worker's death or report belongs to.
    func lease(of worker: WorkerID) -> LeaseID? {
        switch occupations[worker] {
        case .busy(let lease): lease
        case .leaving(let lease, _): lease
        case .idle, nil: nil
        }
    }

    func dismissal(of worker: WorkerID) -> Dismissal? {
        if case .leaving(_, let dismissal) = occupations[worker] { dismissal } else { nil }
    }

    /// The time of its last message. Nil for an unknown worker.
    func lastHeard(_ worker: WorkerID) -> Timestamp? { lastReports[worker] }

    mutating func add(_ worker: WorkerID, _ occupation: Occupation, at now: Timestamp) {
        self[worker] = occupation
        lastReports[worker] = now
    }

    mutating func noteMessage(_ worker: WorkerID, at now: Timestamp) {
        // A single search, because this happens at every report.
        if let index = lastReports.index(forKey: worker) { lastReports.values[index] = now }
    }

    /// Moves the times of all workers, because the coordinator did not listen.
    mutating func postponeDeadlines(_ gap: Duration) { lastReports = lastReports.mapValues { $0 + gap } }
}
