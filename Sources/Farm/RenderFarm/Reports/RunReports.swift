import Coordination
import JobModel
import JobStorage
import Planning
import Reports
import Runs

/// The files that a command line asks for, and their making.
struct RunReports {
    package var page: ReportFile?
    package var metrics: ReportFile?

    /// Tells the metrics of jobs of which no run has ended since a time, in seconds since 1970: those that did not start.
    func writeUnstartedMetrics(_ jobs: [String], _ status: RunOutcome, since start: Double, now: Double) throws {
        guard let metrics else { return }
        let text = String(decoding: metrics.contents, as: UTF8.self)
        let unstarted = jobs.filter { PrometheusText.lastRun(of: $0, in: text).map { $0 < start } ?? true }
        guard !unstarted.isEmpty else { return }
        let told = PrometheusText.text(text, afterUnstarted: unstarted, exitCode: status.rawValue, ended: now)
        try metrics.writeUnstarted(Array(told.utf8))
    }

    var areWanted: Bool { page != nil || metrics != nil }

    /// - Parameters:
    ///   - versions: of the programs and libraries that took part.
    ///   - directory: of one of the runs.
    func write(_ jobs: [JobResult], versions: [String: String], _ directory: RunClaim) throws {
        let records = jobs.map { $0.record(versions: versions) }
        if let page { try page.write(Array(ReportPage.html(records).utf8), directory) }
        if let metrics {
            let last = String(decoding: metrics.contents, as: UTF8.self)
            var times: [String: Double] = [:]
            for record in records { times[record.job] = PrometheusText.lastSuccess(of: record.job, in: last) }
            try metrics.write(Array(PrometheusText.text(of: records, lastSuccess: times).utf8), directory)
        }
    }
}
