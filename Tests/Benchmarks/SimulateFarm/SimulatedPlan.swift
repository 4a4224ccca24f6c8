import Catalogs
import Geometry
import JobModel
import Scheduling
import WorkerProtocol

/// A plan without files.
struct SimulatedPlan {
    enum Pictures: String {
        /// Most frames are rendered whole, and one in eight thousand is cut into 4096 tiles. Only one frame at a time is
        /// tiled, so with more of them the last ones would be left when all others are done.
        case mixed
        /// All are rendered whole.
        case whole
        /// All are cut into a hundred thousand tiles.
        case tiled
    }

    static let job = JobSpec(
        name: "simulation", manifestPath: "/jobs/job.yaml", folder: "/jobs", inputs: ["*.png"],
        chain: [FilterInvocation(filter: "gaussian", values: ["radius": .number(4)])],
        outputs: [
            JobOutput(template: OutputTemplate(source: "out/{stem}.png", pieces: [.literal("out/"), .field(.stem)]))
        ], timeout: .seconds(30))

    /// What a worker may hold of a frame: a whole frame fits, one that is tiled does not.
    static let frameMemory = 1_000_000_000
    private static let tiledOnceIn = 8000

    let tasks: Int
    private let pictures: Pictures
    private(set) var plannedTasks = 0
    private(set) var frames = 0
    /// Made anew for each frame, as it comes from a worker: nothing of it is shared.
    private var whole: ProbeReceipt {
        // Of a core's time: some seconds for each task, so that a cluster has shards of some dozens.
        .simulated(
            width: 4096, height: 4096, tile: 1024, streams: true, cost: FrameCost(decode: 2, chain: 16, encode: 2))
    }
    private let tiled: ProbeReceipt

    init(_ options: Options) {
        tasks = options.tasks
        pictures = options.pictures
        tiled =
            pictures == .tiled
            ? .simulated(
                width: 200 * 512, height: 500 * 512, tile: 512, streams: false,
                cost: FrameCost(decode: 300, chain: 500_000, encode: 300))
            : .simulated(
                width: 32768, height: 32768, tile: 512, streams: false,
                cost: FrameCost(decode: 40, chain: 1000, encode: 40))
    }

    /// The next frames, fewer at the end of the plan.
    mutating func next(_ count: Int) -> [FrameOrder] {
        var orders: [FrameOrder] = []
        while orders.count < count, plannedTasks < tasks {
            frames += 1
            let id = FrameID(frames)
            plannedTasks += isTiled(id) ? 3 + tiled.grid.count : 2
            orders.append(
                FrameOrder(
                    id: id, input: "/jobs/\(frames).png", formats: ["png"],
                    goal: .publish(outputs: ["/jobs/out/\(frames).png"], probe: nil)))
        }
        return orders
    }

    private func isTiled(_ id: FrameID) -> Bool {
        switch pictures {
        case .mixed: id.number % Self.tiledOnceIn == 100
        case .whole: false
        case .tiled: true
        }
    }

    /// Nil when every frame was concluded, once.
    func complaint(about counts: Counts, isFinished: Bool) -> String? {
        guard isFinished else { return "nothing is left to happen, and the run has not finished" }
        guard counts.published + counts.failed == frames else {
            return "\(frames) frames were planned, \(counts.published) published and \(counts.failed) failed"
        }
        return nil
    }

    /// How long an attempt takes: between half and one and a half of this.
    func duration(of task: TaskID) -> Duration {
        switch task.kind {
        case .compare, .probe: .milliseconds(50)
        case .tile: .milliseconds(300)
        case .frame, .audit, .check: .milliseconds(1000)
        case .canvas, .stitch: .milliseconds(700)
        }
    }

    func receipt(for lease: Lease) -> TaskReceipt {
        switch lease.spec {
        case .probe: .probe(isTiled(lease.task.frame) ? tiled : whole)
        case .frame(let task):
            .outputs(task.outputs.compactMap(\.temporaryPath).map { written($0, whole) }, of: .simulated)
        case .stitch(let task): .outputs([written(task.temporaryPath, tiled)], of: nil)
        case .canvas(let task): .canvas(canvas(task))
        case .tile(let task):
            .tile(TileReceipt(rect: task.rect, digest: Digest(high: 3, low: 4), path: task.tilePath))
        case .audit(let task):
            .audit(AuditReceipt(pixels: task.outputs.flatMap(\.bands).reduce(0) { $0 + 100 * $1.rows.count }))
        case .compare(let task): .compare(task.files.map { _ in .simulated })
        case .check, .preview: .check
        }
    }

    private func written(_ path: String, _ probe: ProbeReceipt) -> OutputReceipt {
        let bands = (0..<probe.source.height / 256).map {
            BandReceipt(rows: $0 * 256..<($0 + 1) * 256, digest: Digest(high: 0, low: UInt64($0)))
        }
        return OutputReceipt(
            path: path, digest: Digest(high: 1, low: 2), bytes: 10, image: probe.source, bands: bands,
            pixels: .simulated)
    }

    private func canvas(_ task: CanvasTask) -> CanvasReceipt {
        let reference = CanvasReference(
            path: task.canvasPath, rect: tiled.source.rect, layout: .rgb, format: .u8, cells: Digest(high: 0, low: 1))
        return CanvasReceipt(
            canvas: reference, metadataPath: task.metadataPath, metadataDigest: Digest(high: 0, low: 0),
            source: .simulated)
    }
}

extension ProbeReceipt {
    fileprivate static func simulated(
        width: Int, height: Int, tile: Int, streams: Bool, cost: FrameCost
    ) -> ProbeReceipt {
        let source = ImageFacts(fileFormat: "png", width: width, height: height, layout: .rgb, format: .u8)
        let grid = TileGrid(extent: source.rect, tileWidth: tile, tileHeight: tile)
        return ProbeReceipt(
            source: source, outputs: [OutputGeometry(extent: grid.extent)], layout: .rgb,
            halo: Halo(horizontal: 4, vertical: 4), grid: grid, tileSources: grid.tiles.map { [$0] },
            readAmplification: 1.2, isIdentity: false,
            passage: FramePassage(heldBecause: streams ? nil : "it is interlaced", bytes: source.rect.area * 3),
            cost: cost)
    }
}

extension FileFacts {
    fileprivate static let simulated = FileFacts(
        stamp: FileStamp(device: 1, inode: 7, size: 1, modified: 1, changed: 1), digest: Digest(high: 7, low: 7))
}

extension EncodedPixels {
    fileprivate static let simulated = EncodedPixels(
        digest: Digest(high: 5, low: 6),
        encoding: OutputEncoding(
            encoder: "libvips 8.14.1", layout: .rgb, samples: .u8, frames: 1, shrink: 1, penumbra: "0.1.0"))
}
