import Catalogs
import Coordination
import FoundationEssentials
import InPlace
import JobModel
import Planning
import RenderFarm
import Reports
import Scheduling
import WorkerProtocol

/// A line that `--json` prints. The first one is ``HeaderLine``, the last one is the summary.
protocol JSONLine: Encodable {}

extension JSONLine {
    func print() { Console.printJSON(text) }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The lines have no values that JSON cannot express, such as infinities.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

struct HeaderLine: JSONLine {
    let schema = 1
    let program = "penumbra"
    let version = Version.penumbra
}

/// The JSON line of a frame.
struct FrameLine: JSONLine {
    let event = "frame"
    let job: String
    let index: Int
    let input: String
    /// The exact path, if it is not UTF-8.
    let pathBase64: String?
    /// The first output.
    let output: String?
    /// All outputs, if there are several.
    let outputs: [Output]?
    let state: String
    /// The reason of a skipped frame, or of the first kept output.
    var reason: String?
    /// Outputs that were kept; nil if there are none.
    let keptOutputs: [FileReason]?
    var cause: String?
    var message: String?
    var bytes: Int?
    var digest: String?
    var width: Int?
    var height: Int?

    struct Output: Encodable {
        let path: String
        var bytes: Int?
        var digest: String?
        var width: Int?
        var height: Int?
    }

    private enum CodingKeys: String, CodingKey {
        case event, job, index, input, output, outputs, state, reason, keptOutputs, cause, message, bytes, digest,
            width, height
        case pathBase64 = "path_base64"
    }

    init(_ report: FrameReport, job: String) {
        self.job = job
        index = report.index
        input = report.input
        pathBase64 = report.inputBytes.map { Data($0).base64EncodedString() }
        output = report.outputs.first
        outputs = report.outputs.count > 1 ? Self.outputs(of: report) : nil
        keptOutputs = report.kept.reasons
        state = report.state.kind.rawValue
        switch report.state {
        case .published:
            bytes = report.publications.reduce(0) { $0 + $1.receipt.bytes }
            if report.outputs.count == 1, let receipt = report.publications.first?.receipt {
                digest = receipt.digest.description
                width = receipt.image.width
                height = receipt.image.height
            }
        case .skipped(let why): reason = why
        case .kept: reason = report.kept.first?.reason
        case .stillBroken(let since, let what):
            reason = "since \(Figures.day(since))"
            message = what
        case .failed(let cause, let message): (self.cause, self.message) = (cause, message)
        case .open, .left: break
        }
    }
}

extension FrameLine {
    /// All outputs. Those that were not written have only a path.
    private static func outputs(of report: FrameReport) -> [Output] {
        report.outputs.map { path in
            let receipt = report.publications.first { $0.path == path }?.receipt
            return Output(
                path: path, bytes: receipt?.bytes, digest: receipt?.digest.description, width: receipt?.image.width,
                height: receipt?.image.height)
        }
    }
}

extension [KeptOutput] {
    /// For a line of JSON; nil if there are none.
    var reasons: [FileReason]? { isEmpty ? nil : map { FileReason(path: $0.path, reason: $0.reason) } }
}

/// The JSON line of a list of outputs.
struct PathsLine: JSONLine {
    let event = "paths"
    let message: String
    let paths: [String]
}

/// The JSON line of a problem or a notice.
struct ProblemLine: JSONLine {
    let event = "problem"
    let manifest: String
    let message: String
    /// `error` or `warning`.
    let severity: String
    /// What to do about it.
    var remedy: String?
    var line: Int?
    var column: Int?
}

extension ProblemLine {
    init(_ problem: ManifestProblem) {
        self.init(
            manifest: problem.manifest, message: problem.message, severity: problem.isError ? "error" : "warning",
            remedy: problem.remedy, line: problem.line, column: problem.column)
    }

    init(_ place: FarmError.Place) {
        self.init(
            manifest: place.manifest, message: place.message, severity: "error", remedy: place.remedy, line: place.line)
    }
}

/// The last JSON line: the totals of a command's runs or plans.
struct SummaryLine: JSONLine {
    let exitCode: Int32
    private var jobs = 0
    private var counts = RunCounts()
    /// All kept outputs, including those of frames with other outputs that were rendered.
    private var outputsKept = 0
    private var workersReplaced = 0
    private var stopped: String?
    /// What holds for the workers of all runs.
    private var sandbox: SandboxReport?
    /// The number of frames that a run would render; only for a plan.
    private var toRender: Int?
    /// The number of files in the input folders that are not pictures, by their kind; only for a plan.
    private var passedBy: [String: Int]?
    /// Pictures that may have been meant; nil if there are none.
    private var hiddenPictures: Int?
    private var otherPictures: [String: Int]?

