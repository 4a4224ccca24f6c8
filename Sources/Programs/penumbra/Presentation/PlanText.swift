import Catalogs
import Coordination
import FoundationEssentials
import Geometry
import JobModel
import Planning
import RenderFarm
import Reports
import Scheduling
import Terminals
import WorkerProtocol

/// The text that `plan` prints for one job.
struct PlanText {
    private let prepared: PreparedJob
    private let shard: ShardPolicy
    private let folder = currentFolder()

    init(_ prepared: PreparedJob, _ settings: RunSettings) {
        self.prepared = prepared
        shard = settings.shardPolicy(prepared.job, frames: prepared.targets.count)
    }

    /// How many frames would be rendered, and how many not, for each reason.
    var summary: [String] {
        let counts = Dictionary(prepared.targets.map { (Group(of: $0), 1) }, uniquingKeysWith: +)
        let groups = counts.sorted { a, b in
            a.key.fate != b.key.fate
                ? a.key.fate < b.key.fate : (b.value, a.key.reason) < (a.value, b.key.reason)
        }
        var table = Table()
        for (group, count) in groups.prefix(Self.mostGroups) {
            table.add(Figures.count(count), group.fate.rawValue, group.reason)
        }
        let others = groups.dropFirst(Self.mostGroups).reduce(0) { $0 + $1.value }
        let rest = others > 0 ? ["  \(Figures.plural(others, "frame")) for other reasons"] : []
        return [total] + table.lines.map { "  " + $0 } + rest + keptBesideOthers + failedOutputs + cutOff + skipped
    }

    /// What happens to earlier outputs of pictures that cannot be rendered.
    private var failedOutputs: [String] {
        let (count, isTooMuch) = prepared.failedOutputCount
        guard count > 0 else { return [] }
        let outputs = "\(Figures.plural(count, "output")) of pictures that cannot be rendered"
        return [
            isTooMuch
                ? "  \(outputs) would stay: they are too many for 'on_failure: remove'"
                : "  up to \(outputs) would be removed, because of 'on_failure: remove'"
        ]
    }

    /// Outputs that stay as they are, although others of their frames are rendered.
    private var keptBesideOthers: [String] {
        let outputs = prepared.targets.filter(isRendered).flatMap(\.verdict.kept)
        let reasons = Dictionary(outputs.map { ($0.reason, 1) }, uniquingKeysWith: +)
            .sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let others = reasons.dropFirst(Self.mostGroups).reduce(0) { $0 + $1.value }
        let rest =
            others > 0 ? ["  \(Figures.plural(others, "output")) kept beside rendered ones for other reasons"] : []
        return reasons.prefix(Self.mostGroups).map { reason, count in
            "  \(Figures.plural(count, "output")) kept beside rendered ones: \(reason)"
        } + rest
    }

    /// Reasons may name single outputs, so that there could be one for each frame.
    private static let mostGroups = 20

    /// Frames that have the same fate for the same reason.
    private struct Group: Hashable {
        enum Fate: String, Comparable, CaseIterable {
            case rendered = "to render"
            case skipped
            case kept
            case stillBroken = "still broken"
            case refused

            static func < (a: Fate, b: Fate) -> Bool { a.place < b.place }

            private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }
        }

        let fate: Fate
        let reason: String

