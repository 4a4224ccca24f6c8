import Catalogs
import Coordination
import Geometry
import JobModel
import Planning
import Scheduling
import WorkerProtocol

/// What `plan` prints of one job.
struct PlanText {
    private let prepared: PreparedJob
    private let shard: ShardPolicy
    private let folder = currentFolder()

    init(_ prepared: PreparedJob, _ settings: RunSettings) {
        self.prepared = prepared
        shard = settings.shardPolicy(prepared.job, frames: prepared.targets.count)
    }

    var lines: [String] {
        var table = Table(["frame", "input", "size", "output", "rendered as", "halo", "because"])
        for target in prepared.targets {
            guard let probe = target.probe else { continue }
            let decision = shard.decision(for: probe)
            let page = target.frame.page > 0 ? " page \(target.frame.page + 1)" : ""
            table.add(
                String(target.frame.index), PathText.shown(target.frame.input.path, from: folder) + page,
                size(probe, probe.outputs[0]), PathText.shown(target.outputs[0], from: folder),
                Self.rendering(probe, tiled: decision.tiled), Self.halo(probe.halo),
                skipReason(target) ?? decision.reason)
            for (output, path) in zip(probe.outputs, target.outputs).dropFirst() {
                table.add("", "", size(probe, output), PathText.shown(path, from: folder), "", "", "")
            }
        }
        let megapixels = prepared.targets.reduce(0) { $0 + ($1.probe?.megapixels ?? 0) }
        let count = Format.plural(prepared.targets.count, "frame")
        let total = "\(prepared.job.name): \(count), \(Format.fixed(megapixels, 1)) MP"
        return [total] + table.lines.map { "  " + $0 }
    }

    var failures: [String] {
        var summary = RunSummary()
        for report in prepared.failed { summary.add(report) }
        return SummaryText.failures(summary, folder: folder)
    }

    /// Why a run would not render a frame.
    private func skipReason(_ target: JobRun.Target) -> String? {
        let present = target.outputs.count(where: PlannedOutput.exists)
        guard present > 0 else { return nil }
        switch prepared.job.existing {
        case .overwrite: return nil
        case .skip where present < target.outputs.count: return nil
        case .skip: return target.outputs.count == 1 ? "skipped: the output is there" : "skipped: all outputs are there"
        case .error: return "refused: the output is there"
        }
    }

    /// `300×200 rgb u8`, and what the chain makes of it where that is something else.
    private func size(_ probe: ProbeReceipt, _ output: OutputGeometry) -> String {
        let (source, extent) = (probe.source, output.extent)
        let (width, height) = (probe.shrinking?.width ?? source.width, probe.shrinking?.height ?? source.height)
        let frames = output.frames > 1 ? ", \(output.frames) frames" : ""
        let text = "\(width)×\(height) \(source.layout) \(source.format)\(frames)"
        if extent.width != width || extent.height != height { return text + " → \(extent.width)×\(extent.height)" }
        // A thumbnail that would be larger than the picture is none.
        return (prepared.job.chain + prepared.job.outputs.flatMap(\.chain)).contains { $0.filter == "thumbnail" }
            ? text + ", kept \(width)×\(height)" : text
    }

    private static func rendering(_ probe: ProbeReceipt, tiled: Bool) -> String {
        guard tiled else { return probe.passage.heldBecause.map { "one frame, held: \($0)" } ?? "one frame, streamed" }
        let grid = probe.grid
        let more = Int(((probe.readAmplification - 1) * 100).rounded())
        let read = more > 0 ? ", \(more) % read twice" : ""
        return "\(Format.plural(grid.count, "tile")) of \(grid.tileWidth)×\(grid.tileHeight)\(read)"
    }

    private static func halo(_ halo: Halo) -> String {
        halo.left == halo.top && halo.left == halo.right && halo.top == halo.bottom
            ? "\(halo.left) px" : "\(halo.left),\(halo.top),\(halo.right),\(halo.bottom) px"
    }

    var jsonLines: [PlanLine] {
        prepared.targets.compactMap { target in
            target.probe.map { probe in
                PlanLine(
                    job: prepared.job.name, target: target, probe: probe, decision: shard.decision(for: probe),
                    skipReason: skipReason(target))
            }
        }
    }
}

/// One frame of a plan, for programs.
struct PlanLine: Encodable {
    struct Tile: Encodable {
        let rect: PixelRect
        let reads: [PixelRect]
    }

    struct Output: Encodable {
        let path: String
        let extent: PixelRect
        let frames: Int
    }

    let event = "plan"
    let job: String
    let index: Int
    let input: String
    /// From 1.
    let page: Int
    /// The first one.
    let output: String
    /// All of them, where there are several.
    let outputs: [Output]?
    let width: Int
    let height: Int
    /// What a decoder divides both sides by before the first filter.
    let shrunkBy: Int?
    let layout: String
    let format: String
    let extent: PixelRect
    let halo: Halo
    let shard: String
    let reason: String
    /// Nil when the frame's rows stream from the decoder to the encoder.
    let heldBecause: String?
    let readAmplification: Double
    let tiles: [Tile]?

    init(
        job: String, target: JobRun.Target, probe: ProbeReceipt, decision: ShardPolicy.Decision, skipReason: String?
    ) {
        self.job = job
        index = target.frame.index
        input = target.frame.input.path
        page = target.frame.page + 1
        output = target.outputs[0]
        outputs =
            target.outputs.count == 1
            ? nil
            : zip(target.outputs, probe.outputs).map { Output(path: $0, extent: $1.extent, frames: $1.frames) }
        width = probe.shrinking?.width ?? probe.source.width
        height = probe.shrinking?.height ?? probe.source.height
        shrunkBy = probe.shrinking?.factor
        layout = probe.source.layout.rawValue
        format = probe.source.format.rawValue
        extent = probe.extent
        halo = probe.halo
        shard = skipReason != nil ? "skip" : decision.tiled ? "tile" : "frame"
        reason = skipReason ?? decision.reason
        heldBecause = probe.passage.heldBecause
        readAmplification = probe.readAmplification
        tiles =
            decision.tiled
            ? zip(probe.grid.tiles, probe.tileSources).map { Tile(rect: $0, reads: $1) } : nil
    }
}