    init(exitCode: Int32, _ summaries: [RunSummary], planned: [PlannedCounts] = []) {
        self.exitCode = exitCode
        jobs = summaries.count + planned.count
        for summary in summaries {
            counts += summary.counts
            counts.notes = (counts.notes ?? []) + summary.notes
            outputsKept += summary.keptOutputs.count
            workersReplaced += summary.workersLost
            stopped = stopped ?? summary.stopMessage
            if let more = summary.counts.sandbox { sandbox = sandbox?.combined(with: more) ?? more }
        }
        for plan in planned {
            counts += plan.counts
            outputsKept += plan.outputsKept
            toRender = (toRender ?? 0) + plan.counts.work
            passedBy = (passedBy ?? [:]).merging(plan.passedBy, uniquingKeysWith: +)
            if plan.hiddenPictures > 0 { hiddenPictures = (hiddenPictures ?? 0) + plan.hiddenPictures }
            if !plan.otherPictures.isEmpty {
                otherPictures = (otherPictures ?? [:]).merging(plan.otherPictures, uniquingKeysWith: +)
            }
        }
    }

    private enum CodingKeys: String, CodingKey {
        case event, exitCode, jobs, frames, published, toRender, passedBy, hiddenPictures, otherPictures
        case skipped, kept, outputsKept, stillBroken
        case failed, left, bytes, megapixels, seconds, workersReplaced, failedByCause, notes, stopped, sandbox
    }

    func encode(to encoder: any Encoder) throws {
        var line = encoder.container(keyedBy: CodingKeys.self)
        try line.encode("summary", forKey: .event)
        try line.encode(exitCode, forKey: .exitCode)
        try line.encode(jobs, forKey: .jobs)
        try line.encode(counts.frames, forKey: .frames)
        try line.encode(counts.published, forKey: .published)
        try line.encodeIfPresent(toRender, forKey: .toRender)
        try line.encodeIfPresent(passedBy, forKey: .passedBy)
        try line.encodeIfPresent(hiddenPictures, forKey: .hiddenPictures)
        try line.encodeIfPresent(otherPictures, forKey: .otherPictures)
        try line.encode(counts.skipped, forKey: .skipped)
        try line.encode(counts.kept, forKey: .kept)
        try line.encode(outputsKept, forKey: .outputsKept)
        try line.encode(counts.stillBroken, forKey: .stillBroken)
        try line.encode(counts.failed, forKey: .failed)
        try line.encode(counts.left, forKey: .left)
        try line.encode(counts.bytesWritten, forKey: .bytes)
        try line.encode(counts.megapixels, forKey: .megapixels)
        try line.encode(counts.seconds, forKey: .seconds)
        try line.encode(workersReplaced, forKey: .workersReplaced)
        // Causes without a failure have a count, too.
        try line.encode(counts.failedByCause ?? [:], forKey: .failedByCause)
        try line.encode(counts.notes ?? [], forKey: .notes)
        try line.encodeIfPresent(stopped, forKey: .stopped)
        try line.encodeIfPresent(sandbox, forKey: .sandbox)
    }
}

/// The totals of a planned job. ``RunCounts/work`` is the number of frames that a run would render.
struct PlannedCounts {
    private(set) var counts = RunCounts()
    private(set) var outputsKept = 0
    let passedBy: [String: Int]
    let hiddenPictures: Int
    let otherPictures: [String: Int]

    init(_ prepared: PreparedJob) {
        (passedBy, hiddenPictures) = (prepared.plan.passedBy, prepared.plan.hiddenPictures)
        otherPictures = prepared.plan.otherPictures
        counts.frames = prepared.targets.count + prepared.ended.count
        counts.failed = prepared.ended.count
        for target in prepared.targets {
            outputsKept += target.verdict.kept.count
            switch target.verdict {
            case .render, .compare:
                counts.work += 1
                counts.megapixels += target.probe?.megapixels ?? 0
            case .current, .tooRecent: counts.skipped += 1
            case .kept: counts.kept += 1
            case .stillBroken: counts.stillBroken += 1
            case .refused: counts.failed += 1
            }
        }
    }
}
