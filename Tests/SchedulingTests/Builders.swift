import Catalogs
import Geometry
import JobModel
import Scheduling
import WorkerProtocol

/// Values with defaults, so that a test shows only what matters to it.
extension JobSpec {
    static func make(
        verify: VerifyLevel = .digest, shard: ShardMode = .auto, retries: Int = 2, filters: [String] = ["gaussian"]
    ) -> JobSpec {
        JobSpec(
            name: "job", manifestPath: "/jobs/job.yaml", folder: "/jobs", inputs: ["*.png"],
            chain: filters.map { FilterInvocation(filter: $0, values: ["radius": .number(4)]) },
            outputs: [
                JobOutput(
                    template: OutputTemplate(source: "out/{stem}.png", pieces: [.literal("out/"), .field(.stem)]))
            ],
            shard: shard, retries: retries, verify: verify)
    }
}

extension ProbeReceipt {
    /// An 8-bit RGB picture in tiles of `tile` pixels. Its output has so many frames, one below the other.
    static func make(
        width: Int = 100, height: Int = 80, tile: Int = 50, frames: Int = 1, heldBecause: String? = nil,
        bytes: Int? = nil,
        cost: FrameCost = FrameCost(decode: 0.1, chain: 0.01, encode: 0.1)
    ) -> ProbeReceipt {
        let source = ImageFacts(fileFormat: "png", width: width, height: height, layout: .rgb, format: .u8)
        let grid = TileGrid(extent: source.rect, tileWidth: tile, tileHeight: tile)
        let frame = PixelRect(x: 0, y: 0, width: width, height: height / frames)
        return ProbeReceipt(
            source: source, outputs: [OutputGeometry(extent: frame, frames: frames)], layout: .rgb,
            halo: Halo(horizontal: 4, vertical: 4), grid: grid,
            tileSources: grid.tiles.map { [$0] }, readAmplification: 1.2, isIdentity: false,
            passage: FramePassage(heldBecause: heldBecause, bytes: bytes ?? source.rect.area * 3), cost: cost)
    }
}

extension OutputReceipt {
    /// As high as this number of bands.
    static func make(path: String, bands: Int = 3) -> OutputReceipt {
        make(path: path, height: bands * 256, width: 100)
    }

    static func make(path: String, height: Int, width: Int) -> OutputReceipt {
        let bands = (height + 255) / 256
        return OutputReceipt(
            path: path, digest: Digest(high: 1, low: 2), bytes: 10,
            image: ImageFacts(fileFormat: "png", width: width, height: height, layout: .rgb, format: .u8),
            bands: (0..<bands).map {
                BandReceipt(
                    rows: $0 * 256..<min(($0 + 1) * 256, height), digest: Digest(high: 0, low: UInt64($0)))
            },
            pixels: EncodedPixels(
                digest: Digest(high: 5, low: 6),
                encoding: OutputEncoding(
                    encoder: "libvips 8.14.1", layout: .rgb, samples: .u8, frames: 1, shrink: 1, penumbra: "0.1.0")))
    }
}

extension Scheduler {
    static func make(
        _ job: JobSpec = .make(), workers: Int = 2, frames: Int = 1, seed: UInt64 = 1,
        time: TimeLimit = .seconds(10), silence: Duration = .seconds(1_000_000_000),
        plugins: Set<String>? = nil, joinsSmallTasks: Bool = false
    ) -> Scheduler {
        var policy = SchedulingPolicy(
            retry: RetryPolicy(retries: job.retries), time: TimePolicy(limit: time),
            shard: ShardPolicy(mode: job.shard, workers: workers, frames: frames, frameMemory: 1_000_000_000),
            verify: job.verify, workers: workers, seed: seed, silenceLimit: silence,
            joinsSmallTasks: joinsSmallTasks)
        policy.plugins = plugins
        let factory = TaskFactory(
            job: job, runName: "run", scratchFolder: "/scratch", tileMemory: 1 << 30, frameMemory: 1 << 30)
        return Scheduler(policy: policy, factory: factory)
    }
}

extension FrameOrder {
    static func make(_ number: Int, goal: Goal? = nil, hasSmallFile: Bool = false, formats: [String] = ["png"])
        -> FrameOrder
    {
        FrameOrder(
            id: FrameID(number), input: "/jobs/\(number).png", formats: formats,
            goal: goal ?? .publish(outputs: ["/jobs/out/\(number).png"], probe: nil), hasSmallFile: hasSmallFile)
    }
}

extension Timestamp {
    static func seconds(_ seconds: Double) -> Timestamp { Timestamp(.seconds(seconds)) }
}

/// A correct receipt for a task.
func receipt(for spec: TaskSpec, probe: ProbeReceipt = .make()) -> TaskReceipt {
    switch spec {
    case .probe: .probe(probe)
    case .frame(let task): frameReceipt(for: task, probe)
    case .stitch(let task):
        .outputs(
            [.make(path: task.temporaryPath, height: task.extent.height, width: task.extent.width)], of: nil)
    case .canvas(let task):
        .canvas(
            CanvasReceipt(
                canvas: CanvasReference(
                    path: task.canvasPath, rect: probe.source.rect, layout: .rgb, format: .u8,
                    cells: Digest(high: 1, low: 1)),
                metadataPath: task.metadataPath, metadataDigest: Digest(high: 1, low: 1), source: .make()))
    case .tile(let task): .tile(TileReceipt(rect: task.rect, digest: Digest(high: 3, low: 4), path: task.tilePath))
    case .audit(let task):
        .audit(AuditReceipt(pixels: task.outputs.flatMap(\.bands).reduce(0) { $0 + 100 * $1.rows.count }))
    case .compare(let task): .compare(task.files.map { _ in .make() })
    // No scheduler orders a preview.
    case .check, .preview: .check
    }
}

private func frameReceipt(for task: FrameTask, _ probe: ProbeReceipt) -> TaskReceipt {
    let outputs = task.outputs.compactMap(\.temporaryPath).map { OutputReceipt.make(path: $0) }
    guard task.opening != nil else { return .outputs(outputs, of: .make()) }
    return task.renders(probe) ? .opened(probe, outputs, of: .make()) : .probe(probe)
}

extension FileFacts {
    static func make(_ number: UInt64 = 7) -> FileFacts {
        FileFacts(
            stamp: FileStamp(device: 1, inode: number, size: 1, modified: 1, changed: 1),
            digest: Digest(high: number, low: number))
    }
}
