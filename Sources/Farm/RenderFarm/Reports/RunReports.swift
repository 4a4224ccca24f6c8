import Coordination
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Reports
import Runs
import Scheduling
import Synchronization
import WorkerProtocol

/// The report files that a request asks for.
struct RunReports {
    package var page: ReportFile?
    package var metrics: ReportFile?

    /// Writes metrics of jobs that did not start: no run of them has ended since a time, in seconds since 1970.
    func writeUnstartedMetrics(_ jobs: [String], _ status: RunOutcome, since start: Double, now: Double) throws {
        guard let metrics else { return }
        let text = try metrics.text()
        let unstarted = jobs.filter { PrometheusText.lastRun(of: $0, in: text).map { $0 < start } ?? true }
        guard !unstarted.isEmpty else { return }
        let updated = PrometheusText.text(text, afterUnstarted: unstarted, exitCode: status.rawValue, ended: now)
        try metrics.writeUnstarted(Array(updated.utf8))
    }

    var areWanted: Bool { page != nil || metrics != nil }

    /// - Parameters:
    ///   - versions: the versions of programs and libraries.
    ///   - claim: the folder of one of the runs.
    func write(_ jobs: [JobResult], versions: [String: String], _ claim: RunClaim) throws {
        let records = jobs.map { $0.record(versions: versions) }
        let page = Result { try self.page?.write(Array(ReportPage.html(records).utf8), claim) }
        // They are written even if the page is not.
        try write(metricsOf: records, claim)
        try page.get()
    }

    private func write(metricsOf records: [RunReport], _ claim: RunClaim) throws {
        guard let metrics else { return }
        let last = try metrics.text()
        var times: [String: Double] = [:]
        for record in records { times[record.job] = PrometheusText.lastSuccess(of: record.job, in: last) }
        try metrics.write(Array(PrometheusText.text(of: records, lastSuccess: times).utf8), claim)
    }
}

/// The end of a job's run, with the data for reports.
struct JobResult {
    let job: ClaimedJob
    var summary: RunSummary
    let reports: [FrameReport]
    var status: RunOutcome
    let started: Date
    var ended = Date()
    let workers: Int
    /// The keys are paths of inputs and outputs.
    var thumbnails: [PathKey: Thumbnail] = [:]

    var prepared: PreparedJob { job.prepared }

    /// - Parameter versions: the versions of programs and libraries.
    func record(versions: [String: String]) -> RunReport {
        let job = prepared.job
        let folder = job.folder
        return RunReport(
            job: job.name, manifest: job.manifestPath, started: Self.moment(started), ended: Self.moment(ended),
            elapsed: summary.elapsed, exitCode: status.rawValue,
            stopped: summary.stopMessage, counts: summary.counts,
            bytesRead: summary.bytesRead, workers: workers, workersReplaced: summary.workersLost,
            frames: reports.map { frame($0, folder) },
            orphans: prepared.orphans.map { PathText.shown($0.path, from: folder) },
            retiredSlots: summary.retired.count,
            settings: [
                RunReport.Fact("filters", job.chain.map(\.filter).joined(separator: ", ")),
                RunReport.Fact("outputs", job.outputs.map(\.template.source).joined(separator: ", ")),
                RunReport.Fact("existing", prepared.freshness.existing.rawValue),
            ], versions: versions.sorted { $0.key < $1.key }.map { RunReport.Fact($0.key, $0.value) })
    }

    private static func moment(_ date: Date) -> RunReport.Moment {
        let seconds = date.timeIntervalSince1970
        return RunReport.Moment(text: UTCTime(secondsSince1970: Int(seconds)).text, seconds: seconds)
    }

    private func frame(_ report: FrameReport, _ folder: String) -> FrameRecord {
        let (files, megapixels) = written(report)
        return FrameRecord(
            input: PathText.shown(report.input, from: folder),
            outputs: report.outputs.map {
                ReportedOutput(path: PathText.shown($0, from: folder), file: files[PathKey($0)])
            },
            kept: report.kept.map { FileReason(path: PathText.shown($0.path, from: folder), reason: $0.reason) },
            state: report.state, time: report.seconds.map { .seconds($0) }, megapixels: megapixels,
            before: thumbnails[PathKey(report.input)], after: report.outputs.first.flatMap { thumbnails[PathKey($0)] })
    }

    private func written(_ report: FrameReport) -> ([PathKey: ReportedOutput.File], Double?) {
        let files = report.publications.map { output in
            let image = output.receipt.image
            return (
                PathKey(output.path),
                ReportedOutput.File(
                    bytes: output.receipt.bytes, width: image.width, height: image.height,
                    digest: output.receipt.digest)
            )
        }
        return (Dictionary(files) { $1 }, report.probe?.megapixels)
    }
}

/// Collects the end of each frame for reports, and passes events on to the next observer.
final class FrameCollector: RunObserver {
    private let next: any RunObserver
    private let kept = Mutex<[FrameReport]>([])

    init(_ next: any RunObserver) { self.next = next }

    /// In the order in which the frames ended.
    var reports: [FrameReport] { kept.withLock { $0 } }

    var isBehind: Bool { next.isBehind }

    func began(frames: Int) { next.began(frames: frames) }
    func progressed(_ progress: RunProgress) { next.progressed(progress) }

    func concluded(_ report: FrameReport) {
        kept.withLock { $0.append(report) }
        next.concluded(report)
    }
}
