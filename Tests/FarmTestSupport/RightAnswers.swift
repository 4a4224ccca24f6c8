import Catalogs
import Geometry
package import JobModel
package import WorkerProtocol

/// The answers of a worker if all pictures are small and valid.
package enum RightAnswers {
    /// The width and height of every picture.
    private static let (width, height) = (30, 20)
    package static let digest = Digest(high: 5, low: 6)

    private static let image = ImageFacts(fileFormat: "png", width: width, height: height, layout: .rgb, format: .u8)

    /// - Parameters:
    ///   - source: the picture, as a worker would read it.
    ///   - size: the bytes of each output.
    package static func receipt(for spec: TaskSpec, source: FileFacts, size: Int) -> TaskReceipt {
        switch spec {
        case .probe(let task): .probe(probe(task))
        case .frame(let task):
            frame(task, task.outputs.compactMap(\.temporaryPath).map { output($0, size) }, of: source)
        case .stitch(let task): .outputs([output(task.temporaryPath, size)], of: nil)
        case .audit(let task):
            .audit(AuditReceipt(pixels: task.outputs.flatMap(\.bands).reduce(0) { $0 + width * $1.rows.count }))
        case .compare(let task): .compare(task.files.map { _ in source })
        case .canvas(let task):
            .canvas(
                CanvasReceipt(
                    canvas: CanvasReference(
                        path: task.canvasPath, rect: image.rect, layout: .rgb, format: .u8, cells: digest),
                    metadataPath: task.metadataPath, metadataDigest: digest, source: source))
        case .tile(let task): .tile(TileReceipt(rect: task.rect, digest: digest, path: task.tilePath))
        case .check, .preview: .check
        }
    }

    private static func frame(_ task: FrameTask, _ outputs: [OutputReceipt], of source: FileFacts) -> TaskReceipt {
        task.probe.map { .opened(probe($0), outputs, of: source) } ?? .outputs(outputs, of: source)
    }

    private static func probe(_ task: ProbeTask) -> ProbeReceipt {
        let grid = TileGrid(extent: image.rect, tileWidth: width, tileHeight: height)
        return ProbeReceipt(
            source: image,
            outputs: task.outputs.map { _ in
                OutputGeometry(extent: image.rect, contentDigest: task.digestsContent ? digest : nil)
            }, layout: .rgb, halo: Halo(horizontal: 0, vertical: 0), grid: grid,
            tileSources: grid.tiles.map { [$0] }, readAmplification: 1, isIdentity: false,
            passage: FramePassage(heldBecause: nil, bytes: 1800),
            cost: FrameCost(decode: 0.001, chain: 0.001, encode: 0.001))
    }

    private static func output(_ path: String, _ size: Int) -> OutputReceipt {
        OutputReceipt(
            path: path, digest: digest, bytes: size, image: image,
            bands: [BandReceipt(rows: 0..<height, digest: digest)],
            pixels: EncodedPixels(
                digest: digest,
                encoding: OutputEncoding(
                    encoder: "test", layout: .rgb, samples: .u8, frames: 1, shrink: 1, penumbra: "0")))
    }
}