        init(of target: FrameTarget) {
            (fate, reason) =
                switch target.verdict {
                case .render(_, let reason, _): (.rendered, reason)
                case .compare: (.rendered, "not told apart")
                case .current(let reason): (.skipped, reason)
                case .tooRecent: (.skipped, "changed too recently; 'min_age' leaves them for the next run")
                case .kept(let outputs): (.kept, outputs.first?.reason ?? "")
                case .stillBroken: (.stillBroken, "not tried again until the picture changes")
                case .refused: (.refused, "the output is there")
                }
        }
    }

    private var total: String {
        let rendered = prepared.targets.filter(isRendered)
        let megapixels = rendered.reduce(0) { $0 + ($1.probe?.megapixels ?? 0) }
        let count = Figures.plural(prepared.targets.count + prepared.ended.count, "frame")
        let others = prepared.plan.passedBy.values.reduce(0, +)
        let rest = others == 0 ? "" : "; \(Figures.plural(others, "other file")) skipped"
        let failed = prepared.ended.isEmpty ? "" : "; \(Figures.count(prepared.ended.count)) cannot be rendered"
        return
            "\(prepared.job.name): \(count), \(Figures.count(rendered.count)) to render, \(Figures.fixed(megapixels, 1)) MP\(rest)\(failed)"
    }

    var lines: [String] {
        var table = Table(["frame", "input", "size", "output", "rendered as", "halo", "because"])
        for target in prepared.targets {
            let noun = prepared.job.isAnimated ? "frame" : "page"
            let input = SummaryText.picture(target.files.input, page: target.frame.page, folder, noun: noun)
            let probe = target.probe
            let outputs = target.outputs.map { PathText.shown($0, from: folder) }
            let reasons = reasons(target)
            table.add(
                String(target.frame.index), input, probe.map { size($0, $0.outputs[0]) } ?? "", outputs.first ?? "",
                isRendered(target)
                    ? probe.map { Self.rendering($0, tiled: shard.decision(for: $0).tiled) } ?? "" : "",
                probe.map { Self.halo($0.halo) } ?? "", reasons.first ?? reason(target))
            for (index, path) in outputs.enumerated().dropFirst() {
                table.add("", "", probe.map { size($0, $0.outputs[index]) } ?? "", path, "", "", reasons[index])
            }
        }
        return [total] + table.lines.map { "  " + $0 } + failedOutputs + cutOff + skipped
    }

    /// How many pictures of floats have outputs of integers, which cannot hold light above white.
    private var cutOff: [String] {
        let job = prepared.job
        let count = prepared.targets.filter { target in
            guard let source = target.probe?.source, (source.stored ?? source.format) == .f32 else { return false }
            return zip(job.outputs, target.frame.formats).contains { output, format in
                let holdsFloats = format == Self.formatOfFloats && [.input, .f32].contains(output.save.depth)
                return !holdsFloats && !(job.chain + output.chain).contains { $0.filter == "tone-map" }
            }
        }.count
        guard count > 0 else { return [] }
        return [
            "  \(Figures.plural(count, "picture")) of floats may have light above white, which the outputs cut off; the filter "
                + "'tone-map' makes it darker instead"
        ]
    }

    /// The only format that is written with floats.
    private static let formatOfFloats = "tiff"

    /// Files in the input folders that are no inputs. The user may have meant some of them.
    private var skipped: [String] {
        let plan = prepared.plan
        var lines: [String] = []
        let raws = plan.passedBy.filter { plan.rawKinds.contains($0.key) }
        if !raws.isEmpty {
            let kinds = raws.keys.sorted().map { PathText.visible(String($0.dropFirst())) }
            lines.append(
                "  raw pictures, which 'inputs' has to name, as in 'FOLDER/**/*.\(PatternHint.pattern(of: kinds))': "
                    + Self.words(raws))
        }
        let others = plan.passedBy.filter { !plan.rawKinds.contains($0.key) }
        if !others.isEmpty {
            lines.append("  skipped, because they are no picture files: \(Self.words(others))")
        }
        let hidden = plan.hiddenPictures
        if hidden > 0 {
            lines.append(
                "  \(Figures.plural(hidden, "hidden picture")) \(hidden == 1 ? "is" : "are") not taken: "
                    + "\(hidden == 1 ? "its name begins" : "their names begin") with a dot")
        }
        let unlike = plan.otherPictures.values.reduce(0, +)
        if unlike > 0 {
            lines.append(
                "  \(Figures.plural(unlike, "other picture")) in these folders \(unlike == 1 ? "does" : "do") not match "
                    + "'inputs': \(Self.words(plan.otherPictures))")
        }
        return lines
    }

    /// `200 .jpeg, 161 .png`
    private static func words(_ counts: [String: Int]) -> String {
        counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            .map { "\(Figures.count($0.value)) \(PathText.visible($0.key))" }.joined(separator: ", ")
    }

    private func isRendered(_ target: FrameTarget) -> Bool {
        if case .render = target.verdict { true } else { false }
    }

    /// The reason beside each output. The reason for the whole frame stands beside the first output that is rendered. If none is
    /// rendered, it stands beside the first one.
    private func reasons(_ target: FrameTarget) -> [String] {
        let kept = target.outputs.map { path in
            target.verdict.kept.first { $0.path == path }.map { "kept: \($0.reason)" }
        }
        switch target.verdict {
        case .render(let wanted, _, _) where wanted.count == kept.count:
            let first = wanted.firstIndex { $0 != nil }
            return kept.indices.map { index in
                if index == first { return reason(target) }
                return kept[index] ?? (wanted[index] == nil ? Self.upToDate : "")
            }
        case .kept: return kept.map { $0 ?? Self.upToDate }
        default: return kept.indices.map { $0 == 0 ? reason(target) : "" }
        }
    }

    private static let upToDate = "skipped: up to date"

    /// Why a run would or would not render a frame, and how.
    ///
    /// - Parameter day: the day of a time in seconds since 1970.
    private func reason(_ target: FrameTarget, day: (Int) -> String = LocalTime.day) -> String {
        switch target.verdict {
        case .render(_, let reason, _):
            target.probe.map { "\(reason); \(shard.decision(for: $0).reason)" } ?? reason
        case .current(let reason), .tooRecent(let reason): "skipped: \(reason)"
        case .kept(let outputs): "kept: \(outputs.first?.reason ?? "")"
        case .stillBroken(let since, let message):
            "skipped: still broken since \(day(since)): "
                + PathText.visible(SummaryText.words(message, of: target.files.input))
        case .refused: "refused: the output is there"
        case .compare: "not told apart"
        }
    }

    var failures: [String] {
        var summary = RunSummary()
        for report in prepared.ended { summary.add(report) }
        return SummaryText.failures(summary, folder: folder, all: SummaryText.planOfAll)
    }

    /// `300×200 rgb u8`, and the output's size if it differs. `u8 as u16` if filters get finer samples than the file has.
    private func size(_ probe: ProbeReceipt, _ output: OutputGeometry) -> String {
        let (source, extent) = (probe.source, output.extent)
        let (width, height) = (probe.shrinking?.width ?? source.width, probe.shrinking?.height ?? source.height)
        let frames = output.frames > 1 ? ", \(output.frames) frames" : ""
        let isMade = output.frames > source.frames
        let samples = source.stored.map { "\($0) as \(source.format)" } ?? "\(source.format)"
        let text = "\(width)×\(height) \(source.layout) \(samples)\(isMade ? "" : frames)"
        if extent.width != width || extent.height != height || isMade {
            return text + " → \(extent.width)×\(extent.height)\(isMade ? frames : "")"
        }
        // A thumbnail never enlarges a picture.
        return (prepared.job.chain + prepared.job.outputs.flatMap(\.chain)).contains { $0.filter == "thumbnail" }
            ? text + ", kept \(width)×\(height)" : text
    }

    private static func rendering(_ probe: ProbeReceipt, tiled: Bool) -> String {
        guard tiled else { return probe.passage.heldBecause.map { "one frame, held: \($0)" } ?? "one frame, streamed" }
        let grid = probe.grid
        let more = Int(((probe.readAmplification - 1) * 100).rounded())
        let read = more > 0 ? ", \(more) % read twice" : ""
        return "\(Figures.plural(grid.count, "tile")) of \(grid.tileWidth)×\(grid.tileHeight)\(read)"
    }

    private static func halo(_ halo: Halo) -> String {
        if halo.left == halo.right, halo.top == halo.bottom {
            return halo.left == halo.top ? "\(halo.left) px" : "x \(halo.left) px, y \(halo.top) px"
        }
        return "left \(halo.left), top \(halo.top), right \(halo.right), bottom \(halo.bottom) px"
    }

    var jsonLines: [PlanLine] {
        prepared.targets.map { target in
            PlanLine(
                job: prepared.job.name, target: target, decision: target.probe.map(shard.decision),
                reason: reason(target, day: Figures.day), isRendered: isRendered(target))
        }
    }
}

