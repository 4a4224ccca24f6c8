package import JobModel

/// The figures that the service offers to Prometheus. All of them are gauges.
package enum ServiceMetric: String, CaseIterable, Sendable {
    case jobs
    case openRuns = "open_runs"
    case maxRuns = "max_runs"
    case workers
    case drained
    case startTime = "start_time_seconds"
    case lastSuccess = "last_success_timestamp_seconds"
    case jobNames = "job_names"

    /// So many names of jobs have a sample. Each name is a time series, which Prometheus keeps, and programs may make up names
    /// without end.
    package static let mostNames = 300

    package var name: String { "penumbra_service_\(rawValue)" }

    /// A whole sentence.
    package var sentence: String {
        switch self {
        case .jobs: "The number of jobs in each state."
        case .openRuns: "The number of runs that have a process."
        case .maxRuns: "The number of runs of one priority or a higher one that may be open at once."
        case .workers: "The number of workers of this machine."
        case .drained: "This is 1 while the service starts no jobs, and 0 otherwise."
        case .startTime: "The time when the service started, in seconds since 1970."
        case .lastSuccess:
            "The time when a job of this name last ended with exit code 0, in seconds since 1970. At most \(Self.mostNames) names have "
                + "one: those that succeeded last."
        case .jobNames: "The number of names of jobs that have succeeded, as far as the queue remembers."
        }
    }

    private var labels: [String] {
        switch self {
        case .jobs: ["state"]
        case .lastSuccess: ["job"]
        case .openRuns, .maxRuns, .workers, .drained, .startTime, .jobNames: []
        }
    }

    package static var described: [DescribedMetric] {
        allCases.map { DescribedMetric($0.name, labels: $0.labels, $0.sentence) }
    }
}
