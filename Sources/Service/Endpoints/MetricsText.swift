import Queueing
import ServiceAPI

/// The service's figures for Prometheus, as text.
///
/// <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>
struct MetricsText {
    let text: String

    init(_ status: ServiceStatus) {
        var lines: [String] = []
        func family(_ name: String, _ help: String, _ samples: [(labels: String, value: Int)]) {
            lines += ["# HELP penumbra_service_\(name) \(help)", "# TYPE penumbra_service_\(name) gauge"]
            lines += samples.map { "penumbra_service_\(name)\($0.labels) \($0.value)" }
        }
        family(
            "jobs", "Jobs by state.",
            JobState.Name.allCases.map { (#"{state="\#($0.rawValue)"}"#, status.queue[$0]) })
        family("open_runs", "Runs that have a process.", [("", status.openRuns)])
        family("max_runs", "The most runs that may be open at once.", [("", status.maxRuns)])
        family("workers", "Workers of this machine.", [("", status.workers)])
        family("drained", "1 while the service starts no jobs.", [("", status.isDrained ? 1 : 0)])
        family("start_time_seconds", "When the service started, in seconds since 1970.", [("", status.started.seconds)])
        text = lines.joined(separator: "\n") + "\n"
    }
}