/// The JSON line of a planned frame.
struct PlanLine: JSONLine {
    struct Tile: Encodable {
        let rect: PixelRect
        let reads: [PixelRect]
    }

    struct Output: Encodable {
        let path: String
        let extent: PixelRect?
        let frames: Int?
    }

    let event = "plan"
    let job: String
    let index: Int
    let input: String
    /// The exact path, if it is not UTF-8.
    let pathBase64: String?
    /// Counted from 1.
    let page: Int
    /// The first output; nil if its name is unknown.
    let output: String?
    /// All outputs, if there are several.
    let outputs: [Output]?
    /// The size of a picture that is to be rendered, if known.
    let width: Int?
    let height: Int?
    /// The decoder divides both sides by this before the first filter.
    let shrunkBy: Int?
    let layout: String?
    let format: String?
    /// The samples that filters compute with. Nil for those of the file.
    let filterSamples: String?
    let extent: PixelRect?
    let halo: Halo?
    let shard: String
    let reason: String
    /// Outputs that would be kept; nil if there are none.
    let keptOutputs: [FileReason]?
    /// Nil if the frame's rows stream from the decoder to the encoder.
    let heldBecause: String?
    let readAmplification: Double?
    let tiles: [Tile]?

    private enum CodingKeys: String, CodingKey {
        case event, job, index, input, page, output, outputs, width, height, shrunkBy, layout, format, filterSamples,
            extent, halo,
            shard
        case reason, keptOutputs, heldBecause, readAmplification, tiles
        case pathBase64 = "path_base64"
    }

