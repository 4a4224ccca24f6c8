import Coordination
import FoundationEssentials
import JobModel
import Planning
import RenderFarm
import Reports
import Scheduling
import WorkerProtocol

/// What `--json` prints: one object a line, the first `{"schema":1,…}`, the last the summary.
enum JSONLine: Encodable {
    case header
    case plan(PlanLine)
    case frame(FrameLine)
    case problem(ProblemLine)
    case paths(PathsLine)
    case run(RunLine)
    case storedFrame(StoredFrameLine)
    case broken(BrokenLine)
    case attempt(AttemptLine)
    case verified(VerifiedLine)
    case rerendered(RerenderedLine)
    case verification(VerificationLine)
    case picture(InPlaceLine)
    case kept(KeptLine)
    case summary(SummaryLine)

    private struct Header: Encodable {
        let schema = 1
        let program = "penumbra"
        let version = Version.penumbra
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .header: try Header().encode(to: encoder)
        case .plan(let line): try line.encode(to: encoder)
        case .frame(let line): try line.encode(to: encoder)
        case .problem(let line): try line.encode(to: encoder)
        case .paths(let line): try line.encode(to: encoder)
        case .run(let line): try line.encode(to: encoder)
        case .storedFrame(let line): try line.encode(to: encoder)
        case .broken(let line): try line.encode(to: encoder)
        case .attempt(let line): try line.encode(to: encoder)
        case .verified(let line): try line.encode(to: encoder)
        case .rerendered(let line): try line.encode(to: encoder)
        case .verification(let line): try line.encode(to: encoder)
        case .picture(let line): try line.encode(to: encoder)
        case .kept(let line): try line.encode(to: encoder)
        case .summary(let line): try line.encode(to: encoder)
        }
    }

    func print() { Console.printJSON(text) }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // The types above hold nothing that JSON cannot: no infinities, no foreign objects.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

/// One frame of a run.
struct FrameLine: Encodable {
    let event = "frame"
    let job: String
    let index: Int
    let input: String
    /// The exact path, where it is not UTF-8.
    let pathBase64: String?
    /// The first one.
    let output: String?
    /// All of them, where there are several.
    let outputs: [Output]?
    let state: String
    /// Of a kept frame that of the first output which is kept.
    var reason: String?
    /// Outputs that stay as they are, whatever became of the others; nil where none does.
    let keptOutputs: [KeptOutputLine]?
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
        keptOutputs = KeptOutputLine.lines(report.kept)
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
    /// With what is known of those that were written; the others have a path alone.
    private static func outputs(of report: FrameReport) -> [Output] {
        report.outputs.map { path in
            let receipt = report.publications.first { $0.path == path }?.receipt
            return Output(
                path: path, bytes: receipt?.bytes, digest: receipt?.digest.description, width: receipt?.image.width,
                height: receipt?.image.height)
        }
    }
}

/// An output that is kept, and why.
struct KeptOutputLine: Encodable {
    let path: String
    let reason: String

    /// Nil where there are none.
    static func lines(_ outputs: [KeptOutput]) -> [KeptOutputLine]? {
        outputs.isEmpty ? nil : outputs.map { KeptOutputLine(path: $0.path, reason: $0.reason) }
    }
}

/// Outputs that have something in common.
struct PathsLine: Encodable {
    let event = "paths"
    let message: String
    let paths: [String]
}

/// What kept a job from starting.
struct ProblemLine: Encodable {
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
}

struct SummaryLine: Encodable {
    let event = "summary"
    let exitCode: Int32
    var jobs: Int = 0
    var frames = 0
    var published = 0
    /// Frames that a run would render; only of a plan.
    var toRender: Int?
    /// Files of the inputs' folders that are no inputs, by what they are; only of a plan.
    var passedBy: [String: Int]?
    var skipped = 0
    var kept = 0
    /// Outputs that are kept, also of frames of which others were made.
    var outputsKept = 0
    var stillBroken = 0
    var failed = 0
    var left = 0
    var bytes = 0
    var megapixels = 0.0
    var seconds = 0.0
    var workersReplaced = 0
    /// Failed frames by their cause; every cause has its count.
    var failedByCause: [String: Int] = [:]
    /// What happened to workers, in words.
    var notes: [String] = []
    var stopped: String?

    init(exitCode: Int32, _ summaries: [RunSummary]) {
        self.init(exitCode: exitCode)
        add(summaries)
    }

    init(exitCode: Int32) { self.exitCode = exitCode }

    /// Counts what a run would do with frames that it has not begun.
    mutating func add(_ planned: [PlannedCounts]) {
        jobs += planned.count
        for counts in planned {
            frames += counts.frames
            skipped += counts.skipped
            kept += counts.kept
            outputsKept += counts.outputsKept
            stillBroken += counts.stillBroken
            failed += counts.failed
            megapixels += counts.megapixels
            toRender = (toRender ?? 0) + counts.toRender
            passedBy = (passedBy ?? [:]).merging(counts.passedBy, uniquingKeysWith: +)
        }
    }

    private mutating func add(_ summaries: [RunSummary]) {
        jobs += summaries.count
        for summary in summaries {
            frames += summary.total
            published += summary.published
            skipped += summary.skipped
            kept += summary.kept
            outputsKept += summary.keptOutputs.count
            stillBroken += summary.stillBroken.count
            failed += summary.failures.count
            left += summary.left
            bytes += summary.bytesWritten
            megapixels += summary.megapixels
            seconds += summary.elapsed / .seconds(1)
            workersReplaced += summary.workersLost
            failedByCause.merge(summary.failedByCause, uniquingKeysWith: +)
            notes += StopWords.notes(summary)
            stopped = stopped ?? summary.stop.map { StopWords.describe($0, left: summary.left) }
        }
    }
}

/// What a run would do with a job's frames.
struct PlannedCounts {
    var frames = 0
    var toRender = 0
    var skipped = 0
    var kept = 0
    var outputsKept = 0
    var stillBroken = 0
    var failed = 0
    var megapixels = 0.0
    var passedBy: [String: Int] = [:]

    init(_ prepared: PreparedJob) {
        passedBy = prepared.plan.passedBy
        frames = prepared.targets.count + prepared.ended.count
        failed = prepared.ended.count
        for target in prepared.targets {
            outputsKept += target.verdict.kept.count
            switch target.verdict {
            case .render, .compare:
                toRender += 1
                megapixels += target.probe?.megapixels ?? 0
            case .current, .young: skipped += 1
            case .kept: kept += 1
            case .stillBroken: stillBroken += 1
            case .refused: failed += 1
            }
        }
    }
}
