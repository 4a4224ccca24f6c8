package import QueueStorage
import Queueing
import Reports
package import ServiceAPI

/// The service's figures for Prometheus, as text.
///
/// <https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>
package struct MetricsText {
    package let text: String

    package init(_ status: ServiceStatus, _ successes: LastSuccesses) {
        text = ServiceMetric.allCases.map { metric in
            let samples = Self.samples(of: metric, status, successes)
            // A family without samples is left out.
            guard !samples.isEmpty else { return "" }
            return "# HELP \(metric.name) \(metric.sentence)\n# TYPE \(metric.name) gauge\n"
                + samples.map { "\(metric.name)\($0.labels) \($0.value)\n" }.joined()
        }.joined()
    }

    private static func samples(
        of metric: ServiceMetric, _ status: ServiceStatus, _ successes: LastSuccesses
    ) -> [(labels: String, value: Int)] {
        switch metric {
        case .jobs: JobState.Name.allCases.map { (#"{state="\#($0.rawValue)"}"#, status.queue[$0]) }
        case .openRuns: [("", status.openRuns)]
        case .maxRuns: [("", status.maxRuns)]
        case .workers: [("", status.workers)]
        case .drained: [("", status.isDrained ? 1 : 0)]
        case .startTime: [("", status.started.seconds)]
        case .lastSuccess: successes.latest.map { ("{\(PrometheusText.label("job", $0.job))}", $0.time.seconds) }
        case .jobNames: [("", successes.names)]
        }
    }
}
