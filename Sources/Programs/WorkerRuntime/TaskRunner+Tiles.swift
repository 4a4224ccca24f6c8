import Digests
import FoundationEssentials
import Geometry
import ImageFiles
import JobModel
import Kernels
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    func fillCanvas(_ task: CanvasTask) throws -> CanvasReceipt {
        try reading(task.input) { input, source in
            let facts = try source.facts()
            var task = task
            task.input = input
            return try fillCanvas(task, of: facts)
        }
    }

    private func fillCanvas(_ task: CanvasTask, of source: FileFacts) throws -> CanvasReceipt {
        let input = try open(task.input, task.chain, for: [task.output])[0]
        let decoder = input.decoder
        guard decoder.header.facts == task.expected else {
            throw TaskFailure(.input, "\(task.input.path): the picture was replaced while the job ran; run it again")
        }
        let header = CanvasHeader(
            rect: decoder.header.rect, layout: decoder.header.layout, format: decoder.header.sampleFormat)
        let canvas = try Canvas(creating: task.canvasPath, header: header)
        var cells = CanvasCells(of: header.rect, profile: decoder.metadata.icc?.bytes ?? [])
        try decoder.readRows(bandHeight: CanvasCells.size) { band in
            try canvas.write(band)
            cells.append(band)
        }
        let metadata = try save(
            decoder.metadata.showing(input.branches[0].whole, as: format(task.output)), to: task.metadataPath)
        return CanvasReceipt(
            canvas: CanvasReference(
                path: task.canvasPath, rect: header.rect, layout: header.layout, format: header.format,
                shrinking: input.shrinking, cells: try cells.save(beside: task.canvasPath), frame: input.frame),
            metadataPath: task.metadataPath, metadataDigest: metadata, source: source)
    }

    private func save(_ metadata: ImageMetadata, to path: String) throws -> Digest {
        do {
            let data = try JSONEncoder().encode(metadata)
            try data.write(to: URL(filePath: path))
            return Digest(of: Array(data).span.bytes)
        } catch {
            throw TaskFailure(.place, "\(path): the picture's metadata cannot be kept: \(error)")
        }
    }

    func renderTile(_ task: TileTask) throws -> TileReceipt {
        let canvas = try CheckedCanvas(task.canvas)
        let tile = try chain(task.chain, over: canvas, task.canvas).render(task.rect, from: canvas)
        let file = try Canvas(
            creating: task.tilePath,
            header: CanvasHeader(rect: tile.rect, layout: tile.layout, format: tile.format))
        try file.write(tile)
        return TileReceipt(rect: task.rect, digest: tile.withBytes { Digest(of: $0) }, path: task.tilePath)
    }

    /// The chain for a canvas: its picture may be smaller than its file's, or a frame, and means what its profile says.
    func chain(
        _ invocations: [FilterInvocation], over canvas: CheckedCanvas, _ reference: CanvasReference
    ) throws -> Chain {
        try chain(invocations).after(reference.shrinking).over(TransferCurve(profile: canvas.profile))
            .rendering(reference.frame)
    }
}

extension Canvas {
    convenience init(opening reference: CanvasReference) throws(CanvasError) {
        try self.init(
            opening: reference.path,
            header: CanvasHeader(rect: reference.rect, layout: reference.layout, format: reference.format))
    }
}
