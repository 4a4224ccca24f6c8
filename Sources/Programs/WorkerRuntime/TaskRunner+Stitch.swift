import Digests
import FoundationEssentials
import Geometry
import ImageFiles
import JobModel
import Raster
import Rendering
import WorkerProtocol

extension TaskRunner {
    /// Copies a row of tiles at a time into private memory, compares each copy with its receipt, and encodes that copy.
    func stitch(_ task: StitchTask) throws -> OutputReceipt {
        try requireCoverage(task)
        let conversion = OutputConversion(
            from: task.layout, task.format, to: try format(task.output), save: task.output.save)
        let rows = OutputRows(extent: task.extent, conversion: conversion) { try self.band(holding: $0, task) }
        return try write(
            rows, name: task.name, frames: task.frames, conversion: conversion, output: task.output,
            metadata: try metadata(task.metadataPath, task.metadataDigest), shrink: task.shrink, syncs: task.syncs,
            to: task.temporaryPath)
    }

    private func requireCoverage(_ task: StitchTask) throws {
        switch Coverage(of: task.tiles.map(\.rect), in: task.extent) {
        case .exact: return
        case .gap(let missing): throw TaskFailure(.mismatch, "the tiles leave \(missing) pixels out")
        case .overlap(let a, let b): throw TaskFailure(.mismatch, "the tiles \(a) and \(b) overlap")
        case .outside(let tile): throw TaskFailure(.mismatch, "the tile \(tile) lies outside the picture")
        }
    }

    /// The rows that end where the shortest tile ends that holds `row`.
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