    init(job: String, target: FrameTarget, decision: ShardPolicy.Decision?, reason: String, isRendered: Bool) {
        let probe = target.probe
        self.job = job
        index = target.frame.index
        input = target.files.input
        pathBase64 = target.files.inputBytes.map { Data($0).base64EncodedString() }
        page = target.frame.page + 1
        output = target.outputs.first
        outputs = target.outputs.count > 1 ? Self.outputs(of: target) : nil
        width = probe?.shrinking?.width ?? probe?.source.width
        height = probe?.shrinking?.height ?? probe?.source.height
        shrunkBy = probe?.shrinking?.factor
        layout = probe?.source.layout.rawValue
        format = (probe?.source.stored ?? probe?.source.format)?.rawValue
        filterSamples = probe?.source.stored == nil ? nil : probe?.source.format.rawValue
        extent = probe?.extent
        halo = probe?.halo
        let tiled = isRendered && decision?.tiled == true
        shard = !isRendered ? "skip" : tiled ? "tile" : "frame"
        self.reason = reason
        keptOutputs = target.verdict.kept.reasons
        heldBecause = probe?.passage.heldBecause
        readAmplification = probe?.readAmplification
        tiles = tiled ? probe.map { zip($0.grid.tiles, $0.tileSources).map { Tile(rect: $0, reads: $1) } } : nil
    }

    private static func outputs(of target: FrameTarget) -> [Output] {
        target.outputs.enumerated().map { index, path in
            Output(
                path: path, extent: target.probe?.outputs[index].extent, frames: target.probe?.outputs[index].frames)
        }
    }
}
