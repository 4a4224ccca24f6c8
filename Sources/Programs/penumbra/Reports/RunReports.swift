import Coordination
import JobModel
import JobStorage
import Planning
import Reports

/// The files that a command line asks for, and their making.
struct RunReports {
    var page: ReportFile?
    var metrics: ReportFile?

    var areWanted: Bool { page != nil || metrics != nil }

    /// - Parameters:
    ///   - versions: of the programs and libraries that took part.
    ///   - directory: of one of the runs.
    func write(_ jobs: [FinishedJob], versions: [String: String], _ directory: RunDirectory) throws {
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

/// The list of outputs that a manifest asks for.
struct IndexFile {
    let file: ReportFile
    let prepared: PreparedJob

    /// Nil when the job has none.
    init?(_ prepared: PreparedJob) throws(CommandError) {
        guard let path = prepared.job.index else { return nil }
        file = try ReportFile(path, .index, in: prepared.job.folder)
        self.prepared = prepared
    }

    /// - Parameter records: of all outputs that the job has published.
    func write(_ records: [OutputRecord], _ directory: RunDirectory) throws {
        let folder = PathText.folder(of: file.path)
        let formats = Dictionary(
            prepared.targets.flatMap { zip($0.outputs, $0.frame.formats) }.map { ($0, $1) }
        ) { $1 }
        let entries = current(records).map { record in
            AssetIndex.Entry(
                source: AssetIndex.path(record.input, relativeTo: prepared.job.folder),
                outputs: [
                    AssetIndex.Output(
                        path: AssetIndex.path(record.path, relativeTo: folder), bytes: record.file.stamp.size,
                        digest: record.file.digest, width: record.width, height: record.height,
                        format: formats[record.path] ?? PathText.split(name: record.path).ext)
                ])
        }
        try file.write(AssetIndex(job: prepared.job.name, entries: entries).json, directory)
    }

    /// Of outputs that were published by several names the last ones; of a whole run, what it would have made.
    private func current(_ records: [OutputRecord]) -> [OutputRecord] {
        struct Key: Hashable {
            let input: String
            let page: Int
            let part: Int
        }
        let planned = Set(prepared.targets.flatMap(\.outputs))
        let inputs = Set(prepared.targets.map(\.files.input))
        var latest: [Key: OutputRecord] = [:]
        for record in records where planned.contains(record.path) || !prepared.isWhole && !inputs.contains(record.input)
        {
            let key = Key(input: record.input, page: record.page, part: record.part)
            if let other = latest[key], other.file.stamp.modified > record.file.stamp.modified { continue }
            latest[key] = record
        }
        return latest.sorted { ($0.key.page, $0.key.part) < ($1.key.page, $1.key.part) }.map(\.value)
    }
}
