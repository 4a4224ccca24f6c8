import Coordination
import FoundationEssentials
import JobModel
import JobStorage
import Planning
import Reports
import Scheduling
import WorkerProtocol

/// How the run of a job has ended, with what a report says of it.
struct JobResult {
    let job: ClaimedJob
    let summary: RunSummary
    let reports: [FrameReport]
    var status: RunOutcome
    let started: Date
    var ended = Date()
    let workers: Int
    /// By the frames' inputs and outputs.
    var thumbnails: [PathKey: Thumbnail] = [:]

    var prepared: PreparedJob { job.prepared }

    /// - Parameter versions: of the programs and libraries that took part.
    func record(versions: [String: String]) -> RunReport {
        let job = prepared.job
        let folder = job.folder
        return RunReport(
            job: job.name, manifest: job.manifestPath, started: Self.moment(started), ended: Self.moment(ended),
            elapsed: summary.elapsed, exitCode: status.rawValue,
            stopped: summary.stop.map { StopWords.describe($0, left: summary.left) }, counts: summary.counts,
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
        RunReport.Moment(text: date.formatted(.iso8601), seconds: date.timeIntervalSince1970)
    }

    private func frame(_ report: FrameReport, _ folder: String) -> FrameRecord {
        let (files, megapixels) = written(report)
        return FrameRecord(
            input: PathText.shown(report.input, from: folder),
            outputs: report.outputs.map {
                ReportedOutput(path: PathText.shown($0, from: folder), file: files[PathKey($0)])
            },
            kept: report.kept.map { KeptFile(path: PathText.shown($0.path, from: folder), reason: $0.reason) },
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
