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

    /// In the order of their numbers, so that the same events give the same directives.
    var idle: [WorkerID] {
        occupations.filter { $0.value == .idle }.keys.sorted { $0.number < $1.number }
    }

    var all: [WorkerID] { occupations.keys.sorted { $0.number < $1.number } }

    subscript(worker: WorkerID) -> Occupation? {
        get { occupations[worker] }
        set { occupations[worker] = newValue }
    }

    /// The lease that a worker's death or report is about.
    func lease(of worker: WorkerID) -> LeaseID? {
        switch occupations[worker] {
        case .busy(let lease): lease
        case .leaving(let lease): lease
        case .idle, nil: nil
        }
    }
}
