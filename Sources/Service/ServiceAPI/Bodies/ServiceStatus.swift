package import Queueing

/// The answer to `GET /status`.
package struct ServiceStatus: Hashable, Sendable, Codable {
    /// Of the program.
    package let version: String
    package let pid: Int
    package let started: WallTime
    /// In seconds.
    package let uptime: Int
    /// Whether it starts no jobs.
    package let isDrained: Bool
    package let workers: Int
    /// How many runs are open, and how many may be.
    package let openRuns: Int
    package let maxRuns: Int
    package let serviceFolder: String
    package let stateFolder: String
    package let queue: QueueCounts

    package init(
        version: String, pid: Int, started: WallTime, uptime: Int, isDrained: Bool, workers: Int, openRuns: Int,
        maxRuns: Int, serviceFolder: String, stateFolder: String, queue: QueueCounts
    ) {
        self.version = version
        self.pid = pid
        self.started = started
        self.uptime = uptime
        self.isDrained = isDrained
        self.workers = workers
        self.openRuns = openRuns
        self.maxRuns = maxRuns
        self.serviceFolder = serviceFolder
        self.stateFolder = stateFolder
        self.queue = queue
    }

    private enum CodingKeys: String, CodingKey {
        case version, pid, started, uptime
        case isDrained = "drained"
        case workers
        case openRuns = "runs_open"
        case maxRuns = "max_runs"
        case serviceFolder = "service_dir"
        case stateFolder = "state_dir"
        case queue
    }
}

/// How many jobs have a state: `{"held": 0, "waiting": 12, …}`. A state that is not named has none.
package struct QueueCounts: Hashable, Sendable, Codable {
    package private(set) var values: [JobState.Name: Int]

    package init(_ values: [JobState.Name: Int] = [:]) { self.values = values.filter { $0.value != 0 } }

    package subscript(state: JobState.Name) -> Int { values[state] ?? 0 }

    package init(from decoder: any Decoder) throws {
        let counts = try decoder.singleValueContainer().decode([String: Int].self)
        // A later service may have other states.
        let known = counts.compactMap { name, count in JobState.Name(rawValue: name).map { ($0, count) } }
        self.init(Dictionary(known) { first, _ in first })
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        let counts = JobState.Name.allCases.map { ($0.rawValue, self[$0]) }
        try container.encode(Dictionary(counts) { first, _ in first })
    }
}

/// The body of `POST /drain`: `{"drained": true}`.
package struct DrainRequest: Hashable, Sendable, Codable {
    /// Whether the service is to start no jobs from now on.
    package let isDrained: Bool

    package init(isDrained: Bool) { self.isDrained = isDrained }

    private enum CodingKeys: String, CodingKey { case isDrained = "drained" }
}
