import Queueing
import ServiceAPI

/// The service's figures for Prometheus, as text.
///
/// <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>
struct MetricsText {
    let text: String

    init(_ status: ServiceStatus) {
        text = ServiceMetric.allCases.map { metric in
            "# HELP \(metric.name) \(metric.sentence)\n# TYPE \(metric.name) gauge\n"
                + Self.samples(of: metric, status).map { "\(metric.name)\($0.labels) \($0.value)\n" }.joined()
        }.joined()
    }

    private static func samples(of metric: ServiceMetric, _ status: ServiceStatus) -> [(labels: String, value: Int)] {
        switch metric {
        case .jobs: JobState.Name.allCases.map { (#"{state="\#($0.rawValue)"}"#, status.queue[$0]) }
        case .openRuns: [("", status.openRuns)]
        case .maxRuns: [("", status.maxRuns)]
        case .workers: [("", status.workers)]
        case .drained: [("", status.isDrained ? 1 : 0)]
        case .startTime: [("", status.started.seconds)]
        }
    }
}
