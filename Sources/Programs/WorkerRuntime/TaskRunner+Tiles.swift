import Catalogs
import Digests
import FileAccess
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
        let expected = task.measurements
        return try reading(task.input) { input, source in
            let facts = try source.facts()
            var task = task
            task.input = input
            return try fillCanvas(task, of: facts, expected)
        }
    }

    /// - Parameter expected: the measurements that the tiles were planned for.
    private func fillCanvas(
        _ task: CanvasTask, of source: FileFacts, _ expected: [Measurement]
    ) throws -> CanvasReceipt {
        let input = try open(task.input, task.chain, for: [task.output])[0]
        let decoder = input.decoder
        let measurements = input.measured.measurements(for: task.chain + task.output.chain)
        guard decoder.header.facts == task.expected, measurements == expected else {
            throw TaskFailure(.input, "\(task.input.path): the picture was replaced while the job ran; run it again")
        }
        let header = CanvasHeader(
            rect: decoder.header.rect, layout: decoder.header.layout, format: decoder.header.sampleFormat)
        let canvas = try Canvas(creating: task.canvasPath, header: header, openedBy: opener)
        var cells = CanvasCells(of: header.rect, profile: decoder.metadata.icc?.bytes ?? [])
        try decoder.readRows(bandHeight: CanvasCells.size) { band in
            try canvas.write(band)
            cells.append(band)
        }
        let metadata = try save(
            decoder.metadata.showing(input.branches[0].whole), to: task.metadataPath)
        let fields = (task.chain + task.output.chain).exifFields
        let stated = fields.compactMap { field in decoder.metadata.value(of: field).map { (field.rawValue, $0) } }
        return CanvasReceipt(
            canvas: CanvasReference(
                path: task.canvasPath, rect: header.rect, layout: header.layout, format: header.format,
                shrinking: input.shrinking, cells: try cells.save(beside: task.canvasPath, openedBy: opener),
                frame: input.frame, stored: task.expected.stored,
                measurements: measurements.isEmpty ? nil : measurements,
                exif: fields.isEmpty ? nil : Dictionary(uniqueKeysWithValues: stated)),
            metadataPath: task.metadataPath, metadataDigest: metadata, source: source)
    }

    private func save(_ metadata: ImageMetadata, to path: String) throws -> Digest {
        let bytes = Array(try JSONEncoder().encode(metadata))
        do {
            try opener.write(bytes, to: path)
        } catch {
            throw TaskFailure(.storage, "\(path): the picture's metadata cannot be kept: \(error)")
        }
        return Digest(of: bytes.span.bytes)
    }

    func renderTile(_ task: TileTask) throws -> TileReceipt {
        let canvas = try CheckedCanvas(task.canvas)
        let tile = try chain(task.chain, over: canvas, task.canvas).render(task.rect, from: canvas)
        let file = try Canvas(
            creating: task.tilePath,
            header: CanvasHeader(rect: tile.rect, layout: tile.layout, format: tile.format), openedBy: opener)
        try file.write(tile)
        return TileReceipt(rect: task.rect, digest: tile.withBytes { Digest(of: $0) }, path: task.tilePath)
    }

    /// The chain for a canvas. The canvas may be smaller than the picture's file, or one frame of it, its profile
    /// defines its colours, and its reference has the metadata for texts.
    func chain(
        _ invocations: [FilterInvocation], over canvas: CheckedCanvas, _ reference: CanvasReference
    ) throws -> Chain {
        try chain(
            invocations.filling { reference.exif?[$0.rawValue] }, for: nil, reference.measurements ?? []
        ).after(reference.shrinking).over(
            TransferCurve(profile: canvas.profile)
        )
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

extension TaskRunner {
    /// Copies one row of tiles at a time into private memory, compares each copy with its receipt, and encodes that
    /// copy.
    func stitch(_ task: StitchTask) throws -> OutputReceipt {
        try requireCoverage(task)
        let metadata = try metadata(task.metadataPath, task.metadataDigest)
        let conversion = OutputConversion(
            from: task.layout, task.format, of: task.stored, to: try task.output.imageFormat, save: task.output.save,
            color: try colorConversion(from: metadata.icc?.bytes, of: task.layout, to: task.output))
        let rows = OutputRows(extent: task.extent, conversion: conversion) { try self.band(holding: $0, task) }
        return try write(
            rows, name: task.name, frames: task.frames, output: task.output,
            metadata: metadata, shrink: task.shrink, syncs: task.syncs, to: task.temporaryPath)
    }

    private func requireCoverage(_ task: StitchTask) throws {
        switch Coverage(of: task.tiles.map(\.rect), in: task.extent) {
        case .exact: return
        case .gap(let missing): throw TaskFailure(.mismatch, "the tiles leave \(missing) pixels out")
        case .overlap(let a, let b): throw TaskFailure(.mismatch, "the tiles \(a) and \(b) overlap")
        case .outside(let tile): throw TaskFailure(.mismatch, "the tile \(tile) lies outside the picture")
        }
    }

    /// The rows around `row`, up to the end of the shortest tile in it.
    private func band(holding row: Int, _ task: StitchTask) throws -> AnyRaster {
        let indexes = task.tiles.indices.filter { task.tiles[$0].rect.rows.contains(row) }
        let bottom = indexes.map { task.tiles[$0].rect.bottom }.min() ?? row + 1
        let band = PixelRect(columns: task.extent.columns, rows: row..<bottom)
        var result = AnyRaster(zeroed: band, layout: task.layout, format: task.format)
        for index in indexes {
            let tile = try verifiedTile(index, task)
            result.paste(tile.cropped(to: tile.rect.intersection(band)))
        }
        return result
    }

    private func verifiedTile(_ index: Int, _ task: StitchTask) throws -> AnyRaster {
        let receipt = task.tiles[index]
        let reference = CanvasReference(
            path: receipt.path, rect: receipt.rect, layout: task.layout, format: task.format)
        do {
            let tile = try Canvas(opening: reference).read(receipt.rect)
            if tile.withBytes({ Digest(of: $0) }) == receipt.digest { return tile }
        } catch {
            throw TaskFailure(.damagedTile(index: index), "the tile \(receipt.rect) cannot be read back: \(error)")
        }
        throw TaskFailure(
            .damagedTile(index: index), "the tile \(receipt.rect) does not hold the pixels that were rendered")
    }

    private func metadata(_ path: String, _ expected: Digest) throws -> ImageMetadata {
        do {
            let data = try Data(contentsOf: URL(filePath: path))
            if Digest(of: Array(data).span.bytes) == expected {
                return try JSONDecoder().decode(ImageMetadata.self, from: data)
            }
        } catch {
            throw TaskFailure(.damagedCanvas, "\(path): the picture's metadata cannot be read back: \(error)")
        }
        throw TaskFailure(.damagedCanvas, "\(path): the picture's metadata are not what was written")
    }
}

extension Chain {
    /// Renders every part of `band` that a tile of `grid` covers, tile by tile, so that memory is limited to a tile and a
    /// row of them. The tiles may reach beyond the band.
    func render(_ band: PixelRect, over grid: TileGrid, from source: some PixelSource) throws -> AnyRaster {
        let plan = plan(input: source.rect, layout: source.layout)
        var result = AnyRaster(zeroed: band, layout: plan.outputLayout, format: source.format)
        for tile in grid.tiles {
            let part = tile.intersection(band)
            if !part.isEmpty { result.paste(try render(part, from: source)) }
        }
        return result
    }
}

extension TileGrid {
    /// The row of tiles that contains `row`, as one rectangle.
    func rowOfTiles(holding row: Int) -> PixelRect {
        let top = extent.y + (row - extent.y) / tileHeight * tileHeight
        return PixelRect(columns: extent.columns, rows: top..<min(top + tileHeight, extent.bottom))
    }

    /// The same tiles, moved up and left by half their size, so that their borders run through this grid's tiles.
    var shiftedByHalf: TileGrid {
        let (dx, dy) = (tileWidth / 2, tileHeight / 2)
        return TileGrid(
            extent: PixelRect(x: extent.x - dx, y: extent.y - dy, width: extent.width + dx, height: extent.height + dy),
            tileWidth: tileWidth, tileHeight: tileHeight)
    }
}

/// The digests of a canvas's cells of 256 × 256 pixels, row by row, from the time when it was filled. A file beside the
/// canvas stores them, together with the colour profile of the pixels. The canvas's receipt has the digest of that
/// file, because disks and memory can be faulty.
struct CanvasCells: Sendable {
    static let size = BandReceipt.height

    private let rect: PixelRect
    private var digests: [Digest] = []
    /// The profile of the pixels. Empty if they have none.
    let profile: [UInt8]

    /// - Parameter rect: The canvas's rectangle.
    init(of rect: PixelRect, profile: [UInt8]) {
        self.rect = rect
        self.profile = profile
    }

    private var columns: Int { Self.columns(of: rect) }

    private static func columns(of rect: PixelRect) -> Int { (rect.width + size - 1) / size }

    /// - Parameter band: The next ``size`` rows, as wide as the canvas. The last band may have fewer.
    mutating func append(_ band: AnyRaster) {
        for column in 0..<columns {
            let left = rect.x + column * Self.size
            let cell = PixelRect(columns: left..<min(left + Self.size, rect.right), rows: band.rect.rows)
            digests.append(band.cropped(to: cell).withBytes { Digest(of: $0) })
        }
    }

    private var bytes: [UInt8] {
        digests.flatMap { digest in
            [digest.high, digest.low].flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
        } + profile
    }

    /// - Returns: The digest of the file.
    func save(beside canvas: String, openedBy opener: FileOpener) throws -> Digest {
        let bytes = bytes
        let path = CanvasReference.cellsPath(of: canvas)
        do {
            try opener.write(bytes, to: path)
        } catch {
            throw TaskFailure(.storage, "\(path): the canvas's digests cannot be kept: \(error)")
        }
        return Digest(of: bytes.span.bytes)
    }

    /// - Parameter expected: The digest of the file.
    init(of rect: PixelRect, beside canvas: String, expected: Digest) throws(TaskFailure) {
        let path = CanvasReference.cellsPath(of: canvas)
        guard let bytes = (try? Data(contentsOf: URL(filePath: path))).map(Array.init),
            Digest(of: bytes.span.bytes) == expected
        else { throw TaskFailure(.damagedCanvas, "\(path): is gone, or not what was written") }
        let rows = (rect.height + Self.size - 1) / Self.size
        let length = min(bytes.count, 16 * rows * Self.columns(of: rect))
        self.init(of: rect, profile: Array(bytes[length...]))
        func word(_ start: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(bytes[start + $1]) << (8 * $1) } }
        digests = stride(from: 0, to: length - 15, by: 16).map { Digest(high: word($0), low: word($0 + 8)) }
    }

    /// The cells that contain a part of the canvas, as one rectangle.
    func cells(around part: PixelRect) -> PixelRect {
        func down(_ value: Int, _ origin: Int) -> Int { origin + (value - origin) / Self.size * Self.size }
        func up(_ value: Int, _ origin: Int) -> Int { down(value + Self.size - 1, origin) }
        return PixelRect(
            columns: down(part.x, rect.x)..<min(up(part.right, rect.x), rect.right),
            rows: down(part.y, rect.y)..<min(up(part.bottom, rect.y), rect.bottom))
    }

    /// - Parameter pixels: Whole cells.
    func check(_ pixels: AnyRaster) throws(TaskFailure) {
        for top in stride(from: pixels.rect.y, to: pixels.rect.bottom, by: Self.size) {
            for left in stride(from: pixels.rect.x, to: pixels.rect.right, by: Self.size) {
                let cell = PixelRect(
                    columns: left..<min(left + Self.size, rect.right), rows: top..<min(top + Self.size, rect.bottom))
                let index = (top - rect.y) / Self.size * columns + (left - rect.x) / Self.size
                guard index < digests.count,
                    pixels.cropped(to: cell).withBytes({ Digest(of: $0) }) == digests[index]
                else {
                    throw TaskFailure(
                        .damagedCanvas, "the canvas does not hold the pixels that were decoded, at \(cell)")
                }
            }
        }
    }
}

/// A canvas whose pixels are compared with their digests at every read.
struct CheckedCanvas: PixelSource {
    private let canvas: Canvas
    private let cells: CanvasCells

    init(_ reference: CanvasReference) throws {
        canvas = try Canvas(opening: reference)
        guard let digest = reference.cells else {
            throw TaskFailure(.damagedCanvas, "\(reference.path): a canvas without digests")
        }
        cells = try CanvasCells(of: reference.rect, beside: reference.path, expected: digest)
    }

    var rect: PixelRect { canvas.rect }
    var layout: PixelLayout { canvas.layout }
    var format: SampleFormat { canvas.format }
    /// Empty if the pixels have none.
    var profile: [UInt8] { cells.profile }

    func read(_ part: PixelRect) throws -> AnyRaster {
        guard !part.isEmpty else { return try canvas.read(part) }
        let pixels = try canvas.read(cells.cells(around: part))
        try cells.check(pixels)
        return pixels.cropped(to: part)
    }
}
